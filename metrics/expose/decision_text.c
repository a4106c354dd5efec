/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/decision_text.h"

#include "metrics/model/store.h"
#include "metrics/rules/policy_rank.h"

/* ---- states ---- */

static const char *const stale_words[STALE_REASON_COUNT] = {
    [STALE_POLICY_UPDATED] = "Its policy has changed; its binding still has the old settings.",
    [STALE_POLICY_REPLACED] =
        "The policy that governs it is not the one that its binding was made from.",
    [STALE_SELECTOR_MISMATCH] = "The policy that has claimed it does not select it any more, or "
                                "excludes it. While the claim stands it is frozen: no change of "
                                "it is propagated, and no other policy takes it over.",
    [STALE_POLICY_GONE] = "The policy that has claimed it does not exist any more, or was "
                          "deleted and created again.",
    [STALE_NEVER_BOUND] =
        "A Lazy policy has claimed it and has never made a binding: it runs nowhere.",
    [STALE_TEMPLATE_UPDATED] = "Its user has changed it, and its binding was not made from that "
                               "version: what runs is older.",
};

/* Overdue actions of Karmada, by reason; phase_text() has the exceptions. */
static const char *const overdue_words[STALE_REASON_COUNT] = {
    [STALE_POLICY_UPDATED] =
        "Karmada should have copied what the policy says now into the binding by now.",
    [STALE_POLICY_REPLACED] =
        "Karmada should have made the binding over to the policy that governs it by now.",
    [STALE_SELECTOR_MISMATCH] = NULL, /* Text depends on the claim: see phase_text(). */
    [STALE_POLICY_GONE] = "Karmada should have removed the claim when the policy was deleted.",
    [STALE_NEVER_BOUND] = "Karmada should have made its binding by now.",
    [STALE_TEMPLATE_UPDATED] = "Karmada should have brought that change into the binding by now.",
};

static const char mismatch_words[] =
    "If its policy was changed, Karmada should have removed the claim then. If its labels were, "
    "Karmada leaves it as it is until that policy is changed or deleted.";

/* When a policy changes, Karmada finds its templates through bindings that have the policy's id. */
static const char leaked_words[] =
    "No binding carries that policy's id, so that Karmada does not find the claim when the policy "
    "is changed: the claim stands until the policy is deleted, or somebody removes it.";

/* Karmada removes only claims with the policy's current id. */
static const char foreign_words[] =
    "Its claim is under another id than that policy's, so that Karmada never removes it: somebody "
    "has to.";

static const char *const pending_words[PENDING_REASON_COUNT] = {
    [PENDING_NO_MATCH] = "No policy selects it, and nothing else propagates it.",
    [PENDING_EXCLUDED] = "A policy would select it, but its excludedResources keep it out.",
    [PENDING_POLICY_GONE] = "It was changed after its policy was gone: its old binding stays as "
                            "it is, and the change is not propagated.",
    [PENDING_OVERRIDE_MISSING] =
        "A policy selects it, but waits for a policy named in its dependentOverrides that does "
        "not exist.",
    [PENDING_POLICY_DELETING] = "Only policies that are being deleted select it.",
    [PENDING_KIND_NOT_SELECTED] = "No policy selects anything of its kind.",
};

static const char *const unbound_words[UNBOUND_REASON_COUNT] = {
    [UNBOUND_NAMESAKE] = "A policy governs it, but the binding of a deleted object of its name is "
                         "still there: its own is made once that is gone.",
    [UNBOUND_PRIORITY_CLASS_MISSING] =
        "A policy governs it, but names a PriorityClass in its schedulePriority that Karmada "
        "cannot resolve: it makes no binding before that changes.",
    [UNBOUND_STUCK] = "A policy has claimed it, but Karmada has made no binding, and has no reason "
                      "to look again: it makes one at the template's next change, or when its "
                      "controllers restart.",
    [UNBOUND_WAITING] = "A policy governs it; there is no binding yet.",
};

static const char *const ignored_words[IGNORED_REASON_COUNT] = {
    [IGNORED_RESERVED_NAMESPACE] = "Its namespace is Karmada's own.",
    [IGNORED_SKIPPED_NAMESPACE] =
        "Its namespace is among those that Karmada is configured to skip.",
    [IGNORED_SKIPPED_API] = "Its API is among those that Karmada skips.",
    [IGNORED_SYSTEM_OBJECT] = "It is the API server's own configuration.",
    [IGNORED_CLAIMED_BY] = "Another controller has claimed it.",
};

const char *state_text(const struct template_decision *d)
{
    if (d->priority_moved)
        return "The PriorityClass that its policy names has another value than its binding.";
    switch (d->state) {
    case STATE_CURRENT:
        return "Its binding says what its policy says now.";
    case STATE_STALE:
        return stale_words[d->reason];
    case STATE_ORPHANED:
        return "No policy governs it. What an earlier policy bound keeps running, and still "
               "follows the labels of its clusters.";
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

/* Returns true if Karmada applies the governing policy only when a user changes the template. */
static bool waits_for_user(const struct template_decision *d, enum takeover takeover)
{
    const struct policy *policy = entry_policy(d->governing);

    return policy && (policy->lazy || takeover == TAKEOVER_STATIC);
}

/* Returns true if the policy that has claimed the template has a claim on the binding, too. */
static bool is_claim_on_binding(const struct template_decision *d)
{
    return d->claimed && d->binding && binding_claimed_policy(d->binding) == d->claimed;
}

const char *policy_obstacle_text(const struct template_decision *d)
{
    const struct policy_decision *policy = d->governing ? policy_decision(d->governing) : NULL;

    /*
     * Bindings of cluster-scoped templates have no priority. Without a binding, only the reason
     * UNBOUND_PRIORITY_CLASS_MISSING shows that the binding would have a priority.
     */
    bool has_priority =
        d->binding ? *entry_ns(d->binding) != '\0' : d->reason == UNBOUND_PRIORITY_CLASS_MISSING;

    if (policy && policy->priority.state == PRIORITY_MISSING && has_priority)
        return "cannot be applied: the PriorityClass of its schedulePriority does not exist, or "
               "is of another source than KubePriorityClass";
    if (policy && policy->override_missing)
        return "is not applied before all that its dependentOverrides name exist";
    return NULL;
}

/* Returns true if the policy was replaced and only the binding has a complete claim. */
static bool has_partial_claim(const struct template_decision *d)
{
    return !d->claimed && d->reason == STALE_POLICY_REPLACED && d->binding &&
           binding_claimed_policy(d->binding);
}

const char *phase_text(const struct template_decision *d, enum takeover takeover, bool claim_holds)
{
    bool waits = waits_for_user(d, takeover);

    if (has_partial_claim(d))
        return "Karmada matches it anew when its user changes it next, and not before.";
    if (d->phase == PHASE_OVERDUE && waits && d->reason != STALE_TEMPLATE_UPDATED)
        return "Its user has changed it since its policy did: Karmada should have applied the "
               "policy with that change.";
    if (d->phase == PHASE_OVERDUE && d->reason == STALE_SELECTOR_MISMATCH)
        return !claim_holds             ? foreign_words
               : is_claim_on_binding(d) ? mismatch_words
                                        : leaked_words;
    if (d->phase == PHASE_OVERDUE)
        return overdue_words[d->reason];
    if (waits && takeover == TAKEOVER_STATIC)
        return "With static rules every policy waits, by design, for its user's next change.";
    if (waits)
        return "It waits by design for its user's next change: the policy is Lazy.";
    if (d->priority_moved)
        return "Karmada does not watch PriorityClasses: a new number reaches the binding with its "
               "user's next change.";
    return "Karmada still has time to act before it is overdue.";
}

/* ---- role that must act ---- */

const char *state_actor_text(enum actor actor)
{
    static const char *const words[ACTOR_COUNT] = {
        [ACTOR_USER] = "its user, by a change of it",
        [ACTOR_POLICY_OWNER] = "the owner of its policy",
        [ACTOR_PLATFORM] = "whoever runs the platform",
        [ACTOR_KARMADA] = "Karmada",
        [ACTOR_CLUSTER] = "whoever runs the member clusters",
        [ACTOR_NONE] = "nobody",
    };

    return words[actor];
}

static enum actor stale_actor(const struct template_decision *d, enum takeover takeover)
{
    if (d->reason == STALE_SELECTOR_MISMATCH && d->phase == PHASE_OVERDUE)
        return ACTOR_PLATFORM;
    if (policy_obstacle_text(d))
        return ACTOR_PLATFORM;
    if (d->phase == PHASE_DEFERRED && (waits_for_user(d, takeover) || d->priority_moved))
        return ACTOR_USER;
    return ACTOR_KARMADA;
}

static enum actor unbound_actor(const struct template_decision *d)
{
    switch ((enum unbound_reason)d->reason) {
    case UNBOUND_NAMESAKE:
        return ACTOR_CLUSTER;
    case UNBOUND_PRIORITY_CLASS_MISSING:
        return ACTOR_PLATFORM;
    case UNBOUND_STUCK:
        return policy_obstacle_text(d) ? ACTOR_PLATFORM : ACTOR_USER;
    case UNBOUND_WAITING:
        return d->stages.at.reason == WHY_NOT_CLAIMED ? ACTOR_PLATFORM : ACTOR_KARMADA;
    case UNBOUND_REASON_COUNT:
        break;
    }
    abort();
}

enum actor state_actor(const struct template_decision *d, enum takeover takeover)
{
    switch (d->state) {
    case STATE_STALE:
        return stale_actor(d, takeover);
    case STATE_ORPHANED:
    case STATE_PENDING:
        return ACTOR_PLATFORM;
    case STATE_UNBOUND:
        return unbound_actor(d);
    case STATE_CURRENT:
    case STATE_ATTACHED:
    case STATE_IGNORED:
        return ACTOR_NONE;
    case STATE_COUNT:
        break;
    }
    abort();
}

/* ---- candidates ---- */

const char *selector_score_text(enum selector_score score)
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

const char *selector_miss_text(enum selector_miss miss)
{
    static const char *const words[MISS_COUNT] = {
        [MISS_KIND] = "kind", [MISS_API_VERSION] = "apiVersion", [MISS_NAMESPACE] = "namespace",
        [MISS_NAME] = "name", [MISS_LABELS] = "labelSelector",
    };

    return words[miss];
}

const char *rank_step_name(enum rank_step step)
{
    static const char *const words[] = {
        [RANK_ELIGIBLE] = "eligible", [RANK_KIND] = "kind", [RANK_PRIORITY] = "priority",
        [RANK_SELECTOR] = "selector", [RANK_NAME] = "name",
    };

    return words[step];
}

const char *rank_step_text(enum rank_step step)
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

const char *governing_text(const struct template_decision *d, enum takeover takeover)
{
    if (takeover == TAKEOVER_STATIC)
        return d->governing == d->claimed
                   ? "it has the claim, and ranks best."
                   : "it ranks best, and with static rules no claim stands against that.";
    if (d->governing != d->winner)
        return "a claimed template keeps its policy, though another would win a fresh match. That "
               "one gets it when the claim goes, or by preemption.";
    if (d->governing == d->claimed)
        return "it has the claim, and would win a fresh match too.";
    return "it wins a fresh match.";
}

/* ---- a user's next change of the template ---- */

enum next_change_note next_change_note_of(const struct template_decision *d)
{
    if (policy_obstacle_text(d))
        return NEXT_CHANGE_BLOCKED;
    if (d->state == STATE_UNBOUND && d->reason == UNBOUND_NAMESAKE)
        return NEXT_CHANGE_NAMESAKE;
    if (d->flags & 1U << FLAG_REQUIRED)
        return NEXT_CHANGE_REQUIRED;
    return d->priority_moved ? NEXT_CHANGE_PRIORITY : NEXT_CHANGE_NORMAL;
}

const char *next_change_note_text(const struct outcome *o, enum next_change_note note,
                                  bool is_static)
{
    switch (note) {
    case NEXT_CHANGE_BLOCKED:
        return "The next change by its user is not propagated before its policy can be applied.";
    case NEXT_CHANGE_NAMESAKE:
        return "The next change by its user is not propagated before that binding is gone.";
    case NEXT_CHANGE_REQUIRED:
        return "The next change by its user travels with those that require it.";
    case NEXT_CHANGE_PRIORITY:
        return "The next change by its user brings that value as well.";
    case NEXT_CHANGE_NORMAL:
        break;
    }
    switch (o->state) {
    case STATE_CURRENT:
        return "The next change by its user is propagated, by the same policy.";
    case STATE_ATTACHED:
        return "The next change by its user travels with the templates that require it.";
    case STATE_ORPHANED:
        return is_static ? "The next change by its user is not propagated before a policy selects "
                           "it."
                         : "The next change by its user is not propagated before a policy selects "
                           "it, or Karmada's controllers restart.";
    case STATE_STALE:
    case STATE_UNBOUND:
        return "The next change by its user is not propagated either.";
    case STATE_PENDING:
        return "It is not propagated before a policy that may have it selects it.";
    case STATE_IGNORED:
    case STATE_COUNT:
        break;
    }
    abort();
}

const char *undetermined_text(enum undetermined_reason reason)
{
    static const char *const words[UNDETERMINED_REASON_COUNT] = {
        [UNDETERMINED_AGGREGATED] = "aggregated as the scheduler finds room",
        [UNDETERMINED_DYNAMIC_WEIGHT] = "by the room that the scheduler finds",
        [UNDETERMINED_SPREAD_CONSTRAINTS] = "by spread constraints",
        [UNDETERMINED_TAINTS] = "as a cluster has a taint that is not tolerated",
        [UNDETERMINED_COMPONENTS] = "as it has several pod templates",
        [UNDETERMINED_OVERFLOW] = "as which affinity is used depends on what fits",
        [UNDETERMINED_NO_CLUSTERS] = "as no cluster is known that it may use",
        [UNDETERMINED_UNSUPPORTED] = "as the placement is of a newer kind",
        [UNDETERMINED_TEMPLATE_UPDATED] = "as its user has changed it since its binding was made",
    };

    return words[reason];
}

/* ---- stages ---- */

/*
 * Actions that end a stage, by stage reason, except WHY_WAITING and WHY_SUSPENDED: their actions
 * depend on the stage. Times and retries in the texts are Karmada's defaults.
 */
static const struct stage_action action_by_reason[STAGE_REASON_COUNT] = {
    [WHY_NONE] = {ACTOR_NONE, ""},
    [WHY_IGNORED] = {ACTOR_NONE, ""},
    [WHY_LEFT_BEHIND_CHANGED] = {ACTOR_PLATFORM,
                                 "Write a policy that selects it, or delete it: what "
                                 "runs is not what it says."},
    [WHY_LEFT_BEHIND] = {ACTOR_PLATFORM, "Write a policy that selects it, or delete it."},
    [WHY_NO_POLICY] = {ACTOR_PLATFORM, "Write a policy that selects it."},
    [WHY_LAZY] = {ACTOR_USER, "Change the template: any change of a user binds it."},
    [WHY_OVERRIDE_MISSING] = {ACTOR_USER, "Create the override policies that its policy names in "
                                          "dependentOverrides."},
    [WHY_NAMESAKE] = {ACTOR_CLUSTER, "Wait until the old binding is gone."},
    [WHY_PRIORITY_CLASS_MISSING] = {ACTOR_PLATFORM,
                                    "Create the PriorityClass, or take it out of the policy."},
    [WHY_STUCK] = {ACTOR_USER,
                   "See its events: a webhook may refuse the binding. Else change it, or "
                   "restart karmada-controller-manager."},
    [WHY_NOT_CLAIMED] = {ACTOR_PLATFORM, "See that karmada-controller-manager runs."},
    [WHY_POLICY_UPDATED] = {ACTOR_NONE, ""},
    [WHY_POLICY_REPLACED] = {ACTOR_NONE, ""},
    [WHY_SELECTOR_MISMATCH] = {ACTOR_NONE, ""},
    [WHY_POLICY_GONE] = {ACTOR_NONE, ""},
    [WHY_TEMPLATE_UPDATED] = {ACTOR_NONE, ""},
    [WHY_LAST_COPY] = {ACTOR_PLATFORM, "Let its placement allow another cluster that is ready, or "
                                       "set suppressDeletion in the task, before that times out. "
                                       "Do not take the task away: the copy goes with it."},
    [WHY_PURGE_BLOCKED] = {ACTOR_PLATFORM, "Bring the cluster back; else the task's time-out ends "
                                           "it."},
    [WHY_RESCHEDULING] = {ACTOR_KARMADA, "Wait for the scheduler."},
    [WHY_REPLACING] = {ACTOR_CLUSTER, "Wait until it is healthy in the other clusters."},
    [WHY_NO_CLUSTER_FIT] = {ACTOR_USER, "Let the placement allow a cluster, or change labels or "
                                        "taints of clusters: the scheduler looks again after "
                                        "that, and not before."},
    [WHY_UNSCHEDULABLE] = {ACTOR_PLATFORM, "Make room, or ask for less: the scheduler tries again "
                                           "every five minutes."},
    [WHY_QUOTA_EXCEEDED] = {ACTOR_PLATFORM, "Raise the FederatedResourceQuota, or ask for less: "
                                            "the scheduler tries again within seconds."},
    [WHY_SCHEDULER_ERROR] = {ACTOR_USER, "Mend what the message names: the scheduler tries again "
                                         "within seconds."},
    [WHY_OTHER_SCHEDULER] = {ACTOR_PLATFORM, "See that the scheduler of its policy's schedulerName "
                                             "runs."},
    [WHY_NO_REPLICAS] = {ACTOR_USER, "Give it replicas."},
    [WHY_REFERRER] = {ACTOR_USER, "See where those that require it are."},
    [WHY_CLUSTER_NOT_READY] = {ACTOR_PLATFORM, "Bring the member cluster back."},
    [WHY_OVERRIDE_FAILED] = {ACTOR_USER, "Mend the override policy, or delete it."},
    [WHY_WORK_MISSING] = {ACTOR_KARMADA, "See the events of the template and of its binding: an "
                                         "override policy may fail on it."},
    [WHY_WORK_DELETING] = {ACTOR_CLUSTER, "Wait: Karmada makes it anew once the old copy is gone."},
    [WHY_WORK_OUTDATED] = {ACTOR_KARMADA, "See the events of the template and of its binding: an "
                                          "override policy may fail on it."},
    [WHY_ALREADY_EXISTS] = {ACTOR_USER, "Delete the object in the member cluster, or take it over "
                                        "with conflictResolution: Overwrite. The template's "
                                        "annotation work.karmada.io/conflict-resolution wins over "
                                        "its policy."},
    [WHY_REFUSED] = {ACTOR_USER, "Mend what the message names: Karmada tries again by itself."},
    [WHY_ROLLING] = {ACTOR_CLUSTER, "Wait for its rollout."},
    [WHY_UNAVAILABLE] = {ACTOR_CLUSTER, "See its pods and events in the member cluster."},
    [WHY_UNKNOWN] = {ACTOR_CLUSTER, "Wait until Karmada has read its status."},
    [WHY_OTHER] = {ACTOR_PLATFORM, "See what Karmada says of it."},
};

/* Returns the action for WHY_WAITING. */
static struct stage_action waiting_action(enum stage stage)
{
    if (stage == STAGE_UNBOUND)
        return (struct stage_action){ACTOR_KARMADA, "Wait for Karmada."};
    if (stage == STAGE_UNSCHEDULED)
        return (struct stage_action){ACTOR_KARMADA, "Wait; if it lasts, see that karmada-scheduler "
                                                    "runs."};
    return (struct stage_action){ACTOR_KARMADA,
                                 "Wait; if it lasts, see that "
                                 "karmada-controller-manager, or karmada-agent, runs."};
}

struct stage_action stage_action_of(struct stage_and_reason at)
{
    if (at.reason == WHY_WAITING)
        return waiting_action(at.stage);
    if (at.reason != WHY_SUSPENDED)
        return action_by_reason[at.reason];
    if (at.stage == STAGE_UNSCHEDULED)
        return (struct stage_action){ACTOR_USER, "Take suspension.scheduling out of its binding."};
    return (struct stage_action){ACTOR_USER, "Take suspension out of its policy."};
}

enum actor responsible_actor(const struct template_decision *d, enum takeover takeover)
{
    enum actor actor = state_actor(d, takeover);

    return actor == ACTOR_NONE ? stage_action_of(d->stages.at).actor : actor;
}

const char *stage_actor_text(enum actor actor)
{
    static const char *const words[ACTOR_COUNT] = {
        [ACTOR_USER] = "its user",
        [ACTOR_POLICY_OWNER] = "the owner of its policy",
        [ACTOR_PLATFORM] = "whoever runs the platform",
        [ACTOR_KARMADA] = "Karmada",
        [ACTOR_CLUSTER] = "the member cluster",
        [ACTOR_NONE] = "nobody",
    };

    return words[actor];
}

const char *responsible_actor_text(const struct template_decision *d, enum takeover takeover)
{
    enum actor actor = state_actor(d, takeover);

    return actor == ACTOR_NONE ? stage_actor_text(stage_action_of(d->stages.at).actor)
                               : state_actor_text(actor);
}

/* ---- conflicts between resources of Google Config Connector ---- */

/* Appends the first other template with the cloud resource of `entry`, and how many more exist. */
static void add_sharers(const struct engine *e, const struct entry *entry, struct strbuf *out)
{
    const struct entry *first = NULL;
    size_t count = engine_same_resource_templates(e, entry, &first, 1);

    if (count > 0)
        strbuf_addf(out, ": %s %s/%s", entry_kind(first), entry_ns(first), first->name);
    if (count > 1)
        strbuf_addf(out, " and %zu more", count - 1);
}

/* Appends the holder of a lease: its namespace, or its id if the namespace is unknown. */
static void add_holder(const struct entry *lease, struct strbuf *out)
{
    const struct lease_decision *d = lease ? lease_decision(lease) : NULL;

    if (d && d->holder_ns)
        strbuf_addf(out, ": the namespace %s", d->holder_ns);
    else if (d)
        strbuf_addf(out, ": the id %s", entry_lease(lease)->holder);
}

void connector_conflict_add_subject(const struct engine *e, const struct entry *entry,
                                    enum connector_conflict conflict, struct strbuf *out)
{
    if (conflict == CONNECTOR_DUPLICATE_IDENTITY)
        add_sharers(e, entry, out);
    else if (conflict == CONNECTOR_REFUSED || conflict == CONNECTOR_SILENT)
        add_holder(engine_lease_of(e, entry), out);
    else if (conflict == CONNECTOR_UNKNOWN_HOLDER)
        add_holder(entry, out);
}
