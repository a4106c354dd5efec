# SPDX-License-Identifier: Apache-2.0
"""What happens on the demo's control plane: a calm start, and stories that go round and round.

A story is a list of steps (seconds until the next, what happens in words, how). The step with
`PEAK` in front of its words is where the story's finding is to be seen.
"""
import datetime
import json

from plane import ABORT, OVERWRITE, placement

PEAK = "! "
PAYMENTS = ("api", "ledger", "gateway", "fraud", "invoices", "payouts")


def set_up(plane):
    """All is well, and was for some days; but for a few things that nobody ever cleaned up."""
    plane.ago = datetime.timedelta(days=3)
    plane.cluster("member1", "32", "128Gi", "20", "80Gi")
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


def conflict(plane):
    return [
        (25, "shop: app-a-policy and app-b-policy want the same", lambda: agree(plane)),
        (100, PEAK + "shop: app-b-policy now says Abort and false; my-config is in dispute "
              "(board Dependency conflicts)", lambda: agree(plane, ABORT, False)),
    ]


def unapplied(plane):
    def stall():
        plane.stuck.add("my-config")
        binding = plane.objects[("ResourceBinding", "shop", "my-config-configmap")]
        binding["spec"]["conflictResolution"] = ABORT
        plane.write(binding, "karmada-controller-manager")

    def recover():
        plane.stuck.discard("my-config")
        plane.settle()
    return [
        (70, "shop: the dependencies distributor is at work", recover),
        (30, PEAK + "shop: the dependencies distributor hangs; my-config keeps a value that the "
             "rules do not result in", stall),
    ]


def lazy(plane):
    def move():
        payments_on(plane, {"member2": 2, "member3": 1})

    def touch(*names):
        return lambda: [plane.touch("payments", name) for name in names]

    def back():
        payments_on(plane, {"member1": 1})
        touch(*PAYMENTS)()
    return [
        (30, "payments: everything is on member1, as its Lazy policy says", back),
        (90, PEAK + "payments: the Lazy policy moves to member2 and member3; six templates wait "
             "for their users (boards Policy drift, Capacity review)", move),
        (25, "payments: users touch api and ledger; these move", touch("api", "ledger")),
        (25, "payments: the other four move", touch(*PAYMENTS[2:])),
    ]


def undetermined(plane):
    def spread():
        plane.policy("batch", "batch-policy", ["member1", "member2"], divide="Aggregated",
                     lazy=True)

    def back():
        plane.policy("batch", "batch-policy", ["member1"], divide="Aggregated", lazy=True)
    return [
        (50, "batch: bindings are as the policy says", back),
        (80, PEAK + "batch: the Lazy policy allows member2 too; where the scheduler would put "
             "things cannot be told beforehand", spread),
    ]


def overdue(plane):
    def narrow():
        plane.stuck.update(("frontend", "indexer", "ranker"))
        search_selects(plane, "frontend", clusters=("member1",))

    def widen():
        plane.stuck.difference_update(("frontend", "indexer", "ranker"))
        search_selects(plane, "frontend", "indexer", "ranker")
    return [
        (40, "search: the policy selects all three Deployments", widen),
        (80, PEAK + "search: the selector lost indexer and ranker, frontend is to leave member2, and "
             "Karmada does not notice: all three are overdue", narrow),
    ]


def pending(plane):
    def arrive():
        plane.template("shop", "newcomer", replicas=1)

    def govern():
        plane.stuck.add("newcomer")
        plane.policy("shop", "newcomer-policy", ["member1"], selects=[{"name": "newcomer"}])

    def bind():
        plane.stuck.discard("newcomer")
        plane.settle()

    def leave():
        plane.stuck.discard("newcomer")
        for kind, name in (("PropagationPolicy", "newcomer-policy"), ("Deployment", "newcomer")):
            if (kind, "shop", name) in plane.objects:
                plane.delete(kind, "shop", name)
    return [
        (15, "shop: no newcomer", leave),
        (60, PEAK + "shop: a Deployment newcomer, and no policy for it: pending "
             "(board Pending and coverage)", arrive),
        (12, "shop: newcomer-policy is written; Karmada has not bound it yet", govern),
        (40, "shop: newcomer is bound", bind),
    ]


def exclusion(plane):
    def migrate():
        media(plane, excluded=[{"namespace": "media"}])
        plane.template("media", "subtitles", replicas=1)

    def take_over():
        plane.policy("media", "media-policy", ["member2"])
        plane.settle()

    def back():
        if ("PropagationPolicy", "media", "media-policy") in plane.objects:
            plane.delete("Deployment", "media", "subtitles")
            plane.delete("PropagationPolicy", "media", "media-policy")
        media(plane, excluded=[])
        plane.settle()
    return [
        (35, "media: the ClusterPropagationPolicy governs the namespace", back),
        (60, PEAK + "media: excludedResources takes the namespace out; what runs is orphaned, "
             "what is new stays pending", migrate),
        (45, "media: a PropagationPolicy of its own takes over", take_over),
    ]


def leases(plane):
    def renew():
        if ("PubSubTopic", "tools", "orders-copy") in plane.objects:
            plane.delete("PubSubTopic", "tools", "orders-copy")
        held(plane)

    def lapse():
        plane.topic("tools", "orders-copy", "orders")
        plane.leases("holder-of-cloud", orders=2300, events=600, audits=-60)
    return [
        (50, "cloud: leases are held and renewed", renew),
        (60, PEAK + "cloud: one lease has lapsed, one is about to, and a second object stands for "
             "the topic orders (board Config Connector leases)", lapse),
    ]


def outage(plane):
    return [
        (50, "edge: member4 is well; a WorkloadRebalancer has brought relay back",
         lambda: plane.drain("member4", False)),
        (50, PEAK + "edge: member4 does not answer and is drained; relay moves to its fallback, and "
             "no cluster takes sensor: its last copy is at risk; beacon tolerates it, and is out of "
             "sight (board From match to healthy)",
         lambda: plane.drain("member4")),
        (30, "edge: the evictions time out; relay stays on its fallback, sensor runs nowhere",
         plane.end_evictions),
    ]


def holdups(plane):
    def stop():
        plane.trouble |= {
            ("store", "basket"): {"messages": {"member2": (
                "Failed to apply all manifests (0/1): resource(kind=Deployment, store/basket) already "
                "exists in the cluster member2 and the work.karmada.io/conflict-resolution strategy "
                "value is empty, Karmada will not manage this resource")}},
            ("store", "stock"): {"failure": ("QuotaExceeded", (
                "FederatedResourceQuota(store/all) exceeded for resource cpu: requested sum 10, "
                "limit 2."))},
            ("store", "reviews"): {"health": {"member1": "Unhealthy"}},
            ("store", "gifts"): {"late": ("member3",)}}
        store_policy(plane, "prices",
                     suspension={"dispatchingOnClusters": {"clusterNames": ["member2"]}})
        store_policy(plane, "offers", ["member9"])
        store_policy(plane, "gifts", ["member1", "member2", "member3"])
        plane.touch("store", "prices")
        plane.template("store", "stock", replicas=20)

    def go_on():
        for name in ("basket", "stock", "reviews", "gifts"):
            plane.trouble.pop(("store", name), None)
        for name in ("prices", "offers", "gifts"):
            store_policy(plane, name)
        plane.template("store", "stock")
    return [
        (60, "store: every application is healthy where it should be", go_on),
        (80, PEAK + "store: an object is in the way of basket, stock is over its quota, no cluster is "
             "called as the policy of offers says, prices waits behind a suspension, gifts has not come "
             "to member3, reviews crashes",
         stop),
    ]


def rollout(plane):
    def change():
        plane.trouble["store", "pages"] = {"late": ("member1", "member2")}
        plane.touch("store", "pages")

    def reach():
        plane.trouble["store", "pages"] = {"late": ("member2",), "health": {"member1": "Rolling"}}
        plane.settle()

    def arrive():
        plane.trouble.pop(("store", "pages"), None)
        plane.settle()
    return [
        (25, "store: both members run the newest pages", arrive),
        (4, "store: a new version of pages, in no member yet", change),
        (11, PEAK + "store: member1 rolls out the new pages, member2 runs the old ones", reach),
    ]


def versions(plane):
    def say(clusters, *touched):
        def act():
            web_on(plane, *clusters)
            for name in touched:
                plane.touch("web", name)
        return act
    return [
        (20, "web: all eight run what their Lazy policy says", say(["member1"], *WEB)),
        (25, "web: the policy adds member2; only home and login are touched",
         say(["member1", "member2"], "home", "login")),
        (25, "web: the policy leaves member1; only profile is touched", say(["member2"], "profile")),
        (70, PEAK + "web: the policy moves to member3, and only help is touched: four versions of it "
             "are in force (board Policy drift)", say(["member3"], "help")),
        (25, "web: all but two are touched", say(["member3"], *WEB[:6])),
    ]


GOOD_DRAFT = "apiVersion: v1\nkind: Secret\nmetadata: {name: draft, namespace: kube-public}\n"


def draft(plane, text):
    path = plane.folder / "drafts" / "half-written.yaml"
    path.parent.mkdir(parents=True, exist_ok=True)
    # In place at once: between truncating and writing, an empty file is in order, too.
    beside = path.with_name(path.name + "~")
    beside.write_text(text)
    beside.rename(path)


def mishaps(plane):
    def write(text):
        return lambda: draft(plane, text)
    odd = ("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"
           "metadata: {name: odd, namespace: legacy}\nspec: {resourceSelectors: many}\n")
    return [
        (45, "drafts: half-written.yaml is in order", write(GOOD_DRAFT)),
        (20, "drafts: half-written.yaml has a policy that cannot be understood",
         write(GOOD_DRAFT + "---\n" + odd)),
        (20, PEAK + "drafts: somebody saves half a file; its last good content stays in force "
             "(board Exporter health)", write(GOOD_DRAFT + "---\nkind: [\n")),
    ]


STORIES = (conflict, unapplied, lazy, undetermined, overdue, pending, exclusion, leases, outage,
           holdups, rollout, versions, mishaps)


def play_to_peak(plane, between=lambda: None):
    """Every story up to its finding, at once: for those who cannot wait.

    Who has to see each step, as a history of versions does, waits `between` them.
    """
    told = []
    for story in STORIES:
        for _, words, act in story(plane):
            act()
            between()
            if words.startswith(PEAK):
                told.append(words[len(PEAK):])
                break
    return told
