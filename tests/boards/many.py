# SPDX-License-Identifier: Apache-2.0
"""Manifests of a large control plane: many healthy policies, and some open problems of several kinds."""
import json

NAMESPACES = 500
CREATED = "2026-01-01T00:00:00Z"
# Problem: the number of subjects with it.
PROBLEMS = {"policy_not_in_force": 150, "not_scheduled": 80, "unhealthy": 80, "not_delivered": 75,
            "not_propagated": 60, "dependency_conflict": 20, "policy_unused": 20}
# Label that names the owner of a template, for --owner-key.
OWNER_KEY, OWNERS = "owner", 40


def meta(namespace, name, **more):
    return {"namespace": namespace, "name": name, "creationTimestamp": CREATED, "generation": 1, **more}


def placement(*clusters):
    return {"clusterAffinity": {"clusterNames": list(clusters)}}


def deployment(namespace, name, number, **more):
    labels = {"app": name, OWNER_KEY: f"owner-{number % OWNERS}", **more.pop("labels", {})}
    return {"apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": meta(namespace, name, labels=labels, **more),
            "spec": {"replicas": 2, "selector": {"matchLabels": {"app": name}}, "template": {
                "metadata": {"labels": {"app": name}},
                "spec": {"containers": [{"name": "app", "image": "registry.invalid/app", "resources": {
                    "requests": {"cpu": "10m", "memory": "16Mi"}}}]}}},
            "status": {"replicas": 2}}


def policy(namespace, name, clusters, resolution, selected):
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": meta(namespace, name, labels={
                "propagationpolicy.karmada.io/permanent-id": f"id-{name}"}),
            "spec": {"resourceSelectors": [
                {"apiVersion": "apps/v1", "kind": "Deployment", "name": selected}],
                "conflictResolution": resolution, "schedulerName": "default-scheduler",
                "preserveResourcesOnDeletion": False, "propagateDeps": True,
                "placement": placement(*clusters)}}


def status(problem):
    """The status that the scheduler and the member cluster leave."""
    if problem == "not_scheduled":
        return {"conditions": [{"type": "Scheduled", "status": "False", "reason": "NoClusterFit",
                                "message": "0/3 clusters are available.",
                                "lastTransitionTime": CREATED}], "schedulerObservedGeneration": 1}
    item = {"clusterName": "member1", "applied": True,
            "health": "Unhealthy" if problem == "unhealthy" else "Healthy"}
    if problem == "not_delivered":
        item = {"clusterName": "member1", "health": "Unknown", "appliedMessage": "admission webhook denied"}
    return {"schedulerObservedGeneration": 1, "lastScheduledTime": CREATED, "aggregatedStatus": [item],
            "conditions": [{"type": "Scheduled", "status": "True", "reason": "Success",
                            "lastTransitionTime": CREATED},
                           {"type": "FullyApplied", "status": str(problem != "not_delivered"),
                            "lastTransitionTime": CREATED}]}


def binding(namespace, name, resolution, problem, claim):
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": meta(namespace, f"{name}-deployment", labels=claim["labels"], annotations={
                **claim["annotations"],
                "policy.karmada.io/applied-placement": json.dumps(placement("member1"))}),
            "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": namespace,
                                  "name": name},
                     "clusters": [] if problem == "not_scheduled" else [
                         {"name": "member1", "replicas": 2}],
                     "replicas": 2, "conflictResolution": resolution,
                     "preserveResourcesOnDeletion": False, "propagateDeps": True,
                     "schedulerName": "default-scheduler", "placement": placement("member1")},
            "status": status(problem)}


def bound(number, problem):
    """A policy with its template and binding; `problem` or None."""
    namespace, name = f"team-{number % NAMESPACES}", f"app-{number}"
    resolution = "Overwrite" if problem == "dependency_conflict" else "Abort"
    claim = {"labels": {"propagationpolicy.karmada.io/permanent-id": f"id-{name}"},
             "annotations": {"propagationpolicy.karmada.io/namespace": namespace,
                             "propagationpolicy.karmada.io/name": name}}
    clusters = ("member1", "member2") if problem == "policy_not_in_force" else ("member1",)
    yield policy(namespace, name, clusters, resolution,
                 "no-such" if problem == "policy_unused" else name)
    if problem != "policy_unused":
        yield deployment(namespace, name, number, **claim)
        yield binding(namespace, name, resolution, problem, claim)


def dependency(namespace, name, referrers):
    """A ConfigMap that templates with different policies require."""
    yield {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta(namespace, name), "data": {}}
    yield {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
           "metadata": meta(namespace, f"{name}-configmap"),
           "spec": {"resource": {"apiVersion": "v1", "kind": "ConfigMap", "namespace": namespace,
                                 "name": name},
                    "conflictResolution": "Overwrite", "preserveResourcesOnDeletion": False,
                    "requiredBy": [{"namespace": namespace, "name": f"{referrer}-deployment",
                                    "clusters": [{"name": "member1"}]} for referrer in referrers]},
           "status": {"aggregatedStatus": [
               {"clusterName": "member1", "applied": True, "health": "Healthy"}]}}


def member(name):
    return {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name},
            "spec": {}, "status": {
                "conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": CREATED}],
                "resourceSummary": {"allocatable": {"cpu": "4k", "memory": "8Ti", "pods": "100k"},
                                    "allocated": {"cpu": "1k", "memory": "1Ti", "pods": "70k"}}}}


def manifests(policies, problems=None):
    """The objects of so many policies as a List, with PROBLEMS or others."""
    problems = PROBLEMS if problems is None else problems
    items = [member(f"member{n}") for n in (1, 2, 3)]
    of_policies = [problem for problem, count in problems.items() for _ in range(count)
                   if problem != "not_propagated"]
    # Those of one problem are in different namespaces.
    for number in range(policies):
        problem = of_policies[number] if number < len(of_policies) else None
        items += bound(number, problem)
        if problem == "dependency_conflict":
            items += dependency(f"team-{number % NAMESPACES}", f"shared-{number}",
                                (f"app-{number}", f"app-{number + NAMESPACES}"))
    for number in range(problems.get("not_propagated", 0)):
        items.append(deployment(f"team-{number}", f"lost-{number}", number))
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})
