# SPDX-License-Identifier: Apache-2.0
"""Changes of the demo's control plane: stories that repeat.

A story is a list of steps (seconds until the next, what happens in words, how). The step with
`PEAK` in front of its words is where the story's finding is to be seen.
"""
import datetime

from plane import ABORT
from scene import (GOOD_DRAFT, PAYMENTS, WEB, agree, draft, held, media, payments_on,
                   search_selects, store_policy, web_on)

PEAK = "! "


def conflict(plane):
    return [
        (25, "shop: app-a-policy and app-b-policy request the same values", lambda: agree(plane)),
        (100, PEAK + "shop: app-b-policy requests Abort and false; the values for my-config conflict "
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
        (70, "shop: the dependencies distributor works", recover),
        (30, PEAK + "shop: the dependencies distributor hangs; the binding of my-config keeps an "
             "outdated value", stall),
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
        (30, "payments: all templates run in member1, as the Lazy policy requires", back),
        (90, PEAK + "payments: the Lazy policy requires member2 and member3; six templates wait "
             "for their next change (boards Policy drift, Capacity review)", move),
        (25, "payments: users change api and ledger; these two move", touch("api", "ledger")),
        (25, "payments: the other four move", touch(*PAYMENTS[2:])),
    ]


def undetermined(plane):
    def spread():
        plane.policy("batch", "batch-policy", ["member1", "member2"], divide="Aggregated",
                     lazy=True)

    def back():
        plane.policy("batch", "batch-policy", ["member1"], divide="Aggregated", lazy=True)
    return [
        (50, "batch: the bindings have the values of the policy", back),
        (80, PEAK + "batch: the Lazy policy also allows member2; the scheduler's choice is "
             "undetermined", spread),
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
        (80, PEAK + "search: the policy no longer selects indexer and ranker, frontend has to leave member2, "
             "and Karmada does not act: all three are overdue", narrow),
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
        (15, "shop: the Deployment newcomer does not exist", leave),
        (60, PEAK + "shop: no policy selects the new Deployment newcomer: pending "
             "(board Overview)", arrive),
        (12, "shop: newcomer-policy selects newcomer; Karmada has not created the binding yet", govern),
        (40, "shop: newcomer has a binding", bind),
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
        (60, PEAK + "media: excludedResources excludes the namespace; bound templates are orphaned, "
             "new ones stay pending", migrate),
        (45, "media: a PropagationPolicy of the namespace governs the templates", take_over),
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
        (50, "cloud: Config Connector renews all leases", renew),
        (60, PEAK + "cloud: one lease has expired, one expires soon, and two objects manage "
             "the topic orders (board Config Connector leases)", lapse),
    ]


def lately(plane, act):
    """Does it as if ten minutes ago: shorter conditions count as a rollout."""
    before, plane.ago = plane.ago, plane.ago + datetime.timedelta(minutes=10)
    act()
    plane.ago = before


def outage(plane):
    return [
        (50, "edge: member4 is ready; a WorkloadRebalancer has moved relay back",
         lambda: plane.drain("member4", False)),
        (50, PEAK + "edge: member4 does not answer and is drained; relay moves to its fallback, and "
             "no cluster takes sensor: its last copy is at risk; beacon stays, and its status is "
             "unknown (board Delivery)",
         lambda: lately(plane, lambda: plane.drain("member4"))),
        (30, "edge: the evictions time out; relay stays on its fallback, sensor runs in no member cluster",
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
        (60, "store: every application is healthy in its member clusters", go_on),
        (80, PEAK + "store: member2 already has an object basket, stock exceeds its quota, the policy of "
             "offers names a missing cluster, a suspension delays prices, member3 has no gifts, "
             "reviews crashes",
         lambda: lately(plane, stop)),
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
        (25, "store: both member clusters run the newest version of pages", arrive),
        (4, "store: no member cluster has the new version of pages yet", change),
        (11, PEAK + "store: member1 rolls out the new version of pages, member2 runs the old one", reach),
    ]


def versions(plane):
    def say(clusters, *touched):
        def act():
            web_on(plane, *clusters)
            for name in touched:
                plane.touch("web", name)
        return act
    return [
        (20, "web: all eight templates run the present version of their Lazy policy", say(["member1"], *WEB)),
        (25, "web: the policy adds member2; users change home and login only",
         say(["member1", "member2"], "home", "login")),
        (25, "web: the policy drops member1; users change profile only", say(["member2"], "profile")),
        (70, PEAK + "web: the policy requires member3, and users change help only: four versions of the "
             "policy are in force (board Policy drift)", say(["member3"], "help")),
        (25, "web: users change all templates but two", say(["member3"], *WEB[:6])),
    ]


def mishaps(plane):
    def write(text):
        return lambda: draft(plane, text)
    odd = ("apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"
           "metadata: {name: odd, namespace: legacy}\nspec: {resourceSelectors: many}\n")
    return [
        (45, "drafts: half-written.yaml is valid", write(GOOD_DRAFT)),
        (20, "drafts: half-written.yaml has an invalid policy",
         write(GOOD_DRAFT + "---\n" + odd)),
        (45, PEAK + "drafts: a user saves half a file; its last valid content stays in force "
             "(board Exporter health)", write(GOOD_DRAFT + "---\nkind: [\n")),
    ]


STORIES = (conflict, unapplied, lazy, undetermined, overdue, pending, exclusion, leases, outage,
           holdups, rollout, versions, mishaps)


# Alerts of leftovers(), from the start to the end.
ALWAYS = ("KarmadaNotScheduled", "KarmadaPolicyBroken", "KarmadaPolicyNotInForce", "KarmadaPolicyReview")
# Alerts at the peak of each story; none where the exporter reports no problem.
ALERTS = {
    conflict: ("KarmadaDependencyPolicyConflict",),
    unapplied: ("KarmadaDependencyPolicyConflict",),
    lazy: ("KarmadaPolicyReview",),
    undetermined: ("KarmadaPolicyReview",),
    overdue: ("KarmadaPolicyNotInForce",),
    pending: ("KarmadaNotPropagated",),
    exclusion: ("KarmadaPolicyReview",),
    leases: ("KarmadaCloudResourceConflict", "KarmadaLeaseAtRisk"),
    outage: ("KarmadaLastCopyAtRisk", "KarmadaMemberClusterUnavailable"),
    holdups: ("KarmadaPlacementLost", "KarmadaNotDelivered", "KarmadaNotScheduled"),
    rollout: (),
    versions: ("KarmadaPolicyReview",),
    mishaps: ("KarmadaPolicyExporterDataIncomplete",),
}


def play_to_peak(plane, between=lambda: None):
    """Plays every story to its peak at once.

    `between` runs after each step, for callers that record each step, such as a history of versions.
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
