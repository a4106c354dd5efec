/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/stage_words.h"

/* By reason; the times and retries are Karmada's own, of its defaults. */
static const struct stage_end by_reason[STAGE_REASON_COUNT] = {
    [WHY_NONE] = {ACTOR_NOBODY, ""},
    [WHY_IGNORED] = {ACTOR_NOBODY, ""},
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
    [WHY_POLICY_UPDATED] = {ACTOR_NOBODY, ""},
    [WHY_POLICY_REPLACED] = {ACTOR_NOBODY, ""},
    [WHY_SELECTOR_MISMATCH] = {ACTOR_NOBODY, ""},
    [WHY_POLICY_GONE] = {ACTOR_NOBODY, ""},
    [WHY_TEMPLATE_UPDATED] = {ACTOR_NOBODY, ""},
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

static struct stage_end end_of_waiting(enum stage stage)
{
    if (stage == STAGE_UNBOUND)
        return (struct stage_end){ACTOR_KARMADA, "Wait for Karmada."};
    if (stage == STAGE_UNSCHEDULED)
        return (struct stage_end){ACTOR_KARMADA, "Wait; if it lasts, see that karmada-scheduler "
                                                 "runs."};
    return (struct stage_end){ACTOR_KARMADA, "Wait; if it lasts, see that "
                                             "karmada-controller-manager, or karmada-agent, runs."};
}

struct stage_end stage_end_of(struct standing at)
{
    if (at.reason == WHY_WAITING)
        return end_of_waiting(at.stage);
    if (at.reason != WHY_SUSPENDED)
        return by_reason[at.reason];
    if (at.stage == STAGE_UNSCHEDULED)
        return (struct stage_end){ACTOR_USER, "Take suspension.scheduling out of its binding."};
    return (struct stage_end){ACTOR_USER, "Take suspension out of its policy."};
}

enum actor explain_who(const struct template_decision *d, enum takeover takeover)
{
    enum actor actor = explain_actor(d, takeover);

    return actor == ACTOR_NOBODY ? stage_end_of(d->way.at).actor : actor;
}

const char *stage_actor_words(enum actor actor)
{
    static const char *const words[ACTOR_COUNT] = {
        [ACTOR_USER] = "its user",   [ACTOR_PLATFORM] = "whoever runs the platform",
        [ACTOR_KARMADA] = "Karmada", [ACTOR_CLUSTER] = "the member cluster",
        [ACTOR_NOBODY] = "nobody",
    };

    return words[actor];
}

const char *explain_who_words(const struct template_decision *d, enum takeover takeover)
{
    enum actor actor = explain_actor(d, takeover);

    return actor == ACTOR_NOBODY ? stage_actor_words(stage_end_of(d->way.at).actor)
                                 : explain_actor_words(actor);
}
