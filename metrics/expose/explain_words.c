/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/explain_words.h"

#include "metrics/model/object.h"

static const char *const stale_words[STALE_REASON_COUNT] = {
    [STALE_POLICY_UPDATED] = "Its policy has changed; its binding still has the old settings.",
    [STALE_POLICY_REPLACED] =
        "The policy that governs it is not the one that its binding was made from.",
    [STALE_SELECTOR_MISMATCH] =
        "The policy that has claimed it no longer selects it. Karmada neither removes the claim "
        "nor propagates changes of the template: it is frozen until that policy changes.",
    [STALE_POLICY_GONE] = "The policy that has claimed it no longer exists, or was recreated under "
                          "the same name.",
    [STALE_NEVER_BOUND] =
        "A Lazy policy has claimed it and has never made a binding: it runs nowhere.",
    [STALE_TEMPLATE_UPDATED] =
        "Its user has changed it, and its binding was not made from that version: what runs is "
        "older.",
};

static const char *const pending_words[PENDING_REASON_COUNT] = {
    [PENDING_NO_MATCH] = "No policy selects it, and nothing else propagates it.",
    [PENDING_EXCLUDED] = "A policy would select it, but its excludedResources keep it out.",
    [PENDING_POLICY_GONE] = "It was changed after its policy was deleted: its old binding stays as "
                            "it is, and the change is not propagated.",
    [PENDING_OVERRIDE_MISSING] =
        "A policy selects it, but waits for a policy named in its dependentOverrides that does "
        "not exist.",
    [PENDING_POLICY_DELETING] = "Only policies that are being deleted select it.",
    [PENDING_KIND_NOT_SELECTED] = "No policy selects anything of its kind.",
};

static const char *const unbound_words[UNBOUND_REASON_COUNT] = {
    [UNBOUND_NAMESAKE] = "A policy governs it, but the binding of a deleted object of its name is "
                         "still there.",
    [UNBOUND_PRIORITY_CLASS_MISSING] =
        "A policy governs it, but names a PriorityClass in its schedulePriority that Karmada "
        "cannot resolve: it makes no binding.",
    [UNBOUND_STUCK] = "A policy has claimed it, but Karmada has made no binding.",
    [UNBOUND_WAITING] = "A policy governs it; there is no binding yet.",
};

static const char *const next_of_unbound[UNBOUND_REASON_COUNT] = {
    [UNBOUND_NAMESAKE] = "Its binding is made once the old one is gone.",
    [UNBOUND_PRIORITY_CLASS_MISSING] =
        "Its binding is made once the PriorityClass exists, or its policy names another.",
    [UNBOUND_STUCK] = "Its binding is made when its user changes it next, or when Karmada's "
                      "controllers restart.",
    [UNBOUND_WAITING] = "The governing policy makes its binding.",
};

static const char *const ignored_words[IGNORED_REASON_COUNT] = {
    [IGNORED_RESERVED_NAMESPACE] = "Its namespace is Karmada's own.",
    [IGNORED_SKIPPED_NAMESPACE] =
        "Its namespace is among those that Karmada is configured to skip.",
    [IGNORED_SKIPPED_API] = "Its API is among those that Karmada skips.",
    [IGNORED_SYSTEM_OBJECT] = "It is the API server's own configuration.",
    [IGNORED_CLAIMED_BY] = "Another controller has claimed it.",
};

const char *explain_state_words(const struct template_decision *d)
{
    switch (d->state) {
    case STATE_CURRENT:
        return "Its binding says what its policy says now.";
    case STATE_STALE:
        return stale_words[d->reason];
    case STATE_ORPHANED:
        return "No policy governs it. What an earlier policy bound keeps running unchanged.";
    case STATE_PENDING:
        return pending_words[d->reason];
    case STATE_UNBOUND:
        return unbound_words[d->reason];
    case STATE_ATTACHED:
        return "No policy selects it. It is propagated with the templates that depend on it.";
    case STATE_IGNORED:
        return ignored_words[d->reason];
    case STATE_COUNT:
        break;
    }
    abort();
}

const char *explain_phase_words(const struct template_decision *d, enum takeover takeover)
{
    const struct policy *policy = entry_policy(d->governing);

    if (d->phase == PHASE_OVERDUE)
        return "Karmada should have acted on this by now.";
    if (takeover == TAKEOVER_STATIC || (policy && policy->lazy))
        return "It waits by design for its user's next change.";
    return "Karmada still has time to act before it is overdue.";
}

const char *explain_score_words(enum selector_score score)
{
    switch (score) {
    case SCORE_NAME:
        return "name";
    case SCORE_LABELS:
        return "label";
    case SCORE_ALL:
        return "kind";
    case SCORE_NONE:
        break;
    }
    abort();
}

const char *explain_step_words(enum rank_step step)
{
    switch (step) {
    case RANK_ELIGIBLE:
        return "it is not eligible";
    case RANK_KIND:
        return "a PropagationPolicy of the namespace comes before any ClusterPropagationPolicy";
    case RANK_PRIORITY:
        return "its priority is lower";
    case RANK_SELECTOR:
        return "at equal priority its selector names the template less closely";
    case RANK_NAME:
        return "at equal priority and selector its name comes later";
    }
    abort();
}

const char *explain_governing_words(const struct template_decision *d)
{
    if (d->governing != d->winner)
        return "a claimed template keeps its policy, though another would win a fresh match.";
    if (d->governing == d->claimed)
        return "it has the claim, and would win a fresh match too.";
    return "it wins a fresh match.";
}

static const char *next_of_stale(const struct template_decision *d)
{
    switch ((enum stale_reason)d->reason) {
    case STALE_POLICY_UPDATED:
    case STALE_NEVER_BOUND:
        return "When its user changes it next, the governing policy is applied as it is now.";
    case STALE_POLICY_REPLACED:
        return "When its user changes it next, the governing policy takes over and its placement "
               "is applied.";
    case STALE_SELECTOR_MISMATCH:
        return "A change of the template does nothing. A change of the policy that has claimed it "
               "removes the claim; then it is matched anew.";
    case STALE_POLICY_GONE:
        return "At its next change Karmada removes the claim and matches it anew.";
    case STALE_TEMPLATE_UPDATED:
        return "Karmada follows it once whatever keeps it from doing so is gone, or when its "
               "controllers restart.";
    case STALE_REASON_COUNT:
        break;
    }
    abort();
}

const char *explain_next_words(const struct template_decision *d, enum takeover takeover)
{
    switch (d->state) {
    case STATE_CURRENT:
        if (takeover == TAKEOVER_PREEMPTION && d->winner != d->governing)
            return "Its next change is applied by the policy that has claimed it. The "
                   "better-ranked "
                   "one takes over only by preemption, or when the claim is removed.";
        return "Its next change is applied by the same policy.";
    case STATE_STALE:
        return next_of_stale(d);
    case STATE_ORPHANED:
        return "When its user changes it next, it becomes pending: the change is not propagated "
               "until a policy selects it.";
    case STATE_PENDING:
        return "It is propagated as soon as an eligible policy selects it.";
    case STATE_UNBOUND:
        return next_of_unbound[d->reason];
    case STATE_ATTACHED:
        return "It follows the templates that require it, and goes with the last of them.";
    case STATE_IGNORED:
    case STATE_COUNT:
        break;
    }
    abort();
}

const char *explain_field_value(const struct propagation *p, enum drift_field field)
{
    const char *text = NULL;

    switch (field) {
    case FIELD_PLACEMENT:
        text = p->placement;
        break;
    case FIELD_CONFLICT_RESOLUTION:
        text = p->conflict_resolution == CONFLICT_RESOLUTION_OVERWRITE ? "Overwrite" : "Abort";
        break;
    case FIELD_PRESERVE:
        text = p->preserve == OPTIONAL_TRUE ? "true" : "false";
        break;
    case FIELD_PROPAGATE_DEPS:
        text = p->propagate_deps ? "true" : "false";
        break;
    case FIELD_FAILOVER:
        text = p->failover;
        break;
    case FIELD_SUSPENSION:
        text = p->suspension;
        break;
    case FIELD_SCHEDULER_NAME:
        text = p->scheduler_name;
        break;
    case FIELD_SCHEDULE_PRIORITY:
        text = p->schedule_priority;
        break;
    case DRIFT_FIELD_COUNT:
        break;
    }
    return text ? text : "(not set)";
}
