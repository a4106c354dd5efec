# SPDX-License-Identifier: Apache-2.0
"""All that the program says in JSON of the object sets that there are: reports and plans."""
import copy
import functools
import gzip
import json
import pathlib
import subprocess
import sys
import time

import yaml

from changed import changed
from exporter import FIXTURES, Folder, PROGRAM, ROOT, Serving, check, equal, fetch, wait_for
from karmada_schemas import definitions
from recorded import recorded

sys.path.append(str(ROOT / "tests/stories"))
from foretold import Picture, plan, users  # noqa: E402

DEMO = ROOT / "exporter/manifests/demo"
STEPS = ROOT / "tests/fixtures/recordings/steps.json.gz"
# Those of tests/fixtures/golden.
GOLDENS = ("assorted", "capacity", "derived", "empty", "observed", "unapplied", "versions")


def in_list(items):
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


def golden_objects(name):
    said = json.loads((ROOT / f"tests/fixtures/golden/{name}.json").read_text())
    return said["items"] if isinstance(said, dict) else said


# What was left behind when nothing required it any more, and an object that is declared twice.
ODD = [{"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
        "metadata": {"name": "left-configmap", "namespace": "default"},
        "spec": {"conflictResolution": "Overwrite", "resource": {
            "apiVersion": "v1", "kind": "ConfigMap", "namespace": "default", "name": "left"}}},
       *[{"apiVersion": "v1", "kind": "ConfigMap",
          "metadata": {"name": "twice", "namespace": "default", "labels": {"team": "blue"}}}] * 2]


def connector_objects():
    """Two that stand for one cloud resource, and one whose kind has no labels."""
    api = "cnrm.cloud.google.com"
    for kind, ns, name in (("PubSubTopic", "team-a", "t"), ("PubSubTopic", "team-b", "t"),
                           ("IAMPolicyMember", "team-a", "member")):
        group = {"PubSubTopic": "pubsub", "IAMPolicyMember": "iam"}[kind]
        yield {"apiVersion": f"{group}.{api}/v1beta1", "kind": kind, "spec": {},
               "metadata": {"name": name, "namespace": ns, "annotations": {
                   f"{api}/project-id": "p", f"{api}/management-conflict-prevention-policy": "resource"}}}
    yield {"apiVersion": "v1", "kind": "ConfigMap", "data": {"team-a": "aaa", "team-b": "bbb"},
           "metadata": {"name": "namespace-id", "namespace": "cnrm-system"}}


def asset(name, **labels):
    return json.dumps({"name": f"//pubsub.googleapis.com/projects/p/topics/{name}",
                       "asset_type": "pubsub.googleapis.com/Topic",
                       "resource": {"data": {"labels": {"managed-by-cnrm": "true", **labels}}}}) + "\n"


def suppressed(folder):
    """The report of two problems: one is in the baseline, and an exception covers the other one."""
    def unused(name):
        return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
                "metadata": {"name": name, "namespace": "default"},
                "spec": {"resourceSelectors": [{"apiVersion": "v1", "kind": "Secret", "name": name}]}}

    baseline = folder.write("baseline.json", check(
        "-o", "json", folder.write("known.json", json.dumps(unused("known")))).stdout)
    exceptions = folder.write("exceptions.yaml", "\n".join((
        "- problem: policy_unused", "  object: pp/default/accepted", "  reason: r", "  until: 2999-12-31")))
    done = check("-o", "json", "--baseline", baseline, "--exceptions", exceptions,
                 folder.write("suppressed.json", in_list([unused("known"), unused("accepted")])))
    return "suppressed", json.loads(done.stdout)


def checked():
    """(of what, the report of it): each set of objects that there is."""
    def report(*arguments):
        done = check("--output", "json", *arguments)
        assert done.stdout and done.returncode in (0, 1, 2), (arguments, done.stderr)
        return str(arguments[-1]), json.loads(done.stdout)

    with Folder() as folder:
        for name in GOLDENS:
            path = folder.write(f"{name}.json", in_list(golden_objects(name)))
            yield report(path)
            yield report("--karmada.version", "1.15", path)
        yield report("--owner-key", "team", folder.write("odd.json", in_list(ODD)))
        assets = folder.write("assets", asset("t", **{
            "cnrm-lease-holder-id": "aaa", "cnrm-lease-expiration": str(int(time.time() + 2000))}) +
            asset("free"))
        yield report("--configconnector.asset-file", assets,
                     folder.write("connector.json", in_list(list(connector_objects()))))
        yield report(folder.write("broken.yaml", "a: [b\n"))
        yield suppressed(folder)
        path, policy = by_release(folder)
        yield report(folder.write("unbound.json", in_list([*unbound(path), policy])))
        yield report(folder.write("suspended.json", in_list([*unbound(path), suspended(moved(policy, "m1"))])))
    for path in (FIXTURES / "conflict", FIXTURES / "plan", DEMO, ROOT / "tests/fixtures/web-config"):
        yield report(path)
    with recorded() as folder:
        for step in sorted([*folder.glob("*/*/"), *STEPS.parent.glob("*/*/")]):
            yield report(step)


def served():
    """The report of what runs: versions of a policy that were seen to come, and of one that nobody
    wrote."""
    def read():
        status, text = fetch(serving.url + "/api/v1/report")
        equal(status, 200)
        return json.loads(text)

    def template(name):
        return next(row for row in read()["templates"] if row["name"] == name)

    objects = changed("m1")
    policy = next(o for o in objects if o["kind"] == "PropagationPolicy")
    binding = next(o for o in objects if o["kind"] == "ResourceBinding")
    with Folder() as folder:
        folder.write("x.json", in_list(objects))
        with Serving("--manifests", folder.path) as serving:
            serving.wait_until_ready()
            yield "served", read()
            binding["spec"]["placement"] = {"clusterAffinity": {"clusterNames": ["by-hand"]}}
            folder.write("x.json", in_list(objects))
            wait_for("the binding", lambda: template("web").get("versionUnknown"))
            del policy["metadata"]["managedFields"]
            policy["spec"]["placement"] = {"clusterAffinity": {"clusterNames": ["m3"]}}
            folder.write("x.json", in_list(objects))
            wait_for("the policy", lambda: len(read()["policies"][0]["versions"]) == 3)
            yield "served", read()


RECORDINGS = ROOT / "tests/fixtures/recordings"
BY_RELEASE = ROOT / "tests/fixtures/cases/by-release"
LAZY = RECORDINGS / "d-lazy"
REFERRERS = RECORDINGS / "a-conflict-both/02-conflict"
AGGREGATED = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Aggregated"}
FAIL_ON_PLAN = ("dependency_conflict,policy_not_in_force,not_propagated,orphaned,"
                "move,lost,wait,overflow,undetermined,unsettled,nowhere,refused,ignored,not_simulated")
ELSEWHERE = {"clusterNames": ["member1", "member3"]}


def plan_of(*arguments):
    done = subprocess.run([PROGRAM, "plan", "-o", "json", *map(str, arguments)],
                          capture_output=True, text=True, timeout=60, check=False)
    said = json.loads(done.stdout)
    equal((done.returncode, done.stderr), (1 if said.get("fails") else 0, ""))
    return " ".join(map(str, arguments)), said


def moved(policy, *clusters, **scheduling):
    """The policy with another placement."""
    placement = {"clusterAffinity": {"clusterNames": [*clusters]}, **scheduling}
    return {**policy, "spec": {**policy["spec"], "placement": placement}}


def suspended(policy):
    """The policy with suspended dispatching."""
    return {**policy, "spec": {**policy["spec"], "suspension": {"dispatching": True}}}


def planned_with_referrers():
    """Plans of a ConfigMap that two Deployments require: one of them without certain clusters, before or
    after the change; a Lazy policy of its own; without a binding; and a Deployment whose copies stay."""
    aggregated = {"replicaScheduling": AGGREGATED}
    recorded_policies = json.loads((REFERRERS / "propagationpolicies.json").read_text())["items"]
    first, second = sorted(recorded_policies, key=lambda policy: policy["metadata"]["name"])
    meta = {"name": "lazy", "namespace": first["metadata"]["namespace"]}
    lazy = {"apiVersion": first["apiVersion"], "kind": first["kind"], "metadata": meta, "spec": {
        "activationPreference": "Lazy", "placement": {"clusterAffinity": ELSEWHERE},
        "resourceSelectors": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "my-config"}]}}
    bindings = json.loads((REFERRERS / "resourcebindings.json").read_text())["items"]
    with Folder() as folder:
        change = folder.write("change.json", in_list([lazy, moved(first, "member2", "member3", **aggregated)]))
        yield plan_of("-f", change, REFERRERS)
        change = folder.write("change.json", in_list([lazy, suspended(moved(first, "member2"))]))
        yield plan_of("-f", change, REFERRERS)
        yield plan_of("--delete", f"deployment/{meta['namespace']}/app-a", REFERRERS)
        bound = folder.write("bindings.json", in_list([one for one in bindings if one["metadata"]["name"] ==
                                                       "app-b-deployment"]))
        files = [REFERRERS / f"{name}.json" for name in ("configmaps", "deployments", "propagationpolicies")]
        yield plan_of("-f", folder.write("change.json", in_list([moved(second, "member2")])), bound, *files)
        manifests = list(filter(None, yaml.safe_load_all((DEMO / "conflict.yaml").read_text())))
        first, second = (one for one in manifests if one["kind"] == "PropagationPolicy")
        first["spec"] = moved(first, "member1", "member2", **aggregated)["spec"]
        path = folder.write("manifests.json", in_list(manifests))
        for policy in first, second:
            yield plan_of("-f", folder.write("change.json", in_list([moved(policy, "member3")])), path)
        second["spec"] = suspended(second)["spec"]
        path = folder.write("suspended.json", in_list(manifests))
        yield plan_of("-f", folder.write("change.json", in_list([moved(second, "member3")])), path)


def by_release(folder):
    """Two Clusters and a policy that the releases 1.15 and 1.16, which have equal schemas, divide differently."""
    path = folder.write("by-release.json", in_list(
        [*json.loads((BY_RELEASE / "delete-cluster.json").read_text())["items"], *definitions("v1.15.0")]))
    weights = [{"targetCluster": {"clusterNames": [name]}, "weight": weight} for name, weight in (("m1", 1), ("m2", 4))]
    policy, = (each for each in json.loads((BY_RELEASE / "delete-cluster.json").read_text())["items"]
               if each["kind"] == "PropagationPolicy")
    scheduling = {"replicaSchedulingType": "Divided", "replicaDivisionPreference": "Weighted",
                  "weightPreference": {"staticWeightList": weights}}
    return path, moved(policy, "m1", "m2", replicaScheduling=scheduling)


def unbound(path):
    """The objects of by_release() without the policy, the binding, and the claim of the template."""
    for each in json.loads(pathlib.Path(path).read_text())["items"]:
        if each["kind"] == "Deployment":
            each["metadata"] = {"name": each["metadata"]["name"], "namespace": each["metadata"]["namespace"]}
        if each["kind"] not in ("ResourceBinding", "PropagationPolicy"):
            yield each


def planned_by_release():
    """Plans in which the release decides: before the change, after it, and at the next change."""
    with Folder() as folder:
        path, policy = by_release(folder)
        change = folder.write("change.json", in_list([policy]))
        lazy = {**policy, "spec": {**policy["spec"], "activationPreference": "Lazy"}}
        yield plan_of("-f", change, path)
        yield plan_of("-f", folder.write("lazy.json", in_list([lazy])), path)
        objects = json.loads(pathlib.Path(path).read_text())["items"]
        for each in objects:
            if each["kind"] == "ResourceBinding":
                each["spec"]["suspension"] = {"scheduling": True}
        waits = folder.write("waits.json", in_list(objects))
        yield plan_of("-f", folder.write("lazy.json", in_list([suspended(lazy)])), waits)
        target = folder.write("unbound.json", in_list([*unbound(path), policy]))
        yield plan_of("-f", folder.write("change.json", in_list([moved(policy, "m1")])), target)


def planned_drills():
    """Plans of an upgrade, and of lost member clusters, from which Karmada evicts or does not."""
    steps = json.loads(gzip.decompress(STEPS.read_bytes()))
    objects = steps["s-cluster-down/06-evicting"]["objects"]
    with Folder() as folder:
        before = folder.write("before.json", in_list(steps["s-cluster-down/01-all-healthy"]["objects"]))
        tainted = folder.write("tainted.json", in_list(
            [each for each in objects if each["kind"] == "Cluster"]))
        yield plan_of("--to-karmada", "1.19", "--karmada.version", "1.15", FIXTURES / "drills/upgrade-1.15.json")
        for gates in ("", "Failover=true"):
            yield plan_of("--lose", "member3", "--karmada.feature-gates", gates, "-f", tainted, before)


def limited(replicas, limit, *clusters, **policy):
    """A namespace with a quota of CPU, a policy, and a Deployment that requests a core for each replica."""
    def of_namespace(api_version, kind, spec):
        return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "web", "namespace": "shop"}, "spec": spec}
    api = "policy.karmada.io/v1alpha1"
    return [
        of_namespace(api, "FederatedResourceQuota", {"overall": {"cpu": limit}}),
        of_namespace(api, "PropagationPolicy", {
            "resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment"}],
            "placement": {"clusterAffinity": {"clusterNames": clusters}}, **policy}),
        of_namespace("apps/v1", "Deployment", {"replicas": replicas, "template": {"spec": {"containers": [
            {"name": "web", "resources": {"requests": {"cpu": 1}}}]}}}),
        *({"apiVersion": "cluster.karmada.io/v1alpha1", "kind": "Cluster", "metadata": {"name": name}}
          for name in ("m1", "m2"))]


def planned_with_quota():
    """Plans in which a quota refuses the template: before the change, after it, and at the next change."""
    gate = ("--karmada.feature-gates", "FederatedQuotaEnforcement=true")
    lazy = {"activationPreference": "Lazy"}
    with Folder() as folder:
        for before, after in ((limited(2, 1, "m1"), limited(2, 2, "m1")), (limited(2, 3, "m1"), limited(4, 3, "m1")),
                              (limited(2, 3, "m1", **lazy), limited(2, 3, "m1", "m2", **lazy))):
            change = [each for each in after if each not in before]
            yield plan_of(*gate, "-f", folder.write("change.json", in_list(change)),
                          folder.write("before.json", in_list(before)))


def planned():
    """(of what, the plan of it): changes of the fixtures, and of each policy of the golden objects."""
    yield plan_of("-f", DEMO, DEMO)
    yield plan_of("--delete", "propagationpolicy/app-b-policy", DEMO)
    yield plan_of("--karmada.version", "1.15", "-f", FIXTURES / "plan/app-b-aligned.yaml", DEMO)
    for change in sorted((FIXTURES / "plan").iterdir()):
        yield plan_of("-f", change, DEMO)
    yield from planned_with_referrers()
    yield from planned_by_release()
    yield from planned_drills()
    yield from planned_with_quota()
    with Folder() as folder:
        lazy = json.loads((LAZY / "04-policy-updated/propagationpolicies.json").read_text())
        for policy in lazy["items"]:
            policy["spec"]["placement"]["replicaScheduling"] = AGGREGATED
        yield plan_of("-f", folder.write("lazy.json", json.dumps(lazy)), LAZY / "03-template-touched")
        for name in GOLDENS:
            objects = golden_objects(name)
            path = folder.write(f"{name}.json", in_list(objects))
            for policy in objects:
                if not policy["kind"].endswith("PropagationPolicy"):
                    continue
                meta = policy["metadata"]
                names = filter(None, (policy["kind"], meta.get("namespace"), meta["name"]))
                yield plan_of("--delete", "/".join(names), path, "--fail-on", FAIL_ON_PLAN)
                other = copy.deepcopy(policy)
                other["spec"].setdefault("placement", {})["clusterAffinity"] = ELSEWHERE
                yield plan_of("-f", folder.write("change.json", json.dumps(other)), path)


def foretold():
    """What users changed between the steps of recordings, there and back."""
    steps = json.loads(gzip.decompress(STEPS.read_bytes()))
    names = sorted(steps)
    for before, after in zip(names, names[1:]):
        old, new = steps[before]["objects"], steps[after]["objects"]
        if before.split("/")[0] != after.split("/")[0] or users(old) == users(new):
            continue
        first, second = Picture(old), Picture(new)
        yield f"{before} to {after}", plan(first, second)
        yield f"{after} to {before}", plan(second, first)


@functools.cache
def all_reports():
    return [*checked(), *served()]


@functools.cache
def all_plans():
    return [*planned(), *foretold()]
