# SPDX-License-Identifier: Apache-2.0
"""What is there on the demo's control plane before any story: policies and templates of a few teams,
all as it should be, but for what was left behind long ago."""
import datetime
import json

from plane import ABORT, OVERWRITE, placement

PAYMENTS = ("api", "ledger", "gateway", "fraud", "invoices", "payouts")


def set_up(plane):
    """All is well, and was for some days; but for a few things that nobody ever cleaned up."""
    plane.ago = datetime.timedelta(days=3)
    plane.cluster("member1", "32", "128Gi", "20", "80Gi",
                  {"cpu": "1500m", "memory": "2Gi", "pods": "3"})
    plane.cluster("member2", "16", "64Gi", "9", "30Gi")
    plane.cluster("member3", "8", "32Gi", "6", "20Gi")
    plane.cluster("member4", "4", "16Gi", "1", "4Gi")
    agree(plane)
    plane.config_map("shop", "my-config")
    for name in ("app-a", "app-b"):
        plane.template("shop", name, mounts="my-config")
    payments_on(plane, {"member1": 1})
    for name in PAYMENTS:
        plane.template("payments", name, replicas=4, cpu="500m", memory="1Gi")
    search_selects(plane, "frontend", "indexer", "ranker")
    for name in ("frontend", "indexer", "ranker"):
        plane.template("search", name, replicas=3)
    plane.policy("batch", "batch-policy", ["member1"], divide="Aggregated", lazy=True)
    for name in ("nightly", "hourly"):
        plane.template("batch", name, replicas=6, cpu="1", memory="2Gi")
    media(plane, excluded=[])
    for name in ("encoder", "player", "thumbnails"):
        plane.template("media", name, replicas=2)
    leftovers(plane)
    cloud(plane)
    edge(plane)
    store(plane)
    web_on(plane, "member1")
    for name in WEB:
        plane.template("web", name)
    # In order before anybody reads it: what is broken later keeps this content.
    draft(plane, GOOD_DRAFT)
    plane.ago = datetime.timedelta()


def leftovers(plane):
    plane.policy("legacy", "retired-policy", ["member3"], selects=[{"name": "reports"}])
    plane.template("legacy", "reports", replicas=2)
    plane.policy("legacy", "lost-policy", ["member3"], selects=[{"name": "audit"}])
    plane.template("legacy", "audit")
    plane.stuck.add("audit")
    for name in ("retired-policy", "lost-policy"):
        plane.delete("PropagationPolicy", "legacy", name)
    plane.policy("legacy", "selects-nothing", ["member3"], selects=[{"name": "renamed-long-ago"}])
    plane.policy("legacy", "broken-selector", ["member3"], selects=[{
        "labelSelector": {"matchExpressions": [{"key": "app", "operator": "Is"}]}}])
    # Its claim was there first; the one with the higher priority does not preempt.
    plane.policy("", "default-low", ["member1"], selects=[{"namespace": "tools"}])
    plane.template("tools", "wiki")
    plane.template("kube-system", "coredns")
    plane.policy("", "default-high", ["member2"], selects=[{"namespace": "tools"}], priority=5)
    # Two ConfigMaps as in seed 000, one with a policy of its own, one with a referrer that is gone.
    plane.policy("tools", "flags-policy", ["member1"], conflictResolution=ABORT, selects=[
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "flags"}])
    plane.config_map("tools", "flags")
    for name in ("ci", "chat"):
        plane.policy("tools", f"{name}-policy", ["member1"], selects=[{"name": name}],
                     conflictResolution=OVERWRITE)
        plane.template("tools", name, mounts="flags")
    plane.stuck.add("flags")
    binding = plane.objects[("ResourceBinding", "tools", "flags-configmap")]
    binding["spec"]["requiredBy"].append({"namespace": "tools", "name": "gone-deployment"})
    plane.write(binding, "karmada-controller-manager")
    # The scheduler has not looked at this one again.
    binding = plane.objects[("ResourceBinding", "tools", "ci-deployment")]
    binding["metadata"]["annotations"]["policy.karmada.io/applied-placement"] = json.dumps(
        placement(["member2"], "Duplicated"))
    plane.asleep.add(("tools", "ci"))
    plane.write(binding)
    plane.report()


def cloud(plane):
    """Topics that Config Connector keeps in the cloud, and whose id holds their leases."""
    plane.policy("cnrm-system", "ids-policy", ["member1"], selects=[
        {"apiVersion": "v1", "kind": "ConfigMap", "name": "namespace-id"}])
    plane.config_map("cnrm-system", "namespace-id", cloud="holder-of-cloud")
    plane.policy("", "cloud-cpp", ["member1"], selects=[
        {"apiVersion": "pubsub.cnrm.cloud.google.com/v1beta1", "kind": "PubSubTopic"}])
    for name in ("orders", "events", "audits"):
        plane.topic("cloud", name, name)
    held(plane)


def edge(plane):
    plane.policy("edge", "relay-policy", [], selects=[{"name": "relay"}], placement={
        "clusterAffinities": [{"affinityName": "near", "clusterNames": ["member4"]},
                              {"affinityName": "far", "clusterNames": ["member2"]}]})
    plane.policy("edge", "sensor-policy", ["member4"], selects=[{"name": "sensor"}])
    plane.policy("edge", "beacon-policy", [], selects=[{"name": "beacon"}], placement={
        "clusterAffinity": {"clusterNames": ["member4"]}, "clusterTolerations": [{"operator": "Exists"}]})
    for name in ("relay", "sensor", "beacon"):
        plane.template("edge", name, replicas=1)


STORE = ("basket", "prices", "stock", "offers", "reviews", "gifts", "pages")


def store(plane):
    for name in STORE:
        store_policy(plane, name)
        plane.template("store", name)


def store_policy(plane, name, clusters=("member1", "member2"), **spec):
    plane.policy("store", f"{name}-policy", clusters, selects=[{"name": name}], **spec)


WEB = ("home", "login", "profile", "help", "terms", "blog", "press", "jobs")


def web_on(plane, *clusters):
    plane.policy("web", "web-policy", clusters, lazy=True)


def held(plane):
    plane.leases("holder-of-cloud", orders=2300, events=2000, audits=1800)


def agree(plane, other=OVERWRITE, preserve=True):
    for name, resolution, keep in (("app-a", OVERWRITE, True), ("app-b", other, preserve)):
        plane.policy("shop", f"{name}-policy", {"member1": 1, "member2": 1},
                     selects=[{"name": name}], conflictResolution=resolution,
                     preserveResourcesOnDeletion=keep)


def payments_on(plane, clusters):
    plane.policy("payments", "payments-policy", clusters, lazy=True)


def search_selects(plane, *names, clusters=("member1", "member2")):
    plane.policy("search", "search-policy", clusters,
                 selects=[{"name": name} for name in names])


def media(plane, excluded):
    plane.policy("", "media-cpp", ["member1", "member2"],
                 selects=[{"namespace": "media"}], excludedResources=excluded)


GOOD_DRAFT = "apiVersion: v1\nkind: Secret\nmetadata: {name: draft, namespace: kube-public}\n"


def draft(plane, text):
    path = plane.folder / "drafts" / "half-written.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    # In place at once: between truncating and writing, an empty file is in order, too.
    beside = path.with_name(path.name + "~")
    beside.write_text(text)
    beside.rename(path)
