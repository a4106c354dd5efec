/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/policy_version.h"

#include "metrics/base/map.h"
#include "metrics/rules/drift.h"

/* A copy of values that holds its texts. */
static struct propagation values_copy(const struct propagation *p)
{
    struct propagation copy = *p;

    copy.placement = p->placement ? intern_ref(p->placement) : NULL;
    copy.failover = p->failover ? intern_ref(p->failover) : NULL;
    copy.suspension = p->suspension ? intern_ref(p->suspension) : NULL;
    copy.scheduler_name = p->scheduler_name ? intern_ref(p->scheduler_name) : NULL;
    copy.schedule_priority = p->schedule_priority ? intern_ref(p->schedule_priority) : NULL;
    copy.preserve = p->preserve == OPTIONAL_TRUE ? OPTIONAL_TRUE : OPTIONAL_FALSE;
    return copy;
}

struct policy_version *policy_version_new(const struct propagation *values)
{
    struct policy_version *v = xcalloc(1, sizeof(*v));

    v->values = values_copy(values);
    return v;
}

void policy_version_adopt(struct policy_version *v, struct intern *strings,
                          const struct propagation *values)
{
    struct propagation exact = values_copy(values);

    propagation_release(strings, &v->values);
    v->values = exact;
}

void policy_version_free(struct policy_version *v, struct intern *strings)
{
    propagation_release(strings, &v->values);
    intern_drop(strings, v->by);
    free(v);
}

bool policy_version_has(const struct policy_version *v, const struct propagation *p,
                        bool cluster_scoped)
{
    return drift_fields(&v->values, NULL, p, cluster_scoped) == 0 &&
           (cluster_scoped || !v->values.schedule_priority == !p->schedule_priority);
}

bool policy_version_says(const struct policy_version *v, const struct propagation *p)
{
    return policy_version_has(v, p, false) &&
           (v->recovered || v->values.schedule_priority == p->schedule_priority);
}

void policy_version_hash(const struct policy_version *v, char out[POLICY_VERSION_HASH_SIZE])
{
    const struct propagation *p = &v->values;
    const char *const texts[] = {p->placement, p->failover, p->suspension, p->scheduler_name,
                                 v->recovered && p->schedule_priority ? "" : p->schedule_priority};
    uint64_t hash = (uint64_t)p->conflict_resolution << 2 |
                    (uint64_t)(p->preserve == OPTIONAL_TRUE) << 1 | (uint64_t)p->propagate_deps;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        hash = map_hash(texts[i] ? texts[i] : "-", texts[i] ? strlen(texts[i]) : 1, hash);
    snprintf(out, POLICY_VERSION_HASH_SIZE, "%010" PRIx64, hash >> 24);
}
