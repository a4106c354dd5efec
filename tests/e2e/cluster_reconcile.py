# SPDX-License-Identifier: Apache-2.0
"""Reconciling at a real API server: whoever reconciles, with a role of its own, and Karmada's
reaction to the annotation, which the test plays."""
import json
import os
import re
import subprocess
import threading
import time

from api_client import ApiClient
from api_server import READER
from cluster_karmada import Repeating, Story, on, selecting
from exporter import PROGRAM, PATIENCE_S, wait_for
from rbac import granted, role
from written import second_of

KEY = "karmada-policy-exporter/reconcile-at"
MANAGER = "karmada-policy-exporter-reconcile"
QUICK = ("--batch", "3", "--pause", "0s", "--timeout", "20s")


def role_to_patch(name="reconciler", resources=("deployments",)):
    """(role, its binding to the exporter's user): what reading does not include."""
    return role(name, ("get", "patch"), ["apps"], resources), granted(name, READER)


def annotation_of(obj):
    return obj["metadata"].get("annotations", {}).get(KEY)


class Karmada(Repeating):
    """Reacts to each change of the annotation, in the order of the changes. `react` gets the
    template; what `ignored` names gets no reaction. Who holds `rest` meets no half reaction."""

    def __init__(self, server, namespace, react, rest=None):
        self.client, self.namespace, self.react = server.admin.another(), namespace, react
        self.rest = rest or threading.Lock()
        super().__init__()
        self.seen, self.ignored = {}, set()
        self.before(self.templates())

    def templates(self):
        return self.client.list("apps/v1", "Deployment", self.namespace)

    def before(self, templates):
        self.seen = {t["metadata"]["name"]: annotation_of(t) for t in templates}

    def look(self):
        with self.rest:
            changed = [t for t in self.templates()
                       if annotation_of(t) != self.seen.get(t["metadata"]["name"])
                       and t["metadata"]["name"] not in self.ignored]
            for template in sorted(changed, key=lambda t: annotation_of(t) or ""):
                self.seen[template["metadata"]["name"]] = annotation_of(template)
                self.react({"apiVersion": "apps/v1", "kind": "Deployment", **template})


class Rollout(Story):
    """`count` Deployments that a Lazy policy has bound on member1, and that it now wants on
    member2. The policy is changed in an earlier second than anything that follows."""

    def __init__(self, server, namespace, count=10):
        super().__init__(server, namespace)
        self.rest = threading.Lock()
        # Written once: a program that begins must not read it half.
        self.kubeconfig = server.kubeconfig()
        lazy = {"activationPreference": "Lazy", **on("member1")}
        self.rule = self.policy("lazy", selecting("Deployment"), **lazy)
        self.names = [f"app-{i}" for i in range(count)]
        self.write(self.rule)
        for name in self.names:
            template = self.template("Deployment", name, labels={"app": name})
            self.write(template)
            self.apply(template, self.rule)
        self.edit("member2")

    def edit(self, member):
        with self.rest:
            self.rule["spec"].update(on(member))
            self.change(self.rule, {"spec": on(member)})
        time.sleep(1.1)

    def karmada(self):
        reacting = Story.__new__(Story)
        reacting.server, reacting.namespace = self.server, self.namespace
        karmada = Karmada(self.server, self.namespace,
                          lambda template: reacting.apply(template, self.rule), self.rest)
        reacting.client = karmada.client
        return karmada

    def objects(self):
        """{name: the Deployment as the server has it, without what each write changes}"""
        found = {}
        for obj in self.client.list("apps/v1", "Deployment", self.namespace):
            for key in ("resourceVersion", "managedFields"):
                obj["metadata"].pop(key)
            found[obj["metadata"]["name"]] = obj
        return found

    def placements(self):
        bindings = self.client.list("work.karmada.io/v1alpha2", "ResourceBinding", self.namespace)
        return {b["metadata"]["name"].removesuffix("-deployment"):
                b["spec"]["placement"]["clusterAffinity"]["clusterNames"] for b in bindings}

    def on(self, member):
        """The names of those that are there."""
        return sorted(name for name, names in self.placements().items() if names == [member])

    def start(self, *arguments):
        """The program, under way."""
        return subprocess.Popen(
            [PROGRAM, "reconcile", "--kubeconfig", str(self.kubeconfig), "--namespaces",
             self.namespace, "--policy", f"pp/{self.namespace}/lazy", *map(str, arguments)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "COLUMNS": "80"})

    def reconcile(self, *arguments):
        """(exit status, standard output, standard error)"""
        return ended(self.start(*arguments))


def ended(process):
    out, err = process.communicate(timeout=3 * PATIENCE_S)
    return process.returncode, out, err


def acts(out):
    """The lines that say what was done, without the plan before them."""
    return [line for line in out.splitlines()
            if re.match(r"(written|done|skipped|stopped) ", line)]


def report(out):
    """What was done and the last line: all behind the plan."""
    lines = out.splitlines(keepends=True)
    first = next((i for i, line in enumerate(lines)
                  if re.match(r"(written|skipped|stopped) ", line)), len(lines) - 1)
    return "".join(lines[first:])


class Busy:
    """A server with a single seat for patches of the exporter's user, by its priority and fairness,
    and somebody who takes that seat from time to time: then the answer is 429."""

    def __init__(self, server):
        self.server, self.request = server, None
        self.slow = ApiClient(server.port, server.certificates.ca, server.certificates.sign(
            "slow", "/CN=slow", "extendedKeyUsage=clientAuth"))
        self.objects = self.limits()
        server.admin.create_all(self.objects)
        wait_for("the limit to be in force", self.in_force)

    @staticmethod
    def limits():
        group, name = "flowcontrol.apiserver.k8s.io/v1", "single-seat"
        return [
            granted("slow", "slow", "cluster-admin"),
            {"apiVersion": group, "kind": "PriorityLevelConfiguration", "metadata": {"name": name},
             "spec": {"type": "Limited", "limited": {
                 "nominalConcurrencyShares": 0, "borrowingLimitPercent": 0,
                 "limitResponse": {"type": "Reject"}}}},
            {"apiVersion": group, "kind": "FlowSchema", "metadata": {"name": name},
             "spec": {"priorityLevelConfiguration": {"name": name}, "matchingPrecedence": 2,
                      "rules": [{"subjects": [{"kind": "User", "user": {"name": user}}
                                              for user in (READER, "slow")],
                                 "resourceRules": [{
                                     "verbs": ["patch"], "apiGroups": ["*"], "resources": ["*"],
                                     "namespaces": ["*"]}]}]}}]

    def begin(self):
        """A patch whose body is still to come."""
        request = self.slow.connect()
        request.putrequest("PATCH", "/api/v1/namespaces/default/configmaps/none")
        request.putheader("Content-Type", "application/merge-patch+json")
        request.putheader("Content-Length", "2")
        request.endheaders()
        return request

    def in_force(self):
        request = self.begin()
        request.send(b"{}")
        schema = request.getresponse().getheader("X-Kubernetes-PF-FlowSchema-UID")
        request.close()
        return schema == self.server.admin.get(self.objects[-1])["metadata"]["uid"]

    def take_the_seat(self):
        self.request = self.begin()

    def leave(self):
        self.request.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for obj in self.objects:
            self.server.admin.delete(obj)


class Audit:
    """What the exporter's user has written since, as the server's audit log has it."""

    def __init__(self, server):
        self.server, self.since = server, len(server.requests())

    def writes(self):
        done = [r for r in self.server.requests()[self.since:]
                if r["stage"] == "ResponseComplete"
                and r["verb"] not in ("get", "list", "watch")]
        return done

    def refused(self):
        """When the server was too busy, in seconds."""
        return [second_of(r["requestReceivedTimestamp"]) for r in self.writes()
                if r["responseStatus"]["code"] == 429]

    def patched(self):
        """The names of what was patched with success, in order, once nothing else was written.

        Each patch has the uid and the version of its object, the annotation, and nothing else.
        """
        names = []
        for request in self.writes():
            what = request["objectRef"]
            assert (request["verb"], what["resource"], what.get("subresource")) == (
                "patch", "deployments", None), request
            assert request["requestURI"].endswith("?fieldManager=" + MANAGER), request
            if request["responseStatus"]["code"] in (403, 429):
                continue  # The server has not read what it does not take.
            body = request["requestObject"]
            assert set(body) == {"metadata"}, body
            assert set(body["metadata"]) == {"uid", "resourceVersion", "annotations"}, body
            assert set(body["metadata"]["annotations"]) == {KEY}, body
            if request["responseStatus"]["code"] == 200:
                names.append(what["name"])
        return names


def without(obj):
    """An object as it was before the annotation, whose change a Deployment counts as a
    generation."""
    obj = json.loads(json.dumps(obj))
    obj["metadata"].get("annotations", {}).pop(KEY)
    obj["metadata"]["generation"] -= 1
    return obj
