# SPDX-License-Identifier: Apache-2.0
"""Manifests of a large control plane for tests of the pages: 30,000 templates of 120 namespaces, about
1,000 policies, 16 member clusters, and faults of many kinds.

A fault is a story of tests/stories/runbooks.py with names of its own. The same seed gives the same
objects. `world.py FOLDER` writes them."""
import json
import pathlib
import random
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "stories"), str(HERE.parent / "e2e")]
from exporter import Serving, wait_for  # noqa: E402
from runbooks import NS, STORIES, claim, item, permanent_id, status  # noqa: E402

TEMPLATES, NAMESPACES, HEALTHY_POLICIES = 30_000, 120, 500
LONGEST = 63  # Of a name that is a label too.
OWNER_KEY, OWNERS = "example.com/owner", 40
FLAGS = ("--owner-key", OWNER_KEY)
REGIONS = ("eu-west", "eu-central", "us-east", "ap-south")
MEMBERS = [f"{region}-{number}" for region in REGIONS for number in (1, 2, 3, 4)]
# Member clusters of these stories are not as the others are: they get names of their own.
OWN_MEMBERS = {"member_cluster_unavailable", "drift_exceeds_capacity"}
# These policies select nothing, which would be a problem of its own.
WITHOUT_OTHER_POLICY = {"not_propagated", "template_frozen", "orphaned"}
# Only the policies of these stories are of interest.
POLICIES_ONLY = {"policy_invalid", "policy_unused"}
# Problem, reason and number of the faults.
FAULTS = [
    ("last_copy_at_risk", "cluster_ready", 4), ("placement_lost", "cluster_gone", 6),
    ("cloud_resource_conflict", "multi_cluster_placement", 3),
    ("dependency_conflict", "ConflictResolution", 14),
    ("dependency_not_resolved", "ConflictResolution", 4),
    ("policy_not_in_force", "template_updated", 60), ("policy_not_in_force", "policy_updated", 10),
    ("template_frozen", "selector_mismatch", 32), ("template_frozen", "policy_gone", 8),
    ("not_propagated", "no_match", 45), ("not_propagated", "stuck", 12),
    ("not_scheduled", "no_cluster_fit", 40), ("not_scheduled", "quota_exceeded", 10),
    ("not_delivered", "refused", 40), ("not_delivered", "already_exists", 14),
    ("policy_invalid", "no_selector", 6), ("policy_invalid", "unwatched_version", 6),
    ("binding_name_collision", "taken", 5), ("reference_broken", "template_missing", 10),
    ("reference_broken", "required_by_missing", 6), ("member_cluster_unavailable", "not_ready", 2),
    ("member_cluster_unavailable", "gone", 1), ("unhealthy", "unavailable", 49), ("orphaned", "", 10),
    ("excluded", "", 8), ("deferred_too_long", "never_bound", 6), ("on_fallback", "", 5),
    ("two_copies_held", "", 3), ("change_suspended", "", 5), ("forbidden_placement", "binding", 4),
    ("drift_exceeds_capacity", "cpu", 2), ("conflict_predicted", "ConflictResolution", 6),
    ("value_overridden", "ConflictResolution", 6), ("policy_tie", "", 8), ("policy_outranked", "", 6),
    ("policy_unused", "", 25), ("duplicate_object", "", 4)]
# Words in the names of stories.
WORD = re.compile(r"\b(web|api|config|db|bad|idle|other|renamed)\b")


def long_name(name, number):
    """`name` with the number; each seventh is as long as a name may be."""
    if number % 7:
        return f"{name}-{number:03}"
    filler, end = "checkout-payments-reconciliation-of-the-european-storefront-backend", f"-{number:03}"
    return f"{name}-{filler}"[:LONGEST - len(end)].rstrip("-") + end


def namespace(number):
    return long_name("team", number)


def kind_of(one):
    return "policy" if one["kind"].endswith("PropagationPolicy") else \
        {"ResourceBinding": "binding", "Cluster": "cluster"}.get(one["kind"], "template")


class Large:
    """The objects by namespace, and the expected subject of each fault."""

    def __init__(self, seed=36):
        self.random = random.Random(seed)
        self.by_namespace = {namespace(n): [] for n in range(NAMESPACES)}
        self.clusters = {name: self.member(name) for name in MEMBERS}
        self.faults = []  # (problem, reason, kind, namespace or "", name)
        self.templates = self.policies = 0
        number = 0
        for problem, reason, count in FAULTS:
            for at in range(count):
                self.add_fault(problem, reason, number, namespace((number + at) % NAMESPACES))
                number += 1
        self.add_healthy()

    # ---- faults

    def add_fault(self, problem, reason, number, ns):
        story = STORIES[problem, reason]
        own = problem in OWN_MEMBERS
        members = [f"edge-site-{number:03}-a", f"edge-site-{number:03}-b"] if own else \
            self.random.sample(MEMBERS[:12], 2)
        names = {"member1": members[0], "member2": members[1], "member3": "decommissioned"}

        def renamed(text):
            text = WORD.sub(lambda word: long_name(word.group(), number), text)
            text = re.sub(r"\bmember[123]\b", lambda word: names[word.group()], text)
            text = re.sub(rf"\b{NS}\b", ns, text)
            return permanent_id(text[3:]) if text.startswith("id-") else text

        for one in self.changed(story["objects"], renamed):
            kind, name = kind_of(one), one["metadata"]["name"]
            if kind == "policy" and problem in WITHOUT_OTHER_POLICY and name.startswith("other-") or \
                    kind != "policy" and problem in POLICIES_ONLY:
                continue
            if kind == "cluster":
                if own:
                    self.clusters[name] = one
            elif one["metadata"].get("namespace") == ns:
                self.add(ns, one)
        self.templates -= problem == "duplicate_object"
        kind = story["kind"]
        self.faults.append((problem, reason, kind, "" if kind == "Cluster" else ns,
                            renamed(story["name"])))

    def changed(self, value, renamed):
        """The objects with other names, with times and with a status of each placed binding."""
        if isinstance(value, str):
            return renamed(value)
        if isinstance(value, list):
            return [self.changed(each, renamed) for each in value]
        if not isinstance(value, dict):
            return value
        value = {renamed(key) if key == NS else key: self.changed(each, renamed)
                 for key, each in value.items()}
        if "kind" in value and "metadata" in value:
            value["metadata"].setdefault("creationTimestamp", "2025-12-31T08:00:00Z")
            if value["kind"] == "ResourceBinding" and "status" not in value:
                value["status"] = status(aggregatedStatus=[
                    item(target["name"], "Healthy", applied=True)
                    for target in value["spec"].get("clusters", ())])
        for condition in value.get("conditions", ()):
            condition.setdefault("lastTransitionTime", self.time())
        return value

    def time(self):
        return (f"2025-0{self.random.randint(1, 6)}-{self.random.randint(1, 28):02}T"
                f"{self.random.randint(0, 23):02}:{self.random.randint(0, 59):02}:00Z")

    # ---- healthy objects

    def member(self, name):
        region = name.rpartition("-")[0]
        return {"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster",
                "metadata": {"name": name, "labels": {"region": region}},
                "spec": {"syncMode": "Push", "provider": "example", "region": region},
                "status": {"kubernetesVersion": "v1.34.1",
                           "conditions": [{"type": "Ready", "status": "True",
                                           "lastTransitionTime": self.time()}],
                           "resourceSummary": {
                               "allocatable": {"cpu": "20k", "memory": "80Ti", "pods": "200k"},
                               "allocated": {"cpu": f"{self.random.randint(2, 15)}k",
                                             "memory": f"{self.random.randint(5, 60)}Ti",
                                             "pods": f"{self.random.randint(20, 150)}k"}}}}

    def add_healthy(self):
        missing = TEMPLATES - self.templates
        for number in range(HEALTHY_POLICIES):
            ns, name = namespace(number % NAMESPACES), long_name("app", number)
            clusters = self.random.sample(MEMBERS[:12], self.random.choice((1, 1, 1, 2, 3)))
            placement = {"clusterAffinity": {"clusterNames": clusters}}
            self.add(ns, {
                "apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
                "metadata": {"name": name, "namespace": ns, "creationTimestamp": "2025-12-31T08:00:00Z",
                             "labels": self.claim_of(name, ns)["labels"]},
                "spec": {"placement": placement, "resourceSelectors": [
                    {"apiVersion": api_version, "kind": kind,
                     "labelSelector": {"matchLabels": {"part-of": name}}}
                    for api_version, kind in (("apps/v1", "Deployment"), ("v1", "Service"))]}})
            count = missing // HEALTHY_POLICIES + (number < missing % HEALTHY_POLICIES)
            for at in range(count):
                self.add_bound(ns, name, placement, number * 100 + at)

    @staticmethod
    def claim_of(name, ns):
        made = claim(name)
        made["annotations"]["propagationpolicy.karmada.io/namespace"] = ns
        return made

    def add_bound(self, ns, policy, placement, number):
        """A healthy template of a policy, and its binding."""
        kind, api_version = ("Service", "v1") if number % 4 == 0 else ("Deployment", "apps/v1")
        name = f"{long_name('entry' if kind == 'Service' else 'storefront', number)}"
        replicas = 0 if kind == "Service" else self.random.randint(1, 6)
        made = self.claim_of(policy, ns)
        self.add(ns, {"apiVersion": api_version, "kind": kind, "metadata": {
            "name": name, "namespace": ns, "creationTimestamp": "2025-12-31T09:00:00Z",
            "labels": {**made["labels"], "part-of": policy}, "annotations": made["annotations"]},
            "spec": {"replicas": replicas} if replicas else {}})
        targets = placement["clusterAffinity"]["clusterNames"]
        needs = {"replicas": replicas, "replicaRequirements": {"resourceRequest": {
            "cpu": "250m", "memory": "512Mi"}}} if replicas else {}
        self.add(ns, {
            "apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": f"{name}-{kind.lower()}", "namespace": ns, "labels": made["labels"],
                         "annotations": {**made["annotations"],
                                         "policy.karmada.io/applied-placement": json.dumps(placement)}},
            "spec": {"resource": {"apiVersion": api_version, "kind": kind, "namespace": ns, "name": name},
                     "placement": placement, **needs, "clusters": [
                         {"name": target, **({"replicas": replicas} if replicas else {})}
                         for target in targets]},
            "status": status(aggregatedStatus=[item(target, "Healthy", applied=True)
                                               for target in targets])})

    def add(self, ns, one):
        kind = kind_of(one)
        self.policies += kind == "policy"
        if kind == "template":
            self.templates += 1
            one["metadata"].setdefault("labels", {})[OWNER_KEY] = \
                f"owner-{self.random.randrange(OWNERS)}"
        self.by_namespace[ns].append(one)

    # ---- output

    def write(self, folder):
        """A file for each namespace, and one for the member clusters."""
        for name, items in {**self.by_namespace, "clusters": list(self.clusters.values())}.items():
            (pathlib.Path(folder) / f"{name}.json").write_text(
                json.dumps({"apiVersion": "v1", "kind": "List", "items": items}))


class ServedWorld(Serving):
    """An exporter that serves the objects from a folder that the caller removes."""

    def __init__(self, folder, *flags, world=None):
        self.world = world or Large()
        self.world.write(folder)
        super().__init__("--manifests", folder, *FLAGS, *flags)
        wait_for("being ready", self.ready, 120)


if __name__ == "__main__":
    pathlib.Path(sys.argv[1]).mkdir(parents=True, exist_ok=True)
    Large().write(sys.argv[1])
