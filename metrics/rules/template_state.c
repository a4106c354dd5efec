/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/template_state.h"

#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/object_index.h"

/* ---- schedulePriority ---- */

/*
 * apiVersions of PriorityClasses in the store: the first as templates, the second as settings,
 * which they are if no policy selects the kind. A source that reads only metadata lacks the values
 * of templates.
 */
static const char *const versions[] = {PRIORITY_CLASS_API_VERSION, "policy.karmada.io/v1alpha1"};

static size_t count_priority_classes(const struct store *store)
{
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        const struct type *type = store_find_type(store, versions[i], PRIORITY_CLASS_KIND);

        count += type ? type->objects : 0;
    }
    return count;
}

static struct priority resolve_priority_class(struct store *store, const char *name,
                                              struct entry_list *reads)
{
    struct priority priority = {.state = PRIORITY_MISSING};
    int32_t value;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct entry *entry = store_find_or_add(
            store, &(struct identity){versions[i], PRIORITY_CLASS_KIND, "", name});
        const struct template *t = entry_template_or_setting(entry);

        entry_list_add(reads, entry);
        if (t && priority.state != PRIORITY_VALUE)
            priority =
                (struct priority){template_priority(t, &value) ? PRIORITY_VALUE : PRIORITY_UNKNOWN,
                                  value, template_created_ms(t)};
    }
    return priority;
}

struct priority priority_of(struct store *store, gate_set gates,
                            const struct incomplete *incomplete, const struct policy *policy,
                            struct entry_list *reads)
{
    struct priority priority = {.state = PRIORITY_NONE};

    if (!policy->propagation->schedule_priority)
        return priority;
    if (policy->priority_class)
        priority = resolve_priority_class(store, policy->priority_class, reads);
    if (!policy->priority_class || policy->priority_refused)
        priority.state = PRIORITY_MISSING;
    if (!gate_is_on(gates, GATE_PRIORITY_BASED_SCHEDULING) || count_priority_classes(store) == 0)
        priority.state = PRIORITY_UNKNOWN;
    if (priority.state == PRIORITY_MISSING && priority_classes_incomplete(incomplete))
        priority.state = PRIORITY_UNKNOWN;
    return priority;
}

bool priority_classes_incomplete(const struct incomplete *i)
{
    bool incomplete = false;

    for (size_t at = 0; at < ARRAY_LEN(versions); at++)
        incomplete = incomplete || incomplete_has(i, versions[at], PRIORITY_CLASS_KIND);
    return incomplete;
}

void priority_mark_policies(const struct store *store, struct graph *graph,
                            const struct entry *entry, const void *old)
{
    if (strcmp(entry_kind(entry), PRIORITY_CLASS_KIND) != 0)
        return;
    graph_mark_readers(graph, entry);
    if (count_priority_classes(store) == (entry_exists(entry) ? 1 : 0) &&
        !old != !entry_exists(entry))
        graph_mark_class(graph, CLASS_POLICY);
}

/* ---- fields that drift ---- */

/* Returns true if `text`, a binding's schedulePriority, has the value; NULL counts as 0. */
static bool priority_text_equals(const char *text, int32_t value)
{
    char expected[40];

    snprintf(expected, sizeof(expected), "{\"priority\":%" PRId32 "}", value);
    return text ? strcmp(text, expected) == 0 : value == 0;
}

/* Returns true if the priorities differ; an unresolved one of the policy counts as equal. */
static bool priority_differs(const struct propagation *policy, const struct priority *priority,
                             const struct propagation *binding)
{
    if (!policy->schedule_priority)
        return binding->schedule_priority;
    return priority && priority->state == PRIORITY_VALUE &&
           !priority_text_equals(binding->schedule_priority, priority->value);
}

unsigned drift_fields(const struct propagation *policy, const struct priority *priority,
                      const struct propagation *binding, bool cluster_scoped)
{
    const bool differs[DRIFT_FIELD_COUNT] = {
        [FIELD_PLACEMENT] = policy->placement != binding->placement,
        [FIELD_CONFLICT_RESOLUTION] = policy->conflict_resolution != binding->conflict_resolution,
        [FIELD_PRESERVE] =
            (policy->preserve == OPTIONAL_TRUE) != (binding->preserve == OPTIONAL_TRUE),
        /* Karmada copies propagateDeps to a ClusterResourceBinding only when it creates it. */
        [FIELD_PROPAGATE_DEPS] =
            !cluster_scoped && policy->propagate_deps != binding->propagate_deps,
        [FIELD_FAILOVER] = policy->failover != binding->failover,
        [FIELD_SUSPENSION] = policy->suspension != binding->suspension,
        [FIELD_SCHEDULER_NAME] = policy->scheduler_name != binding->scheduler_name,
        /* Karmada: the binding of a cluster-scoped template never has a priority. */
        [FIELD_SCHEDULE_PRIORITY] = !cluster_scoped && priority_differs(policy, priority, binding),
    };
    unsigned fields = 0;

    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++)
        fields |= (unsigned)differs[i] << i;
    return fields;
}

/* ---- state and phase ---- */

/* Returns the priority in the decision about a policy; PRIORITY_NONE without a decision. */
static const struct priority *decided_priority(const struct entry *policy)
{
    static const struct priority none = {.state = PRIORITY_NONE};
    const struct policy_decision *d = policy_decision(policy);

    return d ? &d->priority : &none;
}

/* Returns the template's binding if a policy made it; else NULL. */
static const struct binding *binding_made_by_policy(const struct template_state_input *s)
{
    const struct binding *b = entry_binding(s->binding);

    return b && b->has_placement ? b : NULL;
}

static bool is_required(const struct template_state_input *s)
{
    const struct binding *b = entry_binding(s->binding);

    return s->required || (b && binding_rare(b)->referrer_count > 0);
}

static bool is_applied_lazily(const struct template_state_input *s, const struct policy *policy)
{
    return policy->lazy || s->options->takeover == TAKEOVER_STATIC;
}

/*
 * Returns true if a user changed the template after the last changes of the policy and of the
 * binding. If the time of the policy's change is unknown, the user's change counts as later only if
 * a source has observed it.
 */
static bool has_later_user_change(const struct template_state_input *s, const struct policy *policy)
{
    const struct template *t = entry_template(s->template);
    const struct binding *b = binding_made_by_policy(s);
    int64_t applied_ms = later_of(policy->changed_ms, b ? binding_changed_ms(b) : 0);

    return (policy->changed_ms || t->user_change_observed) && template_changed_ms(t) > applied_ms;
}

/* Sets the phase: deferred up to `until_ms`, then overdue. Returns the time of its next change. */
static int64_t set_phase_by_deadline(const struct template_state_input *s, int64_t until_ms,
                                     struct template_decision *out)
{
    out->phase = s->now_ms > until_ms ? PHASE_OVERDUE : PHASE_DEFERRED;
    return s->now_ms > until_ms ? INT64_MAX : until_ms + 1;
}

/* Returns the time up to which Karmada has to apply the policy's last change; 0 if unknown. */
static int64_t policy_deadline_ms(const struct template_state_input *s, const struct policy *policy)
{
    return policy->changed_ms ? later_of(policy->changed_ms + s->options->grace_ms,
                                         policy->grace_extended_until_ms)
                              : 0;
}

/*
 * Returns true if only the priority differs, the binding has one, and the PriorityClass was created
 * after the policy's last change, or at an unknown time. Karmada does not watch PriorityClasses: it
 * applies the value at the template's next change.
 */
static bool is_priority_class_newer(const struct template_state_input *s,
                                    const struct template_decision *d)
{
    const struct policy *policy = entry_policy(decision_governing(d));
    const struct priority *priority = decided_priority(decision_governing(d));
    const struct binding *b = binding_made_by_policy(s);

    return d->fields == 1U << FIELD_SCHEDULE_PRIORITY && priority->state == PRIORITY_VALUE &&
           b->propagation->schedule_priority &&
           (!priority->since_ms || priority->since_ms > policy->changed_ms);
}

/*
 * Sets phase, since_ms and priority_moved. Karmada has to apply the policy within the grace period
 * after the policy's change. A lazy policy, takeover mode Static, or the value of a newer
 * PriorityClass defer this to the user's next change of the template: without a later user change
 * the phase stays deferred. If nothing defers this, an unknown time of the policy's change counts
 * as overdue.
 */
static int64_t set_phase(const struct template_state_input *s, const struct entry *governing,
                         struct template_decision *out)
{
    const struct policy *policy = entry_policy(governing);
    const struct template *t = entry_template(s->template);
    bool moved = is_priority_class_newer(s, out);

    out->priority_moved = moved;
    decision_set_since_ms(out, moved ? decided_priority(governing)->since_ms : policy->changed_ms);
    if (!moved && !is_applied_lazily(s, policy))
        return set_phase_by_deadline(s, policy_deadline_ms(s, policy), out);
    if (has_later_user_change(s, policy))
        return set_phase_by_deadline(s, template_changed_ms(t) + s->options->grace_ms, out);
    out->phase = PHASE_DEFERRED;
    return INT64_MAX;
}

static int64_t set_stale(const struct template_state_input *s, struct template_decision *out,
                         enum stale_reason reason)
{
    out->state = STATE_STALE;
    out->reason = reason;
    if (decision_governing(out))
        return set_phase(s, decision_governing(out), out);
    out->phase = PHASE_OVERDUE;
    return INT64_MAX;
}

/* Sets the state of a template that its claimed policy does not select. */
static int64_t set_selector_mismatch(const struct template_state_input *s,
                                     struct template_decision *out)
{
    const struct policy *policy = entry_policy(s->claimed);

    out->state = STATE_STALE;
    out->reason = STALE_SELECTOR_MISMATCH;
    decision_set_since_ms(out, policy->changed_ms);
    return set_phase_by_deadline(s, policy_deadline_ms(s, policy), out);
}

int64_t unbound_due_ms(const struct template_state_input *s, const struct template_decision *d)
{
    const struct template *t = entry_template(s->template);
    const struct policy *policy = entry_policy(decision_governing(d));
    int64_t created_ms = later_of(template_created_ms(t), policy->created_ms);
    int64_t changed_ms = later_of(created_ms, later_of(template_changed_ms(t), policy->changed_ms));

    return changed_ms ? changed_ms + s->options->grace_ms + 1 : 0;
}

/*
 * Sets the state UNBOUND and its reason. A template with a claim waits for its binding up to the
 * end of the grace period, which counts as over if the times are unknown.
 */
static int64_t set_unbound(const struct template_state_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(decision_governing(out));
    int64_t due_ms = unbound_due_ms(s, out);

    out->state = STATE_UNBOUND;
    out->reason = UNBOUND_WAITING;
    decision_set_since_ms(
        out, later_of(template_created_ms(entry_template(s->template)), policy->created_ms));
    if (s->binding_name_blocked)
        out->reason = UNBOUND_NAMESAKE;
    else if (*entry_ns(s->template) &&
             decided_priority(decision_governing(out))->state == PRIORITY_MISSING)
        out->reason = UNBOUND_PRIORITY_CLASS_MISSING;
    else if (s->own_claim && s->now_ms >= due_ms)
        out->reason = UNBOUND_STUCK;
    else if (s->own_claim)
        return due_ms;
    return INT64_MAX;
}

static void set_pending(const struct template_state_input *s, struct template_decision *out,
                        enum pending_reason reason)
{
    const struct template *t = entry_template(s->template);

    out->state = STATE_PENDING;
    out->reason = reason;
    decision_set_since_ms(out, reason == PENDING_POLICY_GONE ? template_changed_ms(t)
                                                             : template_created_ms(t));
}

static void set_ignored(const struct template_state_input *s, struct template_decision *out)
{
    out->state = STATE_IGNORED;
    out->reason = IGNORED_UNWATCHED_VERSION;
    decision_set_since_ms(out, template_created_ms(entry_template(s->template)));
}

/* ---- decision about the state ---- */

/*
 * Decides about a template whose binding has the policy's values: stale if it lacks a user's
 * overdue change, and the template is not in deletion.
 */
static int64_t decide_template_change(const struct template_state_input *s,
                                      struct template_decision *out)
{
    const struct template *t = entry_template(s->template);
    int64_t due_ms = template_changed_ms(t) ? template_changed_ms(t) + s->options->grace_ms + 1 : 0;

    out->state = STATE_CURRENT;
    if (out->change_applied != CHANGE_NOT_APPLIED || t->deleting)
        return INT64_MAX;
    if (s->now_ms < due_ms)
        return due_ms;
    out->state = STATE_STALE;
    out->reason = STALE_TEMPLATE_UPDATED;
    out->phase = PHASE_OVERDUE;
    decision_set_since_ms(out, template_changed_ms(t));
    return INT64_MAX;
}

/*
 * Decides about a template whose binding was made by a policy: compares the binding with the
 * governing policy, then the template's last change. Returns the time of the next change in ms.
 */
static int64_t decide_bound(const struct template_state_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(decision_governing(out));
    const struct binding *b = binding_made_by_policy(s);

    if (b->claim && !claim_is_of_policy(b->claim, decision_governing(out)))
        return set_stale(s, out, STALE_POLICY_REPLACED);
    out->fields =
        (uint8_t)drift_fields(policy->propagation, decided_priority(decision_governing(out)),
                              b->propagation, entry_is_cluster_scoped(s->binding));
    if (out->fields)
        return set_stale(s, out, STALE_POLICY_UPDATED);
    return decide_template_change(s, out);
}

/* Decides about a template that the policy in its claim governs. */
static int64_t decide_claimed(const struct template_state_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(decision_governing(out));

    if (binding_made_by_policy(s))
        return decide_bound(s, out);
    return is_applied_lazily(s, policy) && s->own_claim ? set_stale(s, out, STALE_NEVER_BOUND)
                                                        : set_unbound(s, out);
}

/* Decides about a template that the winner of a fresh match governs without a valid claim. */
static int64_t decide_matched(const struct template_state_input *s, struct template_decision *out)
{
    const struct policy_decision *decision = policy_decision(decision_governing(out));
    const struct binding *b = binding_made_by_policy(s);

    /* An incomplete claim is not valid, but the winner may have made the binding. */
    if (b && b->claim && entry_template(s->template)->claim_incomplete)
        return decide_bound(s, out);
    if (b)
        return set_stale(s, out, STALE_POLICY_REPLACED);
    if (decision && decision->override_missing) {
        set_pending(s, out, PENDING_OVERRIDE_MISSING);
        return INT64_MAX;
    }
    return set_unbound(s, out);
}

static enum pending_reason why_unmatched(const struct template_state_input *s)
{
    bool deleting = false;

    if (!s->kind_selected)
        return PENDING_KIND_NOT_SELECTED;
    for (size_t i = 0; i < s->candidate_count; i++) {
        if (!s->candidates[i].deleting && s->candidates[i].excluded)
            return PENDING_EXCLUDED;
        if (s->candidates[i].deleting && !s->candidates[i].excluded)
            deleting = true;
    }
    return deleting ? PENDING_POLICY_DELETING : PENDING_NO_MATCH;
}

static int64_t decide_unmatched(const struct template_state_input *s, struct template_decision *out)
{
    const struct binding *b = binding_made_by_policy(s);
    bool required = is_required(s);
    enum pending_reason reason = why_unmatched(s);

    if (b)
        out->change_applied = check_orphan_change_applied(s->template, b);
    if (b && !required && out->change_applied == CHANGE_NOT_APPLIED)
        set_pending(s, out, PENDING_POLICY_GONE);
    else if (b)
        out->state = STATE_ORPHANED;
    else if (required)
        out->state = STATE_ATTACHED;
    else if (s->unwatched_version &&
             (reason == PENDING_KIND_NOT_SELECTED || reason == PENDING_NO_MATCH))
        set_ignored(s, out);
    else
        set_pending(s, out, reason);
    if (b && required)
        out->flags |= 1U << FLAG_REQUIRED;
    return INT64_MAX;
}

static int64_t decide_by_fresh_match(const struct template_state_input *s,
                                     struct template_decision *out)
{
    out->governed_by = s->winner ? GOVERNED_BY_WINNER : GOVERNED_BY_NONE;
    return s->winner ? decide_matched(s, out) : decide_unmatched(s, out);
}

static int64_t decide_by_preemption(const struct template_state_input *s,
                                    struct template_decision *out)
{
    const struct policy *policy = entry_policy(s->claimed);

    if (!s->claim || (policy && policy->deleting))
        return decide_by_fresh_match(s, out);
    if (policy && !policy_selects_template(s->claimed, s->template, s->release))
        return set_selector_mismatch(s, out);
    if (!claim_policy_exists(s->claim, s->claimed))
        return set_stale(s, out, STALE_POLICY_GONE);
    out->governed_by = GOVERNED_BY_CLAIMED;
    return decide_claimed(s, out);
}

/* Takeover mode Static: the winner of a fresh match governs, whichever policy is claimed. */
static int64_t decide_by_static_takeover(const struct template_state_input *s,
                                         struct template_decision *out)
{
    if (s->claimed != s->winner || !claim_policy_exists(s->claim, s->claimed))
        return decide_by_fresh_match(s, out);
    out->governed_by = GOVERNED_BY_WINNER;
    return decide_claimed(s, out);
}

int64_t template_state_decide(const struct template_state_input *s, struct template_decision *out)
{
    const struct binding *b = binding_made_by_policy(s);

    if (b)
        out->change_applied = check_change_applied(s->template, b);
    if (s->options->takeover == TAKEOVER_STATIC)
        return decide_by_static_takeover(s, out);
    return decide_by_preemption(s, out);
}

bool placement_drifts(const struct template_decision *d)
{
    return d->state == STATE_STALE &&
           (d->reason == STALE_POLICY_REPLACED || (d->fields & 1U << FIELD_PLACEMENT));
}
