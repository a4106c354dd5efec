/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Whether the objects of a kind belong to a namespace. */
enum scope {
    SCOPE_UNKNOWN, /* Only its CustomResourceDefinition says it. */
    SCOPE_NAMESPACED,
    SCOPE_CLUSTER,
};

/*
 * What is known without a server: the kinds of Karmada (kind.h) and those that Kubernetes itself
 * serves, in any version.
 */
enum scope scope_of(const char *api_version, const char *kind);
