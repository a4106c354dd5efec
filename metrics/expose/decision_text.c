/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/decision_text.h"

#include "metrics/model/store.h"
#include "metrics/rules/policy_rank.h"

/* ---- states ---- */

static const char *const stale_words[STALE_REASON_COUNT] = {
    [STALE_POLICY_UPDATED] = "The policy has changed; the binding still has the old settings.",
    [STALE_POLICY_REPLACED] = "Another policy governs the template than the one in the binding.",
    [STALE_SELECTOR_MISMATCH] = "The policy that has claimed the template no longer selects it, or "
                                "excludes it. While the claim stands, Karmada propagates no change "
                                "of the template, and no other policy takes it over.",
    [STALE_POLICY_GONE] = "The policy that has claimed the template no longer exists, or was "
                          "deleted and created again.",
    [STALE_NEVER_BOUND] = "A Lazy policy has claimed the template, and Karmada has never created a "
                          "binding: the template runs in no member cluster.",
    [STALE_TEMPLATE_UPDATED] = "A user has changed the template, and the binding does not have "
                               "the change: the member clusters run an older version.",
};

/* Overdue actions of Karmada, by reason; phase_text() has the exceptions. */
static const char *const overdue_words[STALE_REASON_COUNT] = {
    [STALE_POLICY_UPDATED] =
        "Karmada should have copied the present settings of the policy into the binding by now.",
    [STALE_POLICY_REPLACED] = "Karmada should have replaced the policy in the binding by now.",
    [STALE_SELECTOR_MISMATCH] = NULL, /* Text depends on the claim: see phase_text(). */
    [STALE_POLICY_GONE] = "Karmada should have removed the claim when the policy was deleted.",
    [STALE_NEVER_BOUND] = "Karmada should have created the binding by now.",
    [STALE_TEMPLATE_UPDATED] = "Karmada should have copied the change into the binding by now.",
};

static const char mismatch_words[] =
    "If the policy was changed, Karmada should have removed the claim. "
    "If the template's labels were changed, the claim stands until the "
    "policy is changed or deleted.";

/* When a policy changes, Karmada finds its templates through bindings that have the policy's id. */
static const char leaked_words[] = "No binding has the id of that policy, so Karmada does not find "
                                   "the claim when the policy changes. The claim stands until the "
                                   "policy is deleted or a user removes the claim.";

/* Karmada removes only claims with the policy's current id. */
static const char foreign_words[] = "The claim has another id than that policy, so Karmada never "
                                    "removes the claim: a user must remove it.";

static const char *const pending_words[PENDING_REASON_COUNT] = {
    [PENDING_NO_MATCH] = "No policy selects the template, and no other template propagates "
                         "it.",
    [PENDING_EXCLUDED] = "A policy would select the template, but its excludedResources "
                         "exclude it.",
    [PENDING_POLICY_GONE] = "A user changed the template after its policy was gone: the old "
                            "binding stays, and Karmada does not propagate the change.",
    [PENDING_OVERRIDE_MISSING] = "A policy selects the template, but waits for an override policy "
                                 "in its dependentOverrides that does not exist.",
    [PENDING_POLICY_DELETING] = "Only policies that are being deleted select the template.",
    [PENDING_KIND_NOT_SELECTED] = "No policy selects this kind.",
};

static const char *const unbound_words[UNBOUND_REASON_COUNT] = {
    [UNBOUND_NAMESAKE] =
        "A policy governs the template, but the binding of a deleted object of the same name "
        "exists. Karmada creates the new binding once the old one is gone.",
    [UNBOUND_PRIORITY_CLASS_MISSING] =
        "A policy governs the template, but Karmada cannot resolve the PriorityClass in its "
        "schedulePriority, and creates no binding.",
    [UNBOUND_STUCK] =
        "A policy has claimed the template, but Karmada has created no binding. Karmada creates it "
        "at the template's next change, or when its controllers restart.",
    [UNBOUND_WAITING] = "A policy governs the template; the binding does not exist yet.",
};

static const char *const ignored_words[IGNORED_REASON_COUNT] = {
    [IGNORED_RESERVED_NAMESPACE] = "The namespace is reserved for Karmada.",
    [IGNORED_SKIPPED_NAMESPACE] = "Karmada is configured to skip the namespace.",
    [IGNORED_SKIPPED_API] = "Karmada skips this API.",
    [IGNORED_SYSTEM_OBJECT] = "The object is configuration of the API server itself.",
    [IGNORED_CLAIMED_BY] = "Another controller has claimed the object.",
    [IGNORED_UNWATCHED_VERSION] =
        ("Karmada watches one version of each kind that the API server serves, the preferred one. "
         "The object or each policy that names it has another version or kind."),
};

const char *state_text(const struct template_decision *d)
{
    if (d->priority_moved)
        return "The PriorityClass in the policy has another value than the "
               "binding.";
    switch (d->state) {
    case STATE_CURRENT:
        return "The binding has the present settings of the policy.";
    case STATE_STALE:
        return stale_words[d->reason];
    case STATE_ORPHANED:
        return "No policy governs the template. The copies that an earlier policy "
               "placed keep running, and the scheduler still follows the labels "
               "of member clusters.";
    case STATE_PENDING:
        return d->reason == PENDING_NO_MATCH && decision_refused_policy(d)
                   ? "The API server refuses each policy that would select the template."
                   : pending_words[d->reason];
    case STATE_UNBOUND:
        return unbound_words[d->reason];
    case STATE_ATTACHED:
        return "No policy selects the template. Karmada propagates it with the templates that "
               "require it.";
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
    const struct policy *policy = entry_policy(decision_governing(d));

    return policy && (policy->lazy || takeover == TAKEOVER_STATIC);
}

/* Returns true if the policy that has claimed the template has a claim on the binding, too. */
static bool is_claim_on_binding(const struct template_decision *d)
{
    return decision_claimed(d) && decision_binding(d) &&
           binding_claimed_policy(decision_binding(d)) == decision_claimed(d);
}

const char *policy_obstacle_text(const struct template_decision *d)
{
    const struct policy_decision *policy =
        decision_governing(d) ? policy_decision(decision_governing(d)) : NULL;

    /*
     * Bindings of cluster-scoped templates have no priority. Without a binding, only the reason
     * UNBOUND_PRIORITY_CLASS_MISSING shows that the binding would have a priority.
     */
    bool has_priority = decision_binding(d) ? *entry_ns(decision_binding(d)) != '\0'
                                            : d->reason == UNBOUND_PRIORITY_CLASS_MISSING;

    if (policy && policy->priority.state == PRIORITY_MISSING && has_priority)
        return "cannot be applied: the PriorityClass in its schedulePriority does "
               "not exist, or has another source than KubePriorityClass";
    if (policy && policy->override_missing)
        return "is not applied until all override policies in its "
               "dependentOverrides exist";
    return NULL;
}

/* Returns true if the policy was replaced and only the binding has a complete claim. */
static bool has_partial_claim(const struct template_decision *d)
{
    return !decision_claimed(d) && d->reason == STALE_POLICY_REPLACED && decision_binding(d) &&
           binding_claimed_policy(decision_binding(d));
}

const char *phase_text(const struct template_decision *d, enum takeover takeover, bool claim_holds)
{
    bool waits = waits_for_user(d, takeover);

    if (has_partial_claim(d))
        return "Karmada matches the template again only after the user's next change of the "
               "template.";
    if (d->phase == PHASE_OVERDUE && waits && d->reason != STALE_TEMPLATE_UPDATED)
        return "A user has changed the template since the policy changed: Karmada "
               "should have applied the policy with that change.";
    if (d->phase == PHASE_OVERDUE && d->reason == STALE_SELECTOR_MISMATCH)
        return !claim_holds             ? foreign_words
               : is_claim_on_binding(d) ? mismatch_words
                                        : leaked_words;
    if (d->phase == PHASE_OVERDUE)
        return overdue_words[d->reason];
    if (waits && takeover == TAKEOVER_STATIC)
        return "With --rules.takeover=static, every policy waits by design for the user's next "
               "change of the template.";
    if (waits)
        return "The policy is Lazy: the change waits by design for the user's "
               "next change of the template.";
    if (d->priority_moved)
        return "Karmada does not watch PriorityClasses: a new value reaches the "
               "binding with the user's next change of the template.";
    return "Karmada still has time to act before the change is overdue.";
}

/* ---- role that must act ---- */

const char *actor_title(enum actor actor)
{
    static const char *const titles[ACTOR_COUNT] = {
        [ACTOR_USER] = "Template owner",           [ACTOR_POLICY_OWNER] = "Policy owner",
        [ACTOR_PLATFORM] = "Platform team",        [ACTOR_KARMADA] = "Karmada",
        [ACTOR_CLUSTER] = "Cluster administrator", [ACTOR_NONE] = "no action needed",
    };

    return titles[actor];
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
        return ACTOR_PLATFORM;
    case STATE_PENDING:
        return decision_refused_policy(d) ? ACTOR_POLICY_OWNER : ACTOR_PLATFORM;
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
        return "this policy is not eligible";
    case RANK_KIND:
        return "a PropagationPolicy of the namespace ranks before every "
               "ClusterPropagationPolicy";
    case RANK_PRIORITY:
        return "the priority is lower";
    case RANK_SELECTOR:
        return "at equal priority, the selector is less specific";
    case RANK_NAME:
        return "at equal priority and selector, the name comes later";
    }
    abort();
}

const char *governing_text(const struct template_decision *d, enum takeover takeover)
{
    if (takeover == TAKEOVER_STATIC)
        return decision_governing(d) == decision_claimed(d)
                   ? "this policy has the claim and ranks first."
                   : "this policy ranks first, and --rules.takeover=static "
                     "ignores claims of other policies.";
    if (decision_governing(d) != decision_winner(d))
        return "a claimed template keeps its policy, although another policy ranks first. The "
               "other policy takes over by preemption, or when the claim is removed.";
    if (decision_governing(d) == decision_claimed(d))
        return "this policy has the claim and ranks first.";
    return "this policy ranks first.";
}

/* ---- a user's next change of the template ---- */

enum next_change_note next_change_note_of(const struct template_decision *d,
                                          const struct entry *template)
{
    if (policy_obstacle_text(d))
        return NEXT_CHANGE_BLOCKED;
    if (predict_from_decision(d, template).outcome == PREDICTION_REFUSED && !decision_binding(d))
        return NEXT_CHANGE_REFUSED;
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
        return "The user's next change is not propagated until the policy can be "
               "applied.";
    case NEXT_CHANGE_REFUSED:
        return "The user's next change is not propagated until the template has another name.";
    case NEXT_CHANGE_NAMESAKE:
        return "The user's next change is not propagated until that binding is "
               "gone.";
    case NEXT_CHANGE_REQUIRED:
        return "Karmada propagates the user's next change with the templates that "
               "require this one.";
    case NEXT_CHANGE_PRIORITY:
        return "The user's next change also brings that value.";
    case NEXT_CHANGE_NORMAL:
        break;
    }
    switch (o->state) {
    case STATE_CURRENT:
        return "Karmada propagates the user's next change, by the same policy.";
    case STATE_ATTACHED:
        return "Karmada propagates the user's next change with the templates that "
               "require this one.";
    case STATE_ORPHANED:
        return is_static ? "The user's next change is not propagated until a policy selects "
                           "the template."
                         : "The user's next change is not propagated until a policy selects "
                           "the template, or Karmada's controllers restart.";
    case STATE_STALE:
    case STATE_UNBOUND:
        return "The user's next change is not propagated either.";
    case STATE_PENDING:
        return "The template is not propagated until a policy selects it.";
    case STATE_IGNORED:
    case STATE_COUNT:
        break;
    }
    abort();
}

const char *undetermined_text(enum undetermined_reason reason)
{
    static const char *const words[UNDETERMINED_REASON_COUNT] = {
        [UNDETERMINED_AGGREGATED] = "replicas are aggregated on clusters with free capacity",
        [UNDETERMINED_DYNAMIC_WEIGHT] = "replicas depend on the free capacity of clusters",
        [UNDETERMINED_SPREAD_CONSTRAINTS] = "spread constraints determine the clusters",
        [UNDETERMINED_TAINTS] = "a cluster has a taint that is not tolerated",
        [UNDETERMINED_COMPONENTS] = "the template has several pod templates",
        [UNDETERMINED_OVERFLOW] = "free capacity determines which cluster affinity is used",
        [UNDETERMINED_NO_CLUSTERS] = "no cluster that the placement allows is known",
        [UNDETERMINED_LOT] = "Karmada draws lots between clusters",
        [UNDETERMINED_UID] = "the uid of the template decides, and the template has none yet",
        [UNDETERMINED_RELEASE] = "the possible releases of Karmada place the template differently",
        [UNDETERMINED_QUOTA_ORDER] =
            "templates compete for a quota, and the order in which Karmada handles them decides",
        [UNDETERMINED_UNSUPPORTED] = "this version of the exporter cannot simulate the placement",
        [UNDETERMINED_TEMPLATE_UPDATED] =
            "a user changed the template after the binding was created",
    };

    return words[reason];
}

/* Sentences about outcomes, by the word of their reason. */
static const struct {
    const char *reason;
    const char *text;
} predicted_texts[] = {
    {"no_policy", "No policy propagates the template, so it runs in no member cluster."},
    {"no_cluster_fit",
     "No member cluster passes the filters of the placement, so the template runs "
     "in no member cluster."},
    {"unschedulable", "The member clusters do not have enough capacity, so the template runs in no "
                      "member cluster."},
    {"no_replicas", "The template has 0 replicas, so Karmada places it in no member cluster."},
    {"suspended", "Propagation is suspended, so the template runs in no member cluster."},
    {"referrer", "The templates that require this one run in no member cluster."},
    {"invalid_name", "The API server refuses the name of the binding, so Karmada never propagates "
                     "the template."},
    {"policy_refused", "The API server refuses the policy, so that it propagates no template."},
    {"taken",
     "Another template needs a binding of the same name, so Karmada propagates only one of "
     "them."},
    {"quota_exceeded", "A FederatedResourceQuota refuses the replicas."},
    {"spread_constraint",
     "The scheduler does not support the spread constraint and places nothing."},
    {"scheduler_error", "The scheduler fails and places nothing."},
    {"kept", "Karmada does not deliver the present version; the earlier copies stay."},
};

const char *predicted_text(struct predicted p)
{
    for (size_t i = 0; i < ARRAY_LEN(predicted_texts); i++) {
        if (strcmp(predicted_texts[i].reason, p.reason) == 0)
            return predicted_texts[i].text;
    }
    switch (p.outcome) {
    case PREDICTION_NOWHERE:
        return "The template runs in no member cluster.";
    case PREDICTION_REFUSED:
        return "The template is refused and runs in no member cluster.";
    case PREDICTION_IGNORED:
        return "Karmada never processes the template.";
    case PREDICTION_NOT_SIMULATED:
        return "The effect is not simulated.";
    case PREDICTION_PLACED:
    case PREDICTION_UNDETERMINED:
    case PREDICTION_STORED:
    case PREDICTION_COUNT:
        break;
    }
    return NULL;
}

const char *failed_outcome_text(const struct outcome *o)
{
    bool is_nowhere = o->predicted.outcome == PREDICTION_NOWHERE;
    bool replaces_state = o->state == STATE_CURRENT || (o->state == STATE_ATTACHED && is_nowhere) ||
                          o->predicted.outcome == PREDICTION_REFUSED;

    return o->exists && replaces_state ? predicted_text(o->predicted) : NULL;
}

/* ---- stages ---- */

/*
 * Actions that end a stage, by stage reason, except WHY_WAITING and WHY_SUSPENDED: their actions
 * depend on the stage. Times and retries in the texts are Karmada's defaults.
 */
static const struct stage_action action_by_reason[STAGE_REASON_COUNT] = {
    [WHY_NONE] = {ACTOR_NONE, ""},
    [WHY_IGNORED] = {ACTOR_NONE, ""},
    [WHY_LEFT_BEHIND_CHANGED] =
        {ACTOR_PLATFORM, "Create a policy that selects the template, or delete the template: the "
                         "copies in the member clusters are older than the template."},
    [WHY_LEFT_BEHIND] = {ACTOR_PLATFORM,
                         "Create a policy that selects the template, or delete the template."},
    [WHY_NO_POLICY] = {ACTOR_PLATFORM, "Create a policy that selects the template."},
    [WHY_LAZY] = {ACTOR_USER,
                  "Change the template: any change by a user makes Karmada create the binding."},
    [WHY_OVERRIDE_MISSING] = {ACTOR_USER,
                              "Create the override policies in the policy's dependentOverrides."},
    [WHY_NAMESAKE] = {ACTOR_CLUSTER, "Wait until the old binding is gone."},
    [WHY_PRIORITY_CLASS_MISSING] = {ACTOR_PLATFORM,
                                    "Create the PriorityClass, or remove it from the policy."},
    [WHY_STUCK] = {ACTOR_USER, "Read the template's events: a webhook may refuse the binding. "
                               "Otherwise change the template, or restart "
                               "karmada-controller-manager."},
    [WHY_NOT_CLAIMED] = {ACTOR_PLATFORM, "Check that karmada-controller-manager runs."},
    [WHY_POLICY_UPDATED] = {ACTOR_NONE, ""},
    [WHY_POLICY_REPLACED] = {ACTOR_NONE, ""},
    [WHY_SELECTOR_MISMATCH] = {ACTOR_NONE, ""},
    [WHY_POLICY_GONE] = {ACTOR_NONE, ""},
    [WHY_TEMPLATE_UPDATED] = {ACTOR_NONE, ""},
    [WHY_LAST_COPY] = {ACTOR_PLATFORM,
                       "Allow another ready cluster in the placement, or set suppressDeletion in "
                       "the eviction task, before the task times out. Do not delete the task: its "
                       "deletion also deletes the copy."},
    [WHY_PURGE_BLOCKED] =
        {ACTOR_PLATFORM,
         "Repair the member cluster; otherwise the eviction task ends only when it times out."},
    [WHY_RESCHEDULING] = {ACTOR_KARMADA, "Wait for the scheduler."},
    [WHY_REPLACING] = {ACTOR_CLUSTER, "Wait until the template is healthy in the other clusters."},
    [WHY_NO_CLUSTER_FIT] = {ACTOR_USER,
                            "Allow another cluster in the placement, or change labels or "
                            "taints of clusters: the scheduler tries again only after such a "
                            "change."},
    [WHY_UNSCHEDULABLE] = {ACTOR_PLATFORM,
                           "Add capacity, or lower the requests: the scheduler tries again "
                           "every five minutes."},
    [WHY_QUOTA_EXCEEDED] = {ACTOR_PLATFORM,
                            "Raise the FederatedResourceQuota, or lower the requests: the "
                            "scheduler tries again within seconds."},
    [WHY_SCHEDULER_ERROR] = {ACTOR_USER,
                             "Correct the field that the message names: the scheduler tries "
                             "again within seconds."},
    [WHY_OTHER_SCHEDULER] = {ACTOR_PLATFORM,
                             "Check that the scheduler in the policy's schedulerName runs."},
    [WHY_NO_REPLICAS] = {ACTOR_USER, "Set replicas above 0."},
    [WHY_REFERRER] = {ACTOR_USER, "Check the placement of the templates that require this one."},
    [WHY_CLUSTER_NOT_READY] = {ACTOR_PLATFORM,
                               "Repair the member cluster. If its Cluster was deleted, remove it "
                               "from the placement of the policy."},
    [WHY_OVERRIDE_FAILED] = {ACTOR_USER, "Correct the override policy, or delete it."},
    [WHY_WORK_MISSING] = {ACTOR_KARMADA,
                          "Read the events of the template and of its binding: an override "
                          "policy may fail."},
    [WHY_WORK_DELETING] = {ACTOR_CLUSTER,
                           "Wait: Karmada creates a new Work once the old one is gone."},
    [WHY_WORK_OUTDATED] = {ACTOR_KARMADA,
                           "Read the events of the template and of its binding: an override "
                           "policy may fail."},
    [WHY_ALREADY_EXISTS] = {ACTOR_USER,
                            "Delete the object in the member cluster, or set "
                            "conflictResolution: Overwrite. The template's annotation "
                            "work.karmada.io/conflict-resolution takes precedence over the "
                            "policy."},
    [WHY_REFUSED] = {ACTOR_USER, "Correct the field that the message names: Karmada tries again."},
    [WHY_ROLLING] = {ACTOR_CLUSTER, "Wait for the rollout."},
    [WHY_UNAVAILABLE] = {ACTOR_CLUSTER, "Read the pods and events in the member cluster."},
    [WHY_UNKNOWN] = {ACTOR_CLUSTER, "Wait until Karmada has read the status."},
    [WHY_OTHER] = {ACTOR_PLATFORM, "Read Karmada's message."},
};

/* Returns the action for WHY_WAITING. */
static struct stage_action waiting_action(enum stage stage)
{
    if (stage == STAGE_UNBOUND)
        return (struct stage_action){ACTOR_KARMADA,
                                     "Wait until Karmada has processed the template."};
    if (stage == STAGE_UNSCHEDULED)
        return (struct stage_action){
            ACTOR_KARMADA,
            "Wait; if the stage does not change, check that karmada-scheduler runs."};
    return (struct stage_action){ACTOR_KARMADA,
                                 "Wait; if the stage does not change, check that "
                                 "karmada-controller-manager or karmada-agent runs."};
}

struct stage_action stage_action_of(struct stage_and_reason at)
{
    if (at.reason == WHY_WAITING)
        return waiting_action(at.stage);
    if (at.reason != WHY_SUSPENDED)
        return action_by_reason[at.reason];
    if (at.stage == STAGE_UNSCHEDULED)
        return (struct stage_action){ACTOR_USER, "Remove suspension.scheduling from the binding."};
    return (struct stage_action){ACTOR_USER, "Remove suspension from the policy."};
}

enum actor responsible_actor(const struct template_decision *d, enum takeover takeover)
{
    enum actor actor = state_actor(d, takeover);

    return actor == ACTOR_NONE ? stage_action_of(d->stages.at).actor : actor;
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
