/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* What is peculiar about a Config Connector kind; bits. */
enum connector_trait {
    CONNECTOR_NO_LABELS = 1U << 0,   /* Its cloud resource has none: no lease can be kept. */
    CONNECTOR_NO_IDENTITY = 1U << 1, /* Several objects may rightly be about one resource. */
    CONNECTOR_SERVER_ID = 1U << 2, /* Named by the cloud: unknown before spec.resourceID is set. */
    CONNECTOR_GLOBAL = 1U << 3,    /* Its name is one for the whole cloud, whatever the project. */
};

/*
 * True for the apiVersion of a resource of Config Connector. Its own configuration
 * (core.cnrm.cloud.google.com and below) manages nothing in the cloud. Objects of
 * these kinds have to be read in full: identity and conflict are in spec and status.
 */
bool connector_manages(const char *api_version);

/* Bits by enum connector_trait; 0 for kinds that nobody has told of. */
unsigned connector_traits(const char *kind);
