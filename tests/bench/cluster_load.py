# SPDX-License-Identifier: Apache-2.0
"""Objects in bulk for a real API server: written over several connections by several processes,
because one Python writes no more than several hundred a second."""
import multiprocessing
import time

from api_client import KARMADA, USER

PROCESSES = 6
MEMBERS = [f"member{n}" for n in range(1, 6)]
CLAIM = "propagationpolicy.karmada.io"


class World:
    """Templates in namespaces of 300, ten policies each, and the bindings that Karmada makes."""

    PER_NAMESPACE, POLICIES = 300, 10

    def __init__(self, templates):
        self.templates, self.namespaces = templates, templates // self.PER_NAMESPACE
        self.policies = self.namespaces * self.POLICIES

    def policy_of(self, number):
        namespace, within = divmod(number, self.PER_NAMESPACE)
        return namespace * self.POLICIES + within % self.POLICIES

    def claim(self, policy):
        return {"labels": {f"{CLAIM}/permanent-id": f"b0907c9b-f3f3-4a4b-b289-{policy:012}"},
                "annotations": {f"{CLAIM}/namespace": f"team-{policy // self.POLICIES}",
                                f"{CLAIM}/name": f"policy-{policy}"}}

    @staticmethod
    def placement(policy):
        return {"clusterAffinity": {"clusterNames": [MEMBERS[policy % 5],
                                                     MEMBERS[(policy + 1) % 5]]},
                "clusterTolerations": [{"key": "example.com/slow", "operator": "Exists"}]}

    def policy(self, number):
        claim = self.claim(number)
        return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
                "metadata": {"name": f"policy-{number}",
                             "namespace": f"team-{number // self.POLICIES}",
                             "labels": claim["labels"]},
                "spec": {"resourceSelectors": [
                    {"apiVersion": "apps/v1", "kind": "Deployment",
                     "labelSelector": {"matchLabels": {
                         "example.com/group": str(number % self.POLICIES)}}}],
                    "placement": self.placement(number), "propagateDeps": True}}

    def template(self, number):
        claim = self.claim(self.policy_of(number))
        labels = {"app": f"web-{number}", "app.kubernetes.io/part-of": "shop",
                  "example.com/group": str(number % self.POLICIES)}
        return {"apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": {"name": f"web-{number}",
                             "namespace": f"team-{number // self.PER_NAMESPACE}",
                             "labels": {**labels, **claim["labels"]},
                             "annotations": {**claim["annotations"],
                                             "example.com/owner": "a-team"}},
                "spec": {"replicas": 2, "selector": {"matchLabels": {"app": f"web-{number}"}},
                         "template": {"metadata": {"labels": {"app": f"web-{number}"}}, "spec": {
                             "containers": [{"name": "main", "image": "nginx", "resources": {
                                 "requests": {"cpu": "10m", "memory": "16Mi"}}}]}}}}

    def binding(self, number):
        policy = self.policy_of(number)
        namespace = f"team-{number // self.PER_NAMESPACE}"
        clusters = self.placement(policy)["clusterAffinity"]["clusterNames"]
        claim = self.claim(policy)
        return {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
                "metadata": {"name": f"web-{number}-deployment", "namespace": namespace, **claim,
                             "finalizers": ["karmada.io/binding-controller"]},
                "spec": {"resource": {"apiVersion": "apps/v1", "kind": "Deployment",
                                      "namespace": namespace, "name": f"web-{number}"},
                         "placement": self.placement(policy), "propagateDeps": True, "replicas": 2,
                         "replicaRequirements": {"resourceRequest": {"cpu": "10m",
                                                                     "memory": "16Mi"}},
                         "clusters": [{"name": name, "replicas": 2} for name in clusters],
                         "schedulerName": "default-scheduler"}}


def create(client, make, numbers, manager):
    for number in numbers:
        client.create(make(number), manager)


def in_processes(server, work, *arguments):
    """Run work(client, process number, ...) in each process; what one raises ends this one."""
    def begin(at):
        client = server.admin.another()
        work(client, at, *arguments)

    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=begin, args=(at,)) for at in range(PROCESSES)]
    for process in processes:
        process.start()
    return processes


def join(processes):
    for process in processes:
        process.join()
        assert process.exitcode == 0, "a writer failed"


def load(server, world):
    """Write it all; the seconds that it took."""
    start = time.monotonic()
    for number in range(world.namespaces):
        server.admin.create({"apiVersion": "v1", "kind": "Namespace",
                             "metadata": {"name": f"team-{number}"}})
    for api_version, kind in (("apps/v1", "Deployment"),
                              ("policy.karmada.io/v1alpha1", "PropagationPolicy"),
                              ("work.karmada.io/v1alpha2", "ResourceBinding")):
        server.admin.resource(api_version, kind)

    def work(client, at):
        create(client, world.policy, range(at, world.policies, PROCESSES), USER)
        create(client, world.template, range(at, world.templates, PROCESSES), USER)
        create(client, world.binding, range(at, world.templates, PROCESSES), KARMADA)

    join(in_processes(server, work))
    return time.monotonic() - start


def come_and_go(client, at, world, until, rate, done):
    """Create a template that the policies select and delete it, so many changes a second: the
    cheapest change that there is for the server."""
    start, count = time.monotonic(), 0
    while time.monotonic() < until:
        guest = world.template(world.PER_NAMESPACE * (count % world.namespaces))
        guest["metadata"]["name"] = f"guest-{at}"
        client.create(guest)
        client.delete(guest)
        count += 2
        time.sleep(max(0.0, start + count / rate - time.monotonic()))
    with done.get_lock():
        done.value += count
