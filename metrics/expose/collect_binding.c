/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/collect.h"

#include "metrics/model/binding.h"
#include "metrics/model/store.h"

static const char *const scope_names[] = {"namespaced", "cluster"};

#define SCOPE ENUM_LABEL("scope", scope_names)

/* What a binding is there for: a policy's claim, referrers, both or neither. */
enum binding_origin {
    ORIGIN_POLICY,
    ORIGIN_DEPENDENCY,
    ORIGIN_BOTH,
    ORIGIN_UNCLAIMED,
    ORIGIN_COUNT
};

static const char *const origin_names[ORIGIN_COUNT] = {
    [ORIGIN_POLICY] = "policy",
    [ORIGIN_DEPENDENCY] = "dependency",
    [ORIGIN_BOTH] = "both",
    [ORIGIN_UNCLAIMED] = "unclaimed",
};

enum claim_holder { HOLDER_TEMPLATE, HOLDER_BINDING };

static const char *const holder_names[] = {
    [HOLDER_TEMPLATE] = "template",
    [HOLDER_BINDING] = "binding",
};

/* The index of the label `scope`. */
static unsigned partition_of(const struct entry *entry)
{
    return entry->partition->type->def->cluster_scoped;
}

static enum binding_origin origin_of(const struct binding *b)
{
    bool required = b->referrer_count > 0;

    if (b->claim)
        return required ? ORIGIN_BOTH : ORIGIN_POLICY;
    return required ? ORIGIN_DEPENDENCY : ORIGIN_UNCLAIMED;
}

static void collect_bindings(const struct entry *entry, struct samples *out)
{
    SAMPLE(out, 1, partition_of(entry) * ORIGIN_COUNT + origin_of(entry_binding(entry)));
}

/* Both texts are canonical and shared, so that equal is the same. */
static void collect_not_rescheduled(const struct entry *entry, struct samples *out)
{
    const struct binding *b = entry_binding(entry);

    if (b->has_placement && b->propagation.placement != b->applied_placement)
        SAMPLE(out, 1, partition_of(entry));
}

static bool has_defect(const struct entry *entry, enum defect defect)
{
    return entry_defects(entry) & 1u << defect;
}

static void collect_collisions(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_NAME_COLLISION))
        SAMPLE(out, 1, 0);
}

static void collect_dangling_claims(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_DANGLING_CLAIM))
        SAMPLE(out, 1, entry_class(entry) == CLASS_BINDING ? HOLDER_BINDING : HOLDER_TEMPLATE);
}

static void collect_without_template(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_MISSING_TEMPLATE))
        SAMPLE(out, 1, partition_of(entry));
}

static const struct family_def families[] = {
    {.name = "karmada_bindings",
     .help = "ResourceBindings and ClusterResourceBindings by what they exist for: a policy's "
             "claim, other bindings that require them, both, or neither.",
     .labels = {SCOPE, ENUM_LABEL("origin", origin_names)},
     FROM(BINDINGS, collect_bindings)},
    {.name = "karmada_bindings_not_rescheduled",
     .help = "Bindings whose placement the scheduler has not applied yet.",
     .labels = {SCOPE},
     FROM(BINDINGS, collect_not_rescheduled)},
    {.name = "karmada_binding_name_collisions",
     .help = "Templates whose binding has, or would have, the name of another template's binding: "
             "Karmada makes that name without the API group.",
     FROM(TEMPLATES, collect_collisions)},
    {.name = "karmada_dangling_claims",
     .help = "Templates and bindings whose claim names a policy that does not exist, or that was "
             "recreated with another id.",
     .labels = {ENUM_LABEL("holder", holder_names)},
     FROM(TEMPLATES | BINDINGS, collect_dangling_claims)},
    {.name = "karmada_bindings_without_template",
     .help = "Bindings whose template does not exist; only of kinds that policies select.",
     .labels = {SCOPE},
     FROM(BINDINGS, collect_without_template)},
};
const struct family_group binding_families = {families, ARRAY_LEN(families)};
