/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/families.h"
#include "metrics/expose/samples.h"
#include "metrics/rules/connector_conflicts.h"

/*
 * What the files collect_*.c have in common; nobody else includes this.
 *
 * Each of them has the functions that collect a group of families, and below them the rows
 * of the group. A function without a row is an error to the compiler: it is unused.
 */

/* Whose entries contribute to a family. */
enum {
    EVENTS = 1u << CLASS_EVENT,
    TEMPLATES = 1u << CLASS_TEMPLATE,
    POLICIES = 1u << CLASS_POLICY,
    BINDINGS = 1u << CLASS_BINDING,
    CLUSTERS = 1u << CLASS_CLUSTER,
    LEASES = 1u << CLASS_LEASE,
    DEPENDENCIES = BINDINGS | TEMPLATES, /* Templates where they have no binding. */
};

#define FROM(entries, function) .classes = (entries), .collect = (function)

#define KIND   FREE_LABEL("api_group"), FREE_LABEL("kind")
#define POLICY FREE_LABEL("policy_kind"), FREE_LABEL("policy_namespace"), FREE_LABEL("policy")
#define OBJECT                                                                                     \
    FREE_LABEL("namespace"), FREE_LABEL("api_group"), FREE_LABEL("kind"), FREE_LABEL("name")
