# SPDX-License-Identifier: Apache-2.0
"""What users of Karmada asked, each as a short story: what led there, which object is asked about,
and the one line of `explain` that answers.

The numbers are issues and pull requests of karmada-io/karmada, one of karmada-io/dashboard; what
they ask of overrides is not among them. The objects are those of a recorded step of a real control
plane (stages.txt), or as few as lead there.
"""
import collections

from runbooks import NS, binding, clusters, deployment, policy

ROWS = {
    "Why is it not propagated, and where does it stand?":
        "4623 4048 4895 4861 6362 4999 3708 7096 5031 dashboard/551",
    "What became of it when a cluster failed, and when that came back?":
        "5782 5803 4480 7455 7717 1189 5071",
    "Why is there no binding?": "6306 7327 5961 2090 5486",
    "What waits, and what moves, when something is suspended or tainted?": "6354 6510 5375 7455",
}
NOT_TOLD = dict.fromkeys(("6362", "3708", "4480", "7327"),
                         "what it asks was not at hand; others of its row are told")
QUESTIONS = []
Question = collections.namedtuple("Question", "number asked target answer step objects")


def recorded_story(number, asked, step, target, answer):
    QUESTIONS.append(Question(number, asked, target, answer, step, None))


def told_story(number, asked, objects, answer):
    """About the Deployment shop/web."""
    QUESTIONS.append(Question(number, asked, f"deployment/{NS}/web", answer, None, objects))


def web(**annotations):
    """As its policy has claimed it."""
    one = deployment(claimed="web-policy")
    one["metadata"]["uid"] = "uid"
    one["metadata"]["annotations"].update(annotations)
    return one


def bound(status, scheduled=None, **spec):
    """Its binding; `scheduled` is the condition, if it is not placed as it is to be."""
    one = binding(web(), "web-policy", **spec)
    conditions = [{"type": "Scheduled", **(scheduled or {"status": "True", "reason": "Success"})}]
    one["metadata"]["generation"] = 2
    one["status"] = {"schedulerObservedGeneration": 1 if scheduled else 2,
                     "conditions": conditions, "aggregatedStatus": status}
    return one


# ---- why is it not propagated, and where does it stand?

def propagation():
    recorded_story(
        "4623", "I changed my policy: is everything that it propagates as it says now?",
        "d-lazy/04-policy-updated", "propagationpolicy/lazy-policy",
        "Deployment s-d-lazy/lazy: stale, policy_updated, deferred")
    recorded_story(
        "4048", "A policy has no status: how do I see that it is in effect?",
        "x-fallback/02-first-group-possible", "propagationpolicy/web",
        "The policy is in force on all of its templates.")
    recorded_story(
        "4895", "How do I find the member cluster that failed to apply it?",
        "ag-cluster-scoped/01-one-refused", "clusterrole/ag-editor",
        "member2: unapplied, already_exists")
    recorded_story(
        "4861", "A copy was deleted in one member cluster, and made anew: where does that show?",
        "p-healthy/08-member-lost-it-and-karmada-put-it-back", "deployment/web",
        "member1: unhealthy, rolling, 2 replicas")
    exists = ("Failed to apply all manifests (0/1): resource(kind=Deployment, shop/web) already "
              "exists in the cluster member1 and the work.karmada.io/conflict-resolution strategy "
              "value is empty, Karmada will not manage this resource")
    told_story(
        "4999", "My policy says Overwrite: why is it refused, because it exists there already?",
        [policy("web-policy", conflictResolution="Overwrite"),
         web(**{"work.karmada.io/conflict-resolution": "abort"}),
         bound([{"clusterName": "member1", "appliedMessage": exists}],
               conflictResolution="Overwrite"), *clusters()],
        "The value of spec.conflictResolution in Deployment shop/web is overridden: its annotation "
        "work.karmada.io/conflict-resolution sets Abort instead of "
        "Overwrite.")
    recorded_story(
        "7096", "It runs in the member cluster: why is it not ready in Karmada?",
        "s-cluster-down/10-cluster-is-back", "deployment/fresh",
        "The template is not healthy in a member cluster. The health is not known yet.")
    recorded_story(
        "5031", "My policy selects it, and nothing happens: why?",
        "ac-controllers-down/02-matched-not-bound", "deployment/web",
        "No binding exists yet. Karmada did not claim the "
        "template within the grace period (--rules.grace).")
    recorded_story(
        "5031", "There is a policy, and it has no effect on this one: why?",
        "g-pending/02-policy-for-another", "deployment/orphan",
        "No policy governs the template. No policy selects the template, or excludedResources "
        "exclude it.")
    recorded_story(
        "dashboard/551", "How far did it come from its template, in how many member clusters?",
        "s-cluster-down/02-cluster-not-ready", "deployment/stays",
        "Member clusters: 2 (dispatched to 2, applied in 2, newest version in 2, healthy in 1).")


# ---- what became of it when a cluster failed, and when that came back?

TASK = {"fromCluster": "member1", "producer": "TaintManager", "reason": "TaintUntolerated",
        "replicas": 2}


def failover():
    either = {"clusterAffinity": {"clusterNames": ["member1", "member2"]}}
    told_story(
        "5782", "The cluster is ready again: why does its eviction task stay?",
        [policy("web-policy", either), web(),
         bound([{"clusterName": "member2", "applied": True, "health": "Unhealthy"}],
               placement=either, clusters=[{"name": "member2", "replicas": 2}],
               gracefulEvictionTasks=[TASK]), *clusters()],
        "member1 is ready, and still loses its copy: Karmada does not cancel an eviction task.")
    told_story(
        "5803", "The only cluster is evicted after a blip, and nothing moves: what now?",
        [policy("web-policy"), web(),
         bound([], {"status": "False", "reason": "NoClusterFit"}, clusters=[],
               gracefulEvictionTasks=[TASK]), *clusters()],
        "Action (Platform team): Let the placement allow another Ready cluster, or set "
        "suppressDeletion in the eviction task; removing the task deletes the copy.")
    recorded_story(
        "7455", "No other cluster fits: is what runs in the tainted one deleted all the same?",
        "s-cluster-down/06-evicting", "deployment/only",
        "Karmada evicts the template from a member cluster. No other member cluster fits: "
        "Karmada deletes the only copy when the eviction times out.")
    recorded_story(
        "7717", "The primary cluster is back: why does it still run in the backup?",
        "x-fallback/02-first-group-possible", "deployment/web",
        "The template runs on a fallback, not in the first group of clusterAffinities. Karmada "
        "does not move it back; a WorkloadRebalancer does.")
    recorded_story(
        "1189", "The failed cluster is back: will the replicas be divided again?",
        "s-cluster-down/11-a-while-later", "deployment/web",
        "Karmada changes nothing until a user changes the template.")
    recorded_story(
        "5071", "It moved off a cluster that cannot be reached: who removes the copy there?",
        "s-cluster-down/06-evicting", "deployment/web",
        "member3 is not ready: the copy stays until the cluster is ready again.")


# ---- why is there no binding?

def binding_missing():
    gold = {"priorityClassSource": "KubePriorityClass", "priorityClassName": "gold"}
    value = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "value": 5}
    told_story(
        "6306", "My policy names a PriorityClass that is not there: is there no binding then?",
        [policy("web-policy", schedulePriority=gold), web(),
         {**value, "metadata": {"name": "silver"}}],
        "No binding exists yet. The PriorityClass that the "
        "policy names does not exist.")
    told_story(
        "5961", "The PriorityClass of my policy has another value: when does the binding get it?",
        [policy("web-policy", schedulePriority=gold), web(),
         bound([], schedulePriority={"priority": 1}), {**value, "metadata": {"name": "gold"}}],
        "Karmada does not watch PriorityClasses: a new value reaches the binding with the "
        "user's next change of the template.")
    old = bound([])
    old["metadata"].update(deletionTimestamp="2026-01-01T00:00:00Z", ownerReferences=[
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web", "uid": "uid of before",
         "controller": True}])
    told_story(
        "2090", "I deleted it and created it again at once: where is its binding?",
        [policy("web-policy"), web(), old],
        "No binding exists yet. The binding of a deleted "
        "object has the name that the new binding needs.")
    told_story(
        "5486", "A policy has it, and Karmada cannot write the binding: where do I look?",
        [policy("web-policy"), web()],
        "Action (Template owner): Read the Events of the template, because a webhook may refuse "
        "the binding, then change the template.")


# ---- what waits, and what moves, when something is suspended or tainted?

def suspension():
    recorded_story(
        "6354", "Its scheduling is suspended: has the scheduler left it alone?",
        "u-suspended/11-never-scheduled-because-suspended", "deployment/gated",
        "The scheduler has not placed the present version of the binding. Propagation is "
        "suspended.")
    recorded_story(
        "6510", "Its dispatching is suspended: does my change wait for me?",
        "u-suspended/05-template-changed-while-suspended", "deployment/all",
        "A member cluster runs an older version of the template. Propagation is suspended.")
    recorded_story(
        "5375", "The cluster is tainted because it cannot be reached: does it move away?",
        "s-cluster-down/02-cluster-not-ready", "deployment/stays",
        "Karmada changes nothing until a user changes the template.")


for tell in (propagation, failover, binding_missing, suspension):
    tell()
