/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* What is special about a kind of Config Connector; bits. */
enum connector_trait {
    CONNECTOR_NO_LABELS = 1U << 0,   /* Its cloud resource has none: it cannot have a lease. */
    CONNECTOR_NO_IDENTITY = 1U << 1, /* Several objects may rightly manage one resource. */
    CONNECTOR_SERVER_ID = 1U << 2, /* Named by the cloud: unknown before spec.resourceID is set. */
    CONNECTOR_GLOBAL = 1U << 3,    /* Its name is unique in the whole cloud, not in a project. */
};

/*
 * True for the apiVersion of a resource of Config Connector, but not of its own configuration
 * (core.cnrm.cloud.google.com and below). Objects of these kinds have to be read in full:
 * identity and conflict are in spec and status.
 */
bool connector_manages(const char *api_version);

/* Bits by enum connector_trait; 0 for kinds that the table does not have. */
unsigned connector_traits(const char *kind);
