/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/families.h"
#include "metrics/expose/label_values.h"
#include "metrics/rules/connector.h"

/* Words that the rows of families.c are written in; nobody else includes this. */

enum {
    EVENTS = 1u << CLASS_EVENT,
    TEMPLATES = 1u << CLASS_TEMPLATE,
    POLICIES = 1u << CLASS_POLICY,
    BINDINGS = 1u << CLASS_BINDING,
    CLUSTERS = 1u << CLASS_CLUSTER,
    LEASES = 1u << CLASS_LEASE,
    DEPENDENCIES = BINDINGS | TEMPLATES, /* Templates only where there are no bindings. */
};

#define TEXT(label)                                                                                \
    {                                                                                              \
        .name = (label)                                                                            \
    }
#define ONE_OF(label, names)                                                                       \
    {                                                                                              \
        .name = (label), .values = (names), .value_count = ARRAY_LEN(names)                        \
    }

#define KIND     TEXT("api_group"), TEXT("kind")
#define POLICY   TEXT("policy_kind"), TEXT("policy_namespace"), TEXT("policy")
#define STATE    ONE_OF("state", state_names)
#define PHASE    ONE_OF("phase", phase_names)
#define SCOPE    ONE_OF("scope", scope_names)
#define DRIFTED  ONE_OF("field", drift_field_names)
#define DISPUTED ONE_OF("field", dependency_field_names)
#define PENDING  ONE_OF("reason", pending_reason_names)
/* LEASE_UNKNOWN, the last name, is never shown. */
#define LEASE_STATE                                                                                \
    {                                                                                              \
        .name = "state", .values = lease_state_names, .value_count = LEASE_STATE_COUNT             \
    }
#define OBJECT   TEXT("namespace"), TEXT("api_group"), TEXT("kind"), TEXT("name")
#define MEMBER   TEXT("member_cluster")
#define RESOURCE TEXT("resource"), TEXT("unit")

/* Whose entries give to a family, and what. */
#define FROM(entries, function) .classes = (entries), .observe = (function)

/* A family that the exporter sets about itself. */
#define OWN(own_type, own_name, words, ...)                                                        \
    {                                                                                              \
        .name = (own_name), .type = (own_type), .help = (words), .fold = FOLD_SET, __VA_ARGS__     \
    }
