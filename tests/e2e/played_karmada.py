# SPDX-License-Identifier: Apache-2.0
"""Karmada's part in a namespace where a reader of a guide works: claims, bindings, schedules and health of
Deployments, by the rules of the resource detector for PropagationPolicies (immediate and Lazy)."""
import copy
import time

from api_client import KARMADA, MERGE_PATCH
from cluster_karmada import KEY, POLICY_API, SCHEDULER, Repeating, Story

WEBHOOK = "karmada-webhook"


def now():
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def as_users_wrote(template):
    """The parts of a template whose change is a change by a user."""
    meta = template["metadata"]
    return copy.deepcopy([template["spec"]] + [
        {key: value for key, value in meta.get(field, {}).items() if ".karmada.io" not in key}
        for field in ("labels", "annotations")])


class PlayedKarmada(Story, Repeating):
    """Reacts to each change in the namespace until the block ends."""

    def __init__(self, server, namespace):  # pylint: disable=super-init-not-called
        self.server, self.client, self.namespace = server, server.admin.another(), namespace
        self.seen, self.generations, self.waiting = {}, {}, set()
        Repeating.__init__(self)

    def policies(self):
        found = self.client.list(POLICY_API, "PropagationPolicy", self.namespace)
        found = [{"apiVersion": POLICY_API, "kind": "PropagationPolicy", **policy} for policy in found]
        for policy in found:
            identity = {KEY + "permanent-id": policy["metadata"]["uid"]}
            if policy["metadata"].get("labels") != identity:
                self.client.patch(policy, {"metadata": {"labels": identity}}, WEBHOOK)
                policy["metadata"]["labels"] = identity
        return {policy["metadata"]["name"]: policy for policy in found}

    @staticmethod
    def selects(policy, template):
        return any(rule["kind"] == "Deployment" and rule.get("name", template["metadata"]["name"]) ==
                   template["metadata"]["name"] for rule in policy["spec"]["resourceSelectors"])

    def best(self, policies, template):
        fits = [policy for policy in policies.values() if self.selects(policy, template)]
        return min(fits, default=None, key=lambda policy: (-policy["spec"].get("priority", 0),
                                                           policy["metadata"]["name"]))

    def ready(self, cluster):
        """The member cluster answers, as the cluster status controller writes it."""
        if not cluster.get("status", {}).get("conditions"):
            cluster |= {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster"}
            condition = {"type": "Ready", "status": "True", "reason": "ClusterReady", "message": "",
                         "lastTransitionTime": now()}
            self.write_status(cluster, {"conditions": [condition]})

    def write_status(self, obj, status):
        self.client.request("PATCH", self.client.place(obj) + f"/status?fieldManager={SCHEDULER}",
                            {"status": status}, MERGE_PATCH)

    def look(self):
        for cluster in self.client.list("cluster.karmada.io/v1alpha1", "Cluster"):
            self.ready(cluster)
        policies = self.policies()
        changed = {name for name, policy in policies.items()
                   if self.generations.get(name) != policy["metadata"]["generation"]}
        for template in self.client.list("apps/v1", "Deployment", self.namespace):
            self.react({"apiVersion": "apps/v1", "kind": "Deployment", **template}, policies, changed)
        self.generations = {name: policy["metadata"]["generation"] for name, policy in policies.items()}

    def react(self, template, policies, changed):
        name = template["metadata"]["name"]
        claim = template["metadata"].get("annotations", {}).get(KEY + "name")
        policy = policies.get(claim)
        edited = self.seen.get(name) not in (None, as_users_wrote(template))
        self.seen[name] = as_users_wrote(template)
        if claim and not (policy and self.selects(policy, template)):
            self.disclaim(template)
            claim = None
        if claim:
            lazy = policy["spec"].get("activationPreference") == "Lazy"
            if edited or (claim in changed and not lazy):
                self.bind(template, policy)
            return
        best = self.best(policies, template)
        if not best:
            self.waiting.add(name)
        elif name in self.waiting and best["spec"].get("activationPreference") == "Lazy" and not edited:
            self.claim(template, best)
        else:
            self.bind(template, best)
        if best:
            self.waiting.discard(name)

    def disclaim(self, template):
        """Removes the claim from the template and from its binding."""
        for obj in (self.binding_of(template), template):
            if there := self.client.get(obj):
                self.client.patch(obj, {"metadata": {field: {key: None for key in there["metadata"].get(field, {})
                                                             if key.startswith(KEY)}
                                                     for field in ("labels", "annotations")}}, KARMADA)

    def bind(self, template, policy):
        """Binding, schedule, and healthy copies."""
        binding = self.apply(template, policy)
        names = policy["spec"]["placement"]["clusterAffinity"]["clusterNames"]
        self.write_status(self.binding_of(template), {
            "schedulerObservedGeneration": binding["metadata"]["generation"], "lastScheduledTime": now(),
            "conditions": [{"type": "Scheduled", "status": "True", "reason": "Success", "message": "",
                            "lastTransitionTime": now()}],
            "aggregatedStatus": [{"clusterName": name, "applied": True, "health": "Healthy"} for name in names]})
