/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/drift.h"

#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/object_index.h"

/* As a template, and as a setting where it is none; only the latter has a value in a cluster. */
static const char *const versions[] = {PRIORITY_CLASS_API_VERSION, "policy.karmada.io/v1alpha1"};

static size_t count_classes(const struct store *store)
{
    size_t count = 0;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        const struct type *type = store_find_type(store, versions[i], PRIORITY_CLASS_KIND);

        count += type ? type->objects : 0;
    }
    return count;
}

static struct priority resolve(struct store *store, const char *name, struct entry_list *reads)
{
    struct priority priority = {.state = PRIORITY_MISSING};

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct entry *entry =
            store_refer(store, &(struct identity){versions[i], PRIORITY_CLASS_KIND, "", name});
        const struct template *t = entry_template_or_setting(entry);

        entry_list_add(reads, entry);
        if (t && priority.state != PRIORITY_VALUE)
            priority = (struct priority){t->has_priority ? PRIORITY_VALUE : PRIORITY_UNKNOWN,
                                         t->priority, t->created_ms};
    }
    return priority;
}

struct priority priority_of(struct store *store, gate_set gates, const struct policy *policy,
                            struct entry_list *reads)
{
    struct priority priority = {.state = PRIORITY_NONE};

    if (!policy->propagation.schedule_priority)
        return priority;
    if (policy->priority_class)
        priority = resolve(store, policy->priority_class, reads);
    if (!policy->priority_class || policy->priority_refused)
        priority.state = PRIORITY_MISSING;
    if (!gate_is_on(gates, GATE_PRIORITY_BASED_SCHEDULING) || count_classes(store) == 0)
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

void priority_changed(const struct store *store, struct graph *graph, const struct entry *entry,
                      const void *old)
{
    if (strcmp(entry_kind(entry), PRIORITY_CLASS_KIND) != 0)
        return;
    graph_mark_readers(graph, entry);
    if (count_classes(store) == (entry_exists(entry) ? 1 : 0) && !old != !entry_exists(entry))
        graph_mark_class(graph, CLASS_POLICY);
}

/* True if a binding has the number, none counting as 0. `text` is its schedulePriority. */
static bool priority_is(const char *text, int32_t value)
{
    char expected[40];

    snprintf(expected, sizeof(expected), "{\"priority\":%" PRId32 "}", value);
    return text ? strcmp(text, expected) == 0 : value == 0;
}

/*
 * Karmada resolves it through a PriorityClass. Where that is not known, only a priority that the
 * policy no longer sets is drift for certain.
 */
static bool priority_differs(const struct propagation *policy, const struct priority *priority,
                             const struct propagation *binding)
{
    if (!policy->schedule_priority)
        return binding->schedule_priority;
    return priority && priority->state == PRIORITY_VALUE &&
           !priority_is(binding->schedule_priority, priority->value);
}

unsigned drift_fields(const struct propagation *policy, const struct priority *priority,
                      const struct propagation *binding, bool cluster_scoped)
{
    const bool differs[DRIFT_FIELD_COUNT] = {
        [FIELD_PLACEMENT] = policy->placement != binding->placement,
        [FIELD_CONFLICT_RESOLUTION] = policy->conflict_resolution != binding->conflict_resolution,
        [FIELD_PRESERVE] =
            (policy->preserve == OPTIONAL_TRUE) != (binding->preserve == OPTIONAL_TRUE),
        /* Karmada: ApplyClusterPolicy copies it only when it creates the binding. */
        [FIELD_PROPAGATE_DEPS] =
            !cluster_scoped && policy->propagate_deps != binding->propagate_deps,
        [FIELD_FAILOVER] = policy->failover != binding->failover,
        [FIELD_SUSPENSION] = policy->suspension != binding->suspension,
        [FIELD_SCHEDULER_NAME] = policy->scheduler_name != binding->scheduler_name,
        /* Karmada: the binding of a cluster-scoped template never has one. */
        [FIELD_SCHEDULE_PRIORITY] = !cluster_scoped && priority_differs(policy, priority, binding),
    };
    unsigned fields = 0;

    for (unsigned i = 0; i < DRIFT_FIELD_COUNT; i++)
        fields |= (unsigned)differs[i] << i;
    return fields;
}

/* Policies are decided before templates. */
static const struct priority *priority_of_policy(const struct entry *policy)
{
    static const struct priority none = {.state = PRIORITY_NONE};
    const struct policy_decision *d = policy_decision(policy);

    return d ? &d->priority : &none;
}

static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The binding, if a policy made it; NULL for one that others merely require. */
static const struct binding *own_binding(const struct drift_input *s)
{
    const struct binding *b = entry_binding(s->binding);

    return b && b->has_placement ? b : NULL;
}

static bool is_required(const struct drift_input *s)
{
    const struct binding *b = entry_binding(s->binding);

    return s->required || (b && b->referrer_count > 0);
}

static bool acts_lazily(const struct drift_input *s, const struct policy *policy)
{
    return policy->lazy || s->options->takeover == TAKEOVER_STATIC;
}

/*
 * True if a user changed the template after the policy changed and after the binding was written
 * (by whatever policy), so that Karmada has to apply the policy now. What a source saw happen came
 * after a change of the policy that it did not see.
 */
static bool is_owed(const struct drift_input *s, const struct policy *policy)
{
    const struct template *t = entry_template(s->template);
    const struct binding *b = own_binding(s);
    int64_t seen_ms = later(policy->changed_ms, b ? b->changed_ms : 0);

    return (policy->changed_ms || t->user_seen) && t->changed_ms > seen_ms;
}

/* Overdue once `until_ms` is over; until then deferred. Returns when that changes. */
static int64_t set_phase_by(const struct drift_input *s, int64_t until_ms,
                            struct template_decision *out)
{
    out->phase = s->now_ms > until_ms ? PHASE_OVERDUE : PHASE_DEFERRED;
    return s->now_ms > until_ms ? INT64_MAX : until_ms + 1;
}

/* How long Karmada has to work off the policy's last change; 0 without times. */
static int64_t policy_until(const struct drift_input *s, const struct policy *policy)
{
    return policy->changed_ms
               ? later(policy->changed_ms + s->options->grace_ms, policy->busy_until_ms)
               : 0;
}

/*
 * True if all that differs is the number behind a PriorityClass that was created after the policy
 * changed: Karmada does not watch these, so it arrives with the template's next change.
 */
static bool priority_moved(const struct drift_input *s, const struct template_decision *d)
{
    const struct policy *policy = entry_policy(d->governing);
    const struct priority *priority = priority_of_policy(d->governing);
    const struct binding *b = own_binding(s);

    return d->fields == 1U << FIELD_SCHEDULE_PRIORITY && priority->state == PRIORITY_VALUE &&
           b->propagation.schedule_priority &&
           (!priority->since_ms || priority->since_ms > policy->changed_ms);
}

/*
 * Set the phase. Karmada has to apply a lazy policy at the user's next change of the template,
 * any other policy at its own change; from then on the grace period runs. Without these times a
 * lazy policy is deferred, any other overdue.
 */
static int64_t set_phase(const struct drift_input *s, const struct entry *governing,
                         struct template_decision *out)
{
    const struct policy *policy = entry_policy(governing);
    const struct template *t = entry_template(s->template);
    bool moved = priority_moved(s, out);

    out->priority_moved = moved;
    out->since_ms = moved ? priority_of_policy(governing)->since_ms : policy->changed_ms;
    if (!moved && !acts_lazily(s, policy))
        return set_phase_by(s, policy_until(s, policy), out);
    if (is_owed(s, policy))
        return set_phase_by(s, t->changed_ms + s->options->grace_ms, out);
    out->phase = PHASE_DEFERRED;
    return INT64_MAX;
}

static int64_t set_stale(const struct drift_input *s, struct template_decision *out,
                         enum stale_reason reason)
{
    out->state = STATE_STALE;
    out->reason = reason;
    if (out->governing)
        return set_phase(s, out->governing, out);
    out->phase = PHASE_OVERDUE;
    return INT64_MAX;
}

/* The policy that has the claim, lazy or not, should have let go of the template. */
static int64_t set_mismatch(const struct drift_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(s->claimed);

    out->state = STATE_STALE;
    out->reason = STALE_SELECTOR_MISMATCH;
    out->since_ms = policy->changed_ms;
    return set_phase_by(s, policy_until(s, policy), out);
}

int64_t unbound_due_ms(const struct drift_input *s, const struct template_decision *d)
{
    const struct template *t = entry_template(s->template);
    const struct policy *policy = entry_policy(d->governing);
    int64_t created_ms = later(t->created_ms, policy->created_ms);
    int64_t changed_ms = later(created_ms, later(t->changed_ms, policy->changed_ms));

    return changed_ms ? changed_ms + s->options->grace_ms + 1 : 0;
}

/* A claimed template gets its binding at once, or at its next change; without times: it did not. */
static int64_t set_unbound(const struct drift_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(out->governing);
    int64_t due_ms = unbound_due_ms(s, out);

    out->state = STATE_UNBOUND;
    out->reason = UNBOUND_WAITING;
    out->since_ms = later(entry_template(s->template)->created_ms, policy->created_ms);
    if (s->in_the_way)
        out->reason = UNBOUND_NAMESAKE;
    else if (*entry_ns(s->template) &&
             priority_of_policy(out->governing)->state == PRIORITY_MISSING)
        out->reason = UNBOUND_PRIORITY_CLASS_MISSING;
    else if (s->own_claim && s->now_ms >= due_ms)
        out->reason = UNBOUND_STUCK;
    else if (s->own_claim)
        return due_ms;
    return INT64_MAX;
}

static void set_pending(const struct drift_input *s, struct template_decision *out,
                        enum pending_reason reason)
{
    const struct template *t = entry_template(s->template);

    out->state = STATE_PENDING;
    out->reason = reason;
    out->since_ms = reason == PENDING_POLICY_GONE ? t->changed_ms : t->created_ms;
}

/* The binding is as its policy says: has it the template's last change, too? */
static int64_t decide_followed(const struct drift_input *s, struct template_decision *out)
{
    const struct template *t = entry_template(s->template);
    int64_t due_ms = t->changed_ms ? t->changed_ms + s->options->grace_ms + 1 : 0;

    out->state = STATE_CURRENT;
    if (out->change_applied != CHANGE_NOT_APPLIED || t->deleting)
        return INT64_MAX;
    if (s->now_ms < due_ms)
        return due_ms;
    out->state = STATE_STALE;
    out->reason = STALE_TEMPLATE_UPDATED;
    out->phase = PHASE_OVERDUE;
    out->since_ms = t->changed_ms;
    return INT64_MAX;
}

/* Compare the binding with what the policy that governs says now. */
static int64_t decide_bound(const struct drift_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(out->governing);
    const struct binding *b = own_binding(s);

    if (b->claim && !claim_is_of(b->claim, out->governing))
        return set_stale(s, out, STALE_POLICY_REPLACED);
    out->fields =
        (uint8_t)drift_fields(&policy->propagation, priority_of_policy(out->governing),
                              &b->propagation, s->binding->partition->type->def->cluster_scoped);
    if (out->fields)
        return set_stale(s, out, STALE_POLICY_UPDATED);
    return decide_followed(s, out);
}

/* The claim's policy governs. */
static int64_t decide_claimed(const struct drift_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(out->governing);

    if (own_binding(s))
        return decide_bound(s, out);
    return acts_lazily(s, policy) && s->own_claim ? set_stale(s, out, STALE_NEVER_BOUND)
                                                  : set_unbound(s, out);
}

/* No claim counts, and the policy that governs wins a fresh match. */
static int64_t decide_matched(const struct drift_input *s, struct template_decision *out)
{
    const struct policy_decision *decision = policy_decision(out->governing);
    const struct binding *b = own_binding(s);

    /* With half a claim it may be this policy that made the binding: then it is as claimed. */
    if (b && b->claim && entry_template(s->template)->half_claim)
        return decide_bound(s, out);
    if (b)
        return set_stale(s, out, STALE_POLICY_REPLACED);
    if (decision && decision->override_missing) {
        set_pending(s, out, PENDING_OVERRIDE_MISSING);
        return INT64_MAX;
    }
    return set_unbound(s, out);
}

static enum pending_reason why_unmatched(const struct drift_input *s)
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

static int64_t decide_unmatched(const struct drift_input *s, struct template_decision *out)
{
    const struct binding *b = own_binding(s);
    bool required = is_required(s);

    if (b)
        out->change_applied = change_applied_to_orphan(s->template, b);
    if (b && !required && out->change_applied == CHANGE_NOT_APPLIED)
        set_pending(s, out, PENDING_POLICY_GONE);
    else if (b)
        out->state = STATE_ORPHANED;
    else if (required)
        out->state = STATE_ATTACHED;
    else
        set_pending(s, out, why_unmatched(s));
    if (b && required)
        out->flags |= 1U << FLAG_REQUIRED;
    return INT64_MAX;
}

static int64_t decide_fresh(const struct drift_input *s, struct template_decision *out)
{
    out->governing = s->winner;
    return s->winner ? decide_matched(s, out) : decide_unmatched(s, out);
}

static int64_t decide_preemption(const struct drift_input *s, struct template_decision *out)
{
    const struct policy *policy = entry_policy(s->claimed);

    if (!s->claim || (policy && policy->deleting))
        return decide_fresh(s, out);
    if (policy && !policy_selects(s->claimed, s->template))
        return set_mismatch(s, out);
    if (!claim_holds(s->claim, s->claimed))
        return set_stale(s, out, STALE_POLICY_GONE);
    out->governing = s->claimed;
    return decide_claimed(s, out);
}

/* Seed 001: the best policy governs; a claim only says which one made the binding. */
static int64_t decide_static(const struct drift_input *s, struct template_decision *out)
{
    if (s->claimed != s->winner || !claim_holds(s->claim, s->claimed))
        return decide_fresh(s, out);
    out->governing = s->winner;
    return decide_claimed(s, out);
}

int64_t drift_decide(const struct drift_input *s, struct template_decision *out)
{
    const struct binding *b = own_binding(s);

    if (b)
        out->change_applied = change_applied_to(s->template, b);
    if (s->options->takeover == TAKEOVER_STATIC)
        return decide_static(s, out);
    return decide_preemption(s, out);
}

bool drift_moves(const struct template_decision *d)
{
    return d->state == STATE_STALE &&
           (d->reason == STALE_POLICY_REPLACED || (d->fields & 1U << FIELD_PLACEMENT));
}
