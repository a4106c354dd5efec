# SPDX-License-Identifier: Apache-2.0
"""Conflicts about dependencies at a real API server, as Karmada before 1.16 leaves them: bindings
and no Event; and exporters that may write it."""
import time

from api_client import KARMADA
from cluster_stage import Watching
from exporter import equal, wait_for
from rbac import granted, role

SAYS = "Dependency policy conflict detected: "
RESOLUTION = "ConflictResolution conflicted (Overwrite vs Abort)"
PRESERVE = "PreserveResourcesOnDeletion conflicted (true vs false)"
OURS, THEIRS = "karmada-policy-exporter", "dependencies-distributor"
NAMESPACE, LEASE = "karmada-system", "karmada-policy-exporter-events"
LEASE_S = 3
# Two thirds of it may have passed when its holder dies; then it lasts, and who waits asks each 0.4 s.
HAND_OVER_S = 2 * LEASE_S + 6
BEFORE_1_16 = ("--karmada.version", "1.15")
EMIT = ("--events.emit", "--events.lease-duration", f"{LEASE_S}s")


def namespace(name):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def binding(name, kind, spec):
    return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
            "metadata": {"name": f"{name}-{kind.lower()}", "namespace": "default"},
            "spec": {"resource": {"apiVersion": "v1" if kind == "ConfigMap" else "apps/v1",
                                  "kind": kind, "namespace": "default", "name": name}, **spec}}


def referrer(name, resolution, preserve):
    return binding(name, "Deployment", {
        "placement": {"clusterAffinity": {"clusterNames": ["member1"]}}, "propagateDeps": True,
        "conflictResolution": resolution, "preserveResourcesOnDeletion": preserve,
        "clusters": [{"name": "member1", "replicas": 1}], "replicas": 1})


def attached(name, *referrers):
    return binding(name, "ConfigMap", {
        "conflictResolution": "Abort",
        "requiredBy": [{"namespace": "default", "name": f"{r}-deployment"} for r in referrers]})


def write_referrers(client):
    """What conflicts are made of: those that need a ConfigMap, and what they want for it."""
    client.create_all([referrer("overwrites", "Overwrite", False),
                       referrer("aborts", "Abort", False),
                       referrer("preserves", "Overwrite", True)], KARMADA)


def karmadas_event(about, message):
    """As Karmada 1.16 writes it about a binding that is there."""
    meta = about["metadata"]
    return {"apiVersion": "v1", "kind": "Event", "type": "Warning", "count": 1,
            "reason": "DependencyPolicyConflict", "message": message,
            "metadata": {"name": f"{meta['name']}.18a1b2c3d4e5f607", "namespace": "default"},
            "involvedObject": {"apiVersion": about["apiVersion"], "kind": about["kind"],
                               "namespace": "default", "name": meta["name"], "uid": meta["uid"]},
            "source": {"component": THEIRS}, "reportingComponent": THEIRS,
            "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z"}


def may_emit(user):
    """The role that --events.emit takes, beside the one to read, and that the user has it."""
    events = role(f"{user}-emits", ["get", "create", "patch"], [""], ["events"])
    events["rules"] += role("", ["get", "create", "update"], ["coordination.k8s.io"],
                            ["leases"])["rules"]
    return events, granted(f"{user}-emits", user)


class Conflicts:
    """What is in conflict, and what Events say so."""

    def __init__(self, client):
        self.client = client

    def begin(self, name, *referrers):
        """The binding with its uid."""
        return self.client.apply(attached(name, *(referrers or ("overwrites", "aborts"))), KARMADA)

    def events(self, name=None):
        """[(component, message, count)] of a binding, or of all of them."""
        return sorted((e["source"]["component"], e["message"], e["count"])
                      for e in self.client.list("v1", "Event", "default")
                      if e["reason"] == "DependencyPolicyConflict"
                      and name in (None, e["involvedObject"]["name"][:-len("-configmap")]))

    def wait(self, name, wanted, patience_s=20):
        return wait_for(f"{wanted} of {name}, not {self.events(name)}",
                        lambda: self.events(name) == wanted, patience_s)

    def stay(self, name, wanted, for_s=1.5):
        until = time.monotonic() + for_s
        while time.monotonic() < until:
            assert self.events(name) == wanted, (name, self.events(name), wanted)
            time.sleep(0.05)

    def lease(self, name=LEASE):
        found = self.client.get({"apiVersion": "coordination.k8s.io/v1", "kind": "Lease",
                                 "metadata": {"name": name, "namespace": NAMESPACE}})
        return found["spec"] if found else None


class Emitting(Watching):
    """An exporter that writes Events, if it leads."""

    def __init__(self, server, *arguments, **how):
        super().__init__(server, *EMIT, *(arguments or BEFORE_1_16), **how)

    def leads(self):
        """As its log has it, which is earlier than the page."""
        self.read_log(0)
        return (self.log.rfind("this exporter writes the Events")
                > self.log.rfind("this exporter does not write Events"))

    def shows(self, series, value):
        wait_for(f"{series} to be {value}",
                 lambda: self.value(f"karmada_policy_exporter_events_{series}") == value)

    def wait_to_lead(self):
        wait_for("leading", self.leads, HAND_OVER_S + 10)
        return self

    def has_emitted(self, wanted):
        """What became of the Events so far; a page has the last of them after a while."""
        self.become(lambda page: {labels["result"]: int(value) for labels, value in page.rows(
            "karmada_policy_exporter_events_emitted_total") if value}, wanted, "Events emitted")

    def __exit__(self, *_):
        """It gives its lease back, so that the next one need not wait."""
        if self.process and self.process.poll() is None:
            equal(self.end(), 0)
        super().__exit__()
