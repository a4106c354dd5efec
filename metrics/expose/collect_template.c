/* SPDX-License-Identifier: Apache-2.0 */

#include "metrics/expose/policy_names.h"
#include "metrics/expose/samples.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"

static void collect_templates(const struct entry *entry, struct samples *out)
{
    const struct type *type = entry_type(entry);

    SAMPLE(out, 1, template_decision(entry)->state, type->group, type->kind);
}

static void collect_namespace_templates(const struct entry *entry, struct samples *out)
{
    SAMPLE(out, 1, template_decision(entry)->state, entry_ns(entry));
}

static void weigh_namespace(const struct label_set *set, int64_t weight[LIMIT_WEIGHTS])
{
    for (unsigned state = 0; state < STATE_COUNT; state++)
        weight[WEIGHT_TEMPLATES] += set->series[state].sum;
}

static void collect_stale_templates(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    struct policy_name policy = policy_name_of(policy_of_stale_template(d));

    if (d->state == STATE_STALE)
        SAMPLE(out, 1, d->reason * PHASE_COUNT + (unsigned)d->phase, policy.kind, policy.ns,
               policy.name);
}

static void weigh_stale(const struct label_set *set, int64_t weight[LIMIT_WEIGHTS])
{
    for (unsigned reason = 0; reason < STALE_REASON_COUNT; reason++) {
        weight[WEIGHT_OVERDUE] += set->series[reason * PHASE_COUNT + PHASE_OVERDUE].sum;
        weight[WEIGHT_DEFERRED] += set->series[reason * PHASE_COUNT + PHASE_DEFERRED].sum;
    }
}

static void collect_overdue_templates(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_STALE && d->phase == PHASE_OVERDUE)
        SAMPLE(out, 1, 0);
}

static void collect_stale_fields(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_STALE)
        samples_add_bits(out, d->fields);
}

static void collect_stale_since(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_STALE && decision_since_ms(d) > 0)
        SAMPLE(out, decision_since_ms(d), d->phase);
}

static void collect_stale_info(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct type *type = entry_type(entry);

    if (d->state == STATE_STALE)
        SAMPLE(out, 1, 0, entry_ns(entry), type->group, type->kind, entry->name,
               stale_reason_names[d->reason], phase_names[d->phase]);
}

static void collect_pending_info(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct type *type = entry_type(entry);

    if (d->state == STATE_PENDING)
        SAMPLE(out, 1, 0, entry_ns(entry), type->group, type->kind, entry->name,
               pending_reason_names[d->reason]);
}

/* A template that is not pending has a sample of 0 for its kind, so that boards show no gap. */
static void collect_pending_templates(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    const struct type *type = entry_type(entry);

    if (d->state == STATE_PENDING)
        SAMPLE(out, 1, d->reason, type->group, type->kind);
    else
        SAMPLE(out, 0, 0, type->group, type->kind);
}

static void collect_pending_since(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_PENDING && decision_since_ms(d) > 0)
        SAMPLE(out, decision_since_ms(d), d->reason);
}

static void collect_unbound_templates(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_UNBOUND)
        SAMPLE(out, 1, d->reason);
}

static void collect_ignored_templates(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_IGNORED)
        SAMPLE(out, 1, d->reason);
}

static void collect_outranked_templates(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);
    struct policy_name policy = policy_name_of(decision_claimed(d));

    if (decision_claimed(d) && decision_claimed(d) == decision_governing(d) && decision_winner(d) &&
        decision_winner(d) != decision_claimed(d))
        SAMPLE(out, 1, 0, policy.kind, policy.ns, policy.name);
}

static void collect_unbound_since(const struct entry *entry, struct samples *out)
{
    const struct template_decision *d = template_decision(entry);

    if (d->state == STATE_UNBOUND && decision_since_ms(d) > 0)
        SAMPLE(out, decision_since_ms(d), 0);
}

/*
 * Adds the time until the creation of the binding, from the creation of the template or of the
 * claimed policy, whichever is later. Adds no sample if the binding has no placement, if an object
 * or its time is unknown, if the binding is older than one of the two, or if the policy is Lazy and
 * younger than the template: Lazy policies wait by design.
 */
static void collect_binding_delay(const struct entry *entry, struct samples *out)
{
    const struct binding_decision *d = binding_decision(entry);
    const struct binding *b = entry_binding(entry);
    const struct template *t = entry_template(binding_decision_template(d));
    const struct policy *policy = entry_policy(binding_claimed_policy(entry));

    if (!b->has_placement || !t || !policy)
        return;
    if (binding_created_ms(b) == 0 || template_created_ms(t) == 0 || policy->created_ms == 0)
        return;
    bool is_policy_later = policy->created_ms > template_created_ms(t);
    int64_t since_ms = is_policy_later ? policy->created_ms : template_created_ms(t);
    if (binding_created_ms(b) >= since_ms && !(is_policy_later && policy->lazy))
        SAMPLE(out, binding_created_ms(b) - since_ms, 0);
}

#define STATE   ENUM_LABEL("state", state_names)
#define PHASE   ENUM_LABEL("phase", phase_names)
#define PENDING ENUM_LABEL("reason", pending_reason_names)

/* Bounds lie between whole seconds, because Kubernetes stores creation times in whole seconds. */
static const double delay_buckets[] = {0.1,  0.5,   1.5,   2.5,   5.5,    10.5,   20.5,
                                       60.5, 120.5, 300.5, 600.5, 1800.5, 3600.5, 7200.5};

static const struct family_def families[] = {
    {.name = "karmada_templates",
     .help = "Resource templates by kind and state; each is in exactly one state.",
     .bound = "kinds x 7",
     .labels = {KIND_LABELS, STATE},
     FROM(TEMPLATE_ENTRIES, collect_templates)},
    {.name = "karmada_namespace_templates",
     .help = "Resource templates by namespace and state; each is in exactly one state. Rows of 0 "
             "are omitted.",
     .bound = "detail limit x 7",
     .limit_kind = LIMIT_BY_NAMESPACE,
     .sparse = true,
     .weigh = weigh_namespace,
     .labels = {FREE_LABEL("namespace"), STATE},
     FROM(TEMPLATE_ENTRIES, collect_namespace_templates)},
    {.name = "karmada_templates_stale",
     .help = "Stale templates by governing policy, or by claimed policy if no policy governs the "
             "template. Rows of 0 are omitted.",
     .bound = "policy limit x 12",
     .limit_kind = LIMIT_BY_POLICY,
     .sparse = true,
     .weigh = weigh_stale,
     .labels = {POLICY_LABELS, ENUM_LABEL("reason", stale_reason_names), PHASE},
     FROM(TEMPLATE_ENTRIES, collect_stale_templates)},
    {.name = "karmada_propagationpolicies_not_in_force",
     .help = "Policies with at least one stale template, by reason and phase.",
     .aggregation = AGGREGATE_PRESENT,
     .labels = {ENUM_LABEL("reason", stale_reason_names), PHASE},
     .of = "karmada_templates_stale"},
    {.name = "karmada_templates_overdue",
     .help = "Stale templates that Karmada should have updated by now.",
     FROM(TEMPLATE_ENTRIES, collect_overdue_templates)},
    {.name = "karmada_templates_stale_field",
     .help = "Stale templates by field that differs between binding and policy; a template can "
             "count in several fields.",
     .labels = {ENUM_LABEL("field", drift_field_names)},
     FROM(TEMPLATE_ENTRIES, collect_stale_fields)},
    {.name = "karmada_templates_stale_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Earliest possible start of the oldest stale state, in seconds since the epoch.",
     .aggregation = AGGREGATE_MIN,
     .labels = {PHASE},
     FROM(TEMPLATE_ENTRIES, collect_stale_since)},
    {.name = "karmada_templates_pending",
     .help = "Templates that no policy governs and no other object propagates, by reason.",
     .bound = "kinds x 6",
     .labels = {KIND_LABELS, PENDING},
     FROM(TEMPLATE_ENTRIES, collect_pending_templates)},
    {.name = "karmada_templates_pending_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Earliest possible start of the oldest pending state, in seconds since the epoch.",
     .aggregation = AGGREGATE_MIN,
     .labels = {PENDING},
     FROM(TEMPLATE_ENTRIES, collect_pending_since)},
    {.name = "karmada_templates_unbound",
     .help = "Templates with a governing policy and without a binding, by reason.",
     .labels = {ENUM_LABEL("reason", unbound_reason_names)},
     FROM(TEMPLATE_ENTRIES, collect_unbound_templates)},
    {.name = "karmada_template_stale_info",
     .help = "A stale template, with the reason; always 1.",
     .bound = "detail limit",
     .detail = true,
     .opt_in = true,
     .labels = {OBJECT_LABELS, FREE_LABEL("reason"), FREE_LABEL("phase")},
     FROM(TEMPLATE_ENTRIES, collect_stale_info)},
    {.name = "karmada_template_pending_info",
     .help = "A pending template, with the reason; always 1.",
     .bound = "detail limit",
     .detail = true,
     .opt_in = true,
     .labels = {OBJECT_LABELS, FREE_LABEL("reason")},
     FROM(TEMPLATE_ENTRIES, collect_pending_info)},
    {.name = "karmada_templates_ignored",
     .help = "Templates that Karmada never propagates, by reason.",
     .labels = {ENUM_LABEL("reason", ignored_reason_names)},
     FROM(TEMPLATE_ENTRIES, collect_ignored_templates)},
    {.name = "karmada_templates_outranked",
     .help = "Templates that keep their claimed policy although another policy ranks first, by "
             "claimed policy.",
     .bound = "policy limit",
     .limit_kind = LIMIT_BY_POLICY,
     .sparse = true,
     .labels = {POLICY_LABELS},
     FROM(TEMPLATE_ENTRIES, collect_outranked_templates)},
    {.name = "karmada_templates_unbound_oldest_timestamp_seconds",
     .unit = "seconds",
     .help = "Time at which the oldest unbound template should have had its binding, in seconds "
             "since the epoch.",
     .aggregation = AGGREGATE_MIN,
     FROM(TEMPLATE_ENTRIES, collect_unbound_since)},
    {.name = "karmada_template_binding_delay_seconds",
     .unit = "seconds",
     .help = "Time from the creation of template and policy to the creation of the binding; each "
             "binding counts once. Delays by Lazy policies do not count.",
     .type = FAMILY_HISTOGRAM,
     .aggregation = AGGREGATE_FIRST,
     FROM(BINDING_ENTRIES, collect_binding_delay),
     .buckets = delay_buckets,
     .bucket_count = ARRAY_LEN(delay_buckets)},
};
const struct family_group template_families = {families, ARRAY_LEN(families)};

/* ---- bindings ---- */

static const char *const scope_names[] = {"namespaced", "cluster"};

#define SCOPE ENUM_LABEL("scope", scope_names)

/* Cause of a binding: the claim of a policy, referrers (spec.requiredBy), both, or neither. */
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

/* Returns the index of the value of the label `scope`. */
static unsigned scope_index(const struct entry *entry)
{
    return entry_is_cluster_scoped(entry);
}

static enum binding_origin binding_origin_of(const struct binding *b)
{
    bool required = binding_rare(b)->referrer_count > 0;

    if (b->claim)
        return required ? ORIGIN_BOTH : ORIGIN_POLICY;
    return required ? ORIGIN_DEPENDENCY : ORIGIN_UNCLAIMED;
}

static void collect_bindings(const struct entry *entry, struct samples *out)
{
    SAMPLE(out, 1, scope_index(entry) * ORIGIN_COUNT + binding_origin_of(entry_binding(entry)));
}

/* Equal placements have equal addresses, because both texts are canonical and interned. */
static void collect_bindings_not_rescheduled(const struct entry *entry, struct samples *out)
{
    const struct binding *b = entry_binding(entry);

    if (b->has_placement && b->propagation->placement != b->applied_placement)
        SAMPLE(out, 1, scope_index(entry));
}

static bool has_defect(const struct entry *entry, enum defect defect)
{
    return entry_defects(entry) & 1u << defect;
}

static void collect_name_collisions(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_NAME_COLLISION))
        SAMPLE(out, 1, 0);
}

static void collect_dangling_claims(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_DANGLING_CLAIM))
        SAMPLE(out, 1, entry_class(entry) == CLASS_BINDING ? HOLDER_BINDING : HOLDER_TEMPLATE);
}

static void collect_bindings_without_template(const struct entry *entry, struct samples *out)
{
    if (has_defect(entry, DEFECT_MISSING_TEMPLATE))
        SAMPLE(out, 1, scope_index(entry));
}

static const struct family_def binding_family_rows[] = {
    {.name = "karmada_bindings",
     .help = "ResourceBindings and ClusterResourceBindings by origin: claim of a policy, "
             "referrers, both, or no origin.",
     .labels = {SCOPE, ENUM_LABEL("origin", origin_names)},
     FROM(BINDING_ENTRIES, collect_bindings)},
    {.name = "karmada_bindings_not_rescheduled",
     .help = "Bindings with a placement that the scheduler has not applied yet.",
     .labels = {SCOPE},
     FROM(BINDING_ENTRIES, collect_bindings_not_rescheduled)},
    {.name = "karmada_binding_name_collisions",
     .help = "Templates that need the same binding name as another template, because Karmada "
             "composes the name without the API group.",
     FROM(TEMPLATE_ENTRIES, collect_name_collisions)},
    {.name = "karmada_dangling_claims",
     .help = "Templates and bindings with a claim of a policy that does not exist, or that was "
             "created again with another id.",
     .labels = {ENUM_LABEL("holder", holder_names)},
     FROM(TEMPLATE_ENTRIES | BINDING_ENTRIES, collect_dangling_claims)},
    {.name = "karmada_bindings_without_template",
     .help = "Bindings without their template, for kinds that policies select.",
     .labels = {SCOPE},
     FROM(BINDING_ENTRIES, collect_bindings_without_template)},
};
const struct family_group binding_families = {binding_family_rows, ARRAY_LEN(binding_family_rows)};
