/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_conditions.h"
#include "metrics/rules/problems/problem_tallies.h"

#include "metrics/model/cluster.h"
#include "metrics/model/override_policy.h"
#include "metrics/rules/admission/admission.h"
#include "metrics/rules/problems/decision_flapping.h"
#include "metrics/rules/problems/problem.h"
#include "metrics/rules/problems/template_conditions.h"
#include "metrics/rules/rule.h"

static void add(struct condition_list *out, enum problem_reason reason, int64_t since_ms)
{
    condition_list_add(out, (struct condition){.reason = reason, .since_ms = since_ms});
}

static void add_unknown(struct condition_list *out, enum problem_reason reason)
{
    condition_list_add(out, (struct condition){.reason = reason, .unknown = true});
}

/* ---- policies ---- */

static const enum problem_reason policy_problem_reasons[POLICY_PROBLEM_COUNT] = {
    [POLICY_INVALID_SELECTOR] = PROBLEM_REASON_POLICY_INVALID_INVALID_SELECTOR,
    [POLICY_INVALID_EXCLUSION] = PROBLEM_REASON_POLICY_INVALID_INVALID_EXCLUSION,
    [POLICY_EMPTY_EXCLUSION] = PROBLEM_REASON_POLICY_INVALID_EMPTY_EXCLUSION,
    [POLICY_NO_SELECTOR] = PROBLEM_REASON_POLICY_INVALID_NO_SELECTOR,
    [POLICY_FOREIGN_NAMESPACE] = PROBLEM_REASON_POLICY_INVALID_FOREIGN_NAMESPACE,
    [POLICY_UNWATCHED_VERSION] = PROBLEM_REASON_POLICY_INVALID_UNWATCHED_VERSION,
    [POLICY_PREEMPTION_WITHOUT_NAME] = PROBLEM_REASON_POLICY_INVALID_PREEMPTION_WITHOUT_NAME,
    [POLICY_CLUSTER_SCOPED_KIND] = PROBLEM_REASON_POLICY_INVALID_CLUSTER_SCOPED_KIND,
    [POLICY_FIELD_PRUNED] = PROBLEM_REASON_POLICY_INVALID_FIELD_PRUNED,
    [POLICY_REFUSED] = PROBLEM_REASON_POLICY_INVALID_REFUSED,
};

static bool is_class_incomplete(const struct rule_context *c, enum object_class class)
{
    return incomplete_classes(&c->incomplete) & 1U << class;
}

/* Adds unknown conditions where only some of the releases that Karmada may have refuse or drop. */
static void add_doubtful_admission(const struct rule_context *c, const struct entry *entry,
                                   struct condition_list *out)
{
    const struct admission *a = admission_of_entry(entry);

    if (admission_prunes(a, c->release) == RELEASE_ANSWER_DIFFERS)
        add_unknown(out, PROBLEM_REASON_POLICY_INVALID_FIELD_PRUNED);
    if (admission_refuses(a, c->release) == RELEASE_ANSWER_DIFFERS)
        add_unknown(out, PROBLEM_REASON_POLICY_INVALID_REFUSED);
}

/* Returns true if a selector names a version of a kind that Karmada does not watch. */
static bool override_has_unwatched_version(const struct store *store,
                                           const struct api_version_source *source,
                                           const struct override *o)
{
    for (uint32_t i = 0; i < o->selector_count; i++) {
        const struct resource_selector *s = &o->selectors[i];

        if (s->api_version && s->kind &&
            api_version_is_unwatched(store, source, s->api_version, s->kind))
            return true;
    }
    return false;
}

/* Conditions of an override policy, or of another object of Karmada's groups. */
static void admission_conditions(const struct rule_context *c, const struct entry *entry,
                                 struct condition_list *out)
{
    const struct admission *a = admission_of_entry(entry);
    const struct override *o = entry_class(entry) == CLASS_OVERRIDE ? entry_object(entry) : NULL;
    int64_t written_ms = o ? o->changed_ms : 0;

    if (o && override_has_unwatched_version(c->store, &c->api_versions, o))
        add(out, PROBLEM_REASON_POLICY_INVALID_UNWATCHED_VERSION, written_ms);
    if (admission_prunes(a, c->release) == RELEASE_ANSWER_YES)
        add(out, PROBLEM_REASON_POLICY_INVALID_FIELD_PRUNED, written_ms);
    if (admission_refuses(a, c->release) == RELEASE_ANSWER_YES)
        add(out, PROBLEM_REASON_POLICY_INVALID_REFUSED, written_ms);
    add_doubtful_admission(c, entry, out);
}

static void add_invalid_policy(const struct rule_context *c, const struct entry *entry,
                               struct condition_list *out)
{
    const struct policy *policy = entry_policy(entry);
    const struct policy_decision *d = policy_decision(entry);
    int64_t written_ms = policy->changed_ms;

    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        if (d->problems & 1U << i)
            add(out, policy_problem_reasons[i], written_ms);
    }
    add_doubtful_admission(c, entry, out);
    if (d->kind_absent)
        add(out, PROBLEM_REASON_POLICY_INVALID_KIND_NOT_SERVED, written_ms);
    if (d->priority.state == PRIORITY_MISSING)
        add(out, PROBLEM_REASON_POLICY_INVALID_PRIORITY_CLASS_MISSING, written_ms);
    else if (policy->priority_class && priority_classes_incomplete(&c->incomplete))
        add_unknown(out, PROBLEM_REASON_POLICY_INVALID_PRIORITY_CLASS_MISSING);
    if (d->override_missing)
        add(out, PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING, written_ms);
    else if (policy->override_count > 0 && is_class_incomplete(c, CLASS_OVERRIDE))
        add_unknown(out, PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING);
}

static int64_t policy_written_ms(const struct entry *policy)
{
    return policy && entry_policy(policy) ? entry_policy(policy)->changed_ms : 0;
}

/*
 * Returns the latest time from which a template can have this relation to the policy: a tie in
 * which the policy wins, or that another policy outranks it. Returns 0 if the relation does not
 * hold, or if no time is known.
 */
static int64_t relation_since_ms(const struct entry *template, const struct entry *policy, bool tie)
{
    const struct template_decision *d = template_decision(template);
    const struct template *t = entry_template(template);
    const struct entry *other;

    if (!d || !t || d->state == STATE_IGNORED ||
        (tie ? !d->tied || decision_winner(d) != policy
             : !decision_is_outranked(d) || decision_governing(d) != policy))
        return 0;
    other = tie ? decision_candidate(d, 1).policy : decision_winner(d);
    return later_of(template_created_ms(t),
                    later_of(policy_written_ms(policy), policy_written_ms(other)));
}

/* Returns the earliest relation_since_ms() of all templates; 0 without a time. */
static int64_t first_relation_since_ms(const struct entry *policy, bool tie)
{
    int64_t first_ms = 0;

    for (uint32_t i = 0; i < entry_reader_count(policy); i++) {
        int64_t since_ms = relation_since_ms(entry_reader(policy, i), policy, tie);

        if (since_ms > 0 && (first_ms == 0 || since_ms < first_ms))
            first_ms = since_ms;
    }
    return first_ms;
}

static void policy_conditions(const struct rule_context *c, const struct entry *entry,
                              struct condition_list *out)
{
    const struct policy *policy = entry_policy(entry);
    struct policy_sums counts = problem_tallies_policy(c->tallies, entry);
    /* Templates of a cluster-scoped policy may be in other shards. */
    bool sees_templates = entry_ns(entry)[0] || problems_shard(c->problems) == SHARD_NONE;

    add_invalid_policy(c, entry, out);
    if (policy->deleting)
        add(out, PROBLEM_REASON_DELETION_STUCK_POLICY, policy->deleted_ms);
    if (counts.ties > 0)
        add(out, PROBLEM_REASON_POLICY_TIE, first_relation_since_ms(entry, true));
    if (counts.outranked > 0 && sees_templates)
        add(out, PROBLEM_REASON_POLICY_OUTRANKED, first_relation_since_ms(entry, false));
    if (counts.selected == 0 && sees_templates && policy_decision(entry)->kinds_incomplete)
        add_unknown(out, PROBLEM_REASON_POLICY_UNUSED);
    else if (counts.selected == 0 && sees_templates)
        add(out, PROBLEM_REASON_POLICY_UNUSED, policy->changed_ms);
}

/* ---- dependencies and bindings ---- */

/* Reasons of the problems of dependencies that name a field. */
struct field_reasons {
    enum problem_reason of[DEPENDENCY_FIELD_COUNT];
};
#define FIELD_REASONS(problem)                                                                     \
    {                                                                                              \
        {                                                                                          \
            [DEPENDENCY_CONFLICT_RESOLUTION] = PROBLEM_REASON_##problem##_CONFLICT_RESOLUTION,     \
            [DEPENDENCY_PRESERVE] = PROBLEM_REASON_##problem##_PRESERVE_RESOURCES_ON_DELETION      \
        }                                                                                          \
    }
static const struct field_reasons conflict_reasons = FIELD_REASONS(DEPENDENCY_CONFLICT);
static const struct field_reasons unresolved_reasons = FIELD_REASONS(DEPENDENCY_NOT_RESOLVED);
static const struct field_reasons predicted_reasons = FIELD_REASONS(CONFLICT_PREDICTED);
static const struct field_reasons overridden_reasons = FIELD_REASONS(VALUE_OVERRIDDEN);

void dependency_conditions(const struct entry *entry, struct condition_list *out)
{
    const struct dependency_decision *d = dependency_decision(entry);

    for (unsigned i = 0; d && i < DEPENDENCY_FIELD_COUNT; i++) {
        const struct field_resolution *field = &d->fields[i];

        if (field->conflict)
            add(out, conflict_reasons.of[i], d->since_ms);
        if (field->unapplied)
            add(out, unresolved_reasons.of[i], d->since_ms);
        /* A policy's write begins it, later than all writes of bindings. */
        if (field->predicted)
            add(out, predicted_reasons.of[i], 0);
        if (field->overridden)
            add(out, overridden_reasons.of[i], d->since_ms);
    }
}

/* The annotation has no time of its own: the condition begins with the latest write. */
static void add_annotation_override(const struct entry *template, struct condition_list *out)
{
    const struct template *t = entry_template(template);
    bool overridden;

    if (template_overrides_conflict_resolution(template, &overridden))
        add(out, overridden_reasons.of[DEPENDENCY_CONFLICT_RESOLUTION],
            template_changed_ms(t) == 0
                ? 0
                : later_of(template_changed_ms(t),
                           policy_written_ms(decision_governing(template_decision(template)))));
}

static void add_broken_reference(const struct rule_context *c, const struct entry *entry,
                                 struct condition_list *out)
{
    const struct binding *b = entry_binding(entry);
    const struct binding_decision *d = binding_decision(entry);
    const struct template_decision *t =
        binding_decision_template(d) ? template_decision(binding_decision_template(d)) : NULL;
    bool template_reports = t && decision_binding(t) == entry && decision_reports_missing_claim(t);

    if (d->defects & 1U << DEFECT_DANGLING_REFERENCE)
        add(out, PROBLEM_REASON_REFERENCE_BROKEN_REQUIRED_BY_MISSING, 0);
    else if (d->defects & 1U << DEFECT_MISSING_TEMPLATE)
        add(out, PROBLEM_REASON_REFERENCE_BROKEN_TEMPLATE_MISSING, 0);
    else if ((d->defects & 1U << DEFECT_DANGLING_CLAIM) && !template_reports &&
             !is_class_incomplete(c, CLASS_POLICY))
        add(out, PROBLEM_REASON_REFERENCE_BROKEN_CLAIM_MISSING, 0);
    else if (!binding_decision_template(d) &&
             incomplete_has(&c->incomplete, b->scope->api_version, b->scope->kind))
        add_unknown(out, PROBLEM_REASON_REFERENCE_BROKEN_TEMPLATE_MISSING);
    else if (b->claim && is_class_incomplete(c, CLASS_POLICY))
        add_unknown(out, PROBLEM_REASON_REFERENCE_BROKEN_CLAIM_MISSING);
}

static void binding_conditions(const struct rule_context *c, const struct entry *entry,
                               struct condition_list *out)
{
    const struct binding *b = entry_binding(entry);

    dependency_conditions(entry, out);
    if (b->deleting)
        add(out, PROBLEM_REASON_DELETION_STUCK_BINDING, (int64_t)binding_rare(b)->deleted_s * 1000);
    else
        add_broken_reference(c, entry, out);
}

/* ---- member clusters ---- */

static void add_unavailable(const struct rule_context *c, const struct entry *entry,
                            struct condition_list *out, int64_t *due_ms)
{
    const struct cluster *cluster = entry_cluster(entry);
    struct cluster_sums counts = problem_tallies_cluster(c->tallies, entry);
    int64_t flaps_until_ms = problem_tallies_flaps_until_ms(c->tallies, entry);

    if (counts.targets == 0 || (!members_are_known(&c->members) && !c->members.hidden))
        return;
    if (c->members.hidden) {
        add_unknown(out, PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_GONE);
    } else if (!cluster) {
        add(out, PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_GONE, 0);
    } else if (!cluster->ready) {
        add(out, PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_NOT_READY, cluster->ready_since_ms);
    } else if (flaps_until_ms > c->now_ms) {
        add(out, PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_FLAPPING, 0);
        *due_ms = flaps_until_ms < *due_ms ? flaps_until_ms : *due_ms;
    } else if (cluster_refuses(counts)) {
        add(out, PROBLEM_REASON_MEMBER_CLUSTER_UNAVAILABLE_REFUSING, 0);
    }
}

static enum problem_reason capacity_reason(const char *resource)
{
    enum problem_reason reason = problem_find_reason(PROBLEM_DRIFT_EXCEEDS_CAPACITY, resource);

    return reason == PROBLEM_REASON_COUNT ? PROBLEM_REASON_DRIFT_EXCEEDS_CAPACITY_OTHER : reason;
}

/* Appends a condition for each resource that does not suffice; one for all other resources. */
static void add_exceeded_capacity(const struct rule_context *c, const struct entry *entry,
                                  struct condition_list *out)
{
    const enum problem_reason first = problem_first_reason(PROBLEM_DRIFT_EXCEEDS_CAPACITY);
    const struct cluster *cluster = entry_cluster(entry);
    struct movement_total m;
    unsigned exceeded = 0; /* Bits by number of the reason. */

    /* A cluster that reports no resources has no known capacity. */
    if (!cluster || cluster->resource_count == 0)
        return;
    for (uint32_t at = 0; problem_tallies_next_movement(c->tallies, entry, &at, &m);) {
        double room = cluster_free_amount(cluster, m.resource) + m.leaving;

        if (m.arriving > 0 && m.arriving > 0.8 * room)
            exceeded |= 1U << (capacity_reason(m.resource) - first);
    }
    for (unsigned i = 0; exceeded >> i; i++) {
        if (exceeded & 1U << i)
            add(out, first + i, 0);
    }
}

/* ---- leases ---- */

static void lease_conditions(const struct entry *entry, struct condition_list *out)
{
    const struct lease *lease = entry_lease(entry);
    const struct lease_decision *d = lease_decision(entry);
    int64_t expires_ms = lease->expires_s * 1000;

    if (d->conflicts & 1U << CONNECTOR_EXPIRED)
        add(out, PROBLEM_REASON_LEASE_AT_RISK_EXPIRED, expires_ms);
    else if (d->conflicts & 1U << CONNECTOR_EXPIRING)
        add(out, PROBLEM_REASON_LEASE_AT_RISK_EXPIRING, expires_ms - LEASE_RENEWAL_S * 1000);
    else if (d->conflicts & 1U << CONNECTOR_UNKNOWN_HOLDER)
        add(out, PROBLEM_REASON_LEASE_AT_RISK_UNKNOWN_HOLDER, 0);
    else if (d->state == LEASE_UNKNOWN)
        add_unknown(out, PROBLEM_REASON_LEASE_AT_RISK_EXPIRED);
}

/* ---- all subjects ---- */

void problem_conditions(const struct rule_context *c, const struct entry *entry,
                        struct condition_list *out, int64_t *due_ms)
{
    if (template_decision(entry)) {
        template_conditions(c, entry, out, due_ms);
        dependency_conditions(entry, out);
        add_annotation_override(entry, out);
        state_flapping_condition(c, entry, out, due_ms);
    } else if (policy_decision(entry)) {
        policy_conditions(c, entry, out);
    } else if (binding_decision(entry)) {
        binding_conditions(c, entry, out);
    } else if (lease_decision(entry)) {
        lease_conditions(entry, out);
    } else if (entry_class(entry) == CLASS_OVERRIDE || entry_class(entry) == CLASS_QUOTA ||
               entry_class(entry) == CLASS_OTHER) {
        admission_conditions(c, entry, out);
    } else if (entry_class(entry) == CLASS_CLUSTER) {
        add_unavailable(c, entry, out, due_ms);
        add_exceeded_capacity(c, entry, out);
    }
}
