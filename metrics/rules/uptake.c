/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/uptake.h"

/*
 * By the version at which a user's change was seen. The dependencies distributor writes the
 * template's version into a binding that others require: there an old one proves nothing.
 */
static enum uptake by_version(const struct template *t, const struct binding *b)
{
    enum uptake older = b->referrer_count > 0 ? UPTAKE_UNKNOWN : UPTAKE_NOT_IN;

    if (!b->resource_version)
        return UPTAKE_UNKNOWN;
    if (b->resource_version == t->resource_version)
        return UPTAKE_IN;
    if (!t->user_version)
        return UPTAKE_UNKNOWN;
    if (t->user_lower)
        return b->resource_version <= t->user_version ? older : UPTAKE_UNKNOWN;
    return b->resource_version >= t->user_version ? UPTAKE_IN : older;
}

/* The kinds whose replicas Karmada copies without an interpreter for them. */
static bool replicas_differ(const struct entry *template, const struct binding *b)
{
    static const char *const kinds[] = {"Deployment", "StatefulSet", "ReplicaSet"};
    const struct template *t = entry_template(template);

    if (t->replicas < 0 || !b->has_replicas || b->component_count > 0 ||
        strcmp(template->partition->type->api_version, "apps/v1") != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i], entry_kind(template)) == 0)
            return t->replicas != b->replicas;
    }
    return false;
}

/* Times are whole seconds: one in the second of the binding's, or the next, proves nothing. */
static bool written_after(const struct template *t, const struct binding *b)
{
    return b->write.time_s > 0 && user_write_s(&t->traces, b->write.manager) > b->write.time_s + 1;
}

enum uptake uptake_of(const struct entry *template, const struct binding *b)
{
    const struct template *t = entry_template(template);
    enum uptake uptake = by_version(t, b);

    if (uptake != UPTAKE_UNKNOWN)
        return uptake;
    return replicas_differ(template, b) || written_after(t, b) ? UPTAKE_NOT_IN : UPTAKE_UNKNOWN;
}

enum uptake uptake_of_orphan(const struct entry *template, const struct binding *b)
{
    const struct template *t = entry_template(template);
    enum uptake uptake = uptake_of(template, b);
    uint32_t unclaiming = t->claims_count ? 1 : 0;

    if (uptake != UPTAKE_UNKNOWN)
        return uptake;
    return b->delivered_generation > 0 &&
                   t->traces.generation > b->delivered_generation + unclaiming
               ? UPTAKE_NOT_IN
               : UPTAKE_UNKNOWN;
}
