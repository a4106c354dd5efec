/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * FederatedResourceQuota: limits for the requests of all bindings of a namespace, and quotas for
 * single member clusters.
 *
 * Amounts are integers in the units in which Karmada's webhook adds them: thousandths of a core for
 * "cpu", whole units (bytes, pieces) for all other resources. They are exact up to 2^53 units.
 */

/* Limit of one resource, from spec.overall. */
struct quota_limit {
    const char *resource; /* Interned. */
    int64_t amount;       /* In units, rounded down. */
    int64_t used;         /* status.overallUsed in units, rounded up; 0 if absent. */
    bool used_known;      /* status.overallUsed has the resource. */
};

struct federated_quota {
    struct quota_limit *limits; /* Sorted by resource; without amounts that are no quantities. */
    const char **clusters;      /* Member clusters of spec.staticAssignments, interned. */
    uint32_t limit_count;
    uint32_t cluster_count;
    bool deleting;               /* The webhook still enforces a quota in deletion. */
    struct admission *admission; /* Owned; NULL without findings. */
};

/* Rounding of quota_units(). */
enum quota_rounding { QUOTA_ROUND_UP, QUOTA_ROUND_DOWN };

/*
 * Returns an amount of a resource in base units (cores, bytes) as quota units (Karmada:
 * Resource.Add rounds requests up). An amount beyond the range gives the largest or smallest
 * number.
 */
int64_t quota_units(const char *resource, double amount, enum quota_rounding rounding);

/* Returns quota units in base units (cores, bytes). */
double quota_base_units(const char *resource, int64_t units);

/*
 * Appends quota units as people write them: "400m" or "2" for cpu; bytes with a binary suffix if
 * they are a multiple of it.
 */
void quota_add_amount(struct strbuf *out, const char *resource, int64_t units);

/*
 * Returns true if requests of pods can have the resource, so that a limit for it can apply. Others,
 * such as "pods" and "requests.cpu", limit nothing: Karmada's webhook compares the names of
 * requests in bindings, and Karmada's own resource interpreter sets no such names.
 */
bool quota_resource_is_requested(const char *resource);

/* Callbacks of the row in the table of kinds (struct kind_def). */
void *federated_quota_decode(struct decode *d, const cJSON *json);
void federated_quota_release(struct intern *strings, void *object);
