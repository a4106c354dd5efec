# SPDX-License-Identifier: Apache-2.0
"""A world of benchmarks at a real API server, and processes that change it.

Objects go into etcd while kube-apiserver is stopped: through the API they would take minutes, and it would write
managedFields of one manager only.
"""
import base64
import http.client
import json
import multiprocessing
import time

from exporter import wait_for

PROCESSES = 6
OBJECTS_A_REQUEST = 100  # etcd takes at most 128.
RESOURCES = {"Namespace": "namespaces", "Deployment": "deployments",
             "PropagationPolicy": "policy.karmada.io/propagationpolicies",
             "ResourceBinding": "work.karmada.io/resourcebindings"}


def stored(obj):
    """Key and value in etcd."""
    metadata = obj["metadata"]
    metadata.pop("resourceVersion", None)
    path = [RESOURCES[obj["kind"]], metadata.get("namespace"), metadata["name"]]
    return "/registry/" + "/".join(part for part in path if part), json.dumps(obj, separators=(",", ":"))


def put_all(port, objects):
    """Writes the objects into etcd."""
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for at in range(0, len(objects), OBJECTS_A_REQUEST):
        pairs = [stored(obj) for obj in objects[at:at + OBJECTS_A_REQUEST]]
        puts = [{"requestPut": {"key": base64.b64encode(key.encode()).decode(),
                                "value": base64.b64encode(value.encode()).decode()}} for key, value in pairs]
        connection.request("POST", "/v3/kv/txn", json.dumps({"success": puts}))
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, body


def namespace(number):
    return {"apiVersion": "v1", "kind": "Namespace", "spec": {"finalizers": ["kubernetes"]},
            "metadata": {"name": f"team-{number}", "uid": f"0d1f1a7e-0000-4000-8000-{number:012}",
                         "creationTimestamp": "2026-01-01T00:00:00Z"}, "status": {"phase": "Active"}}


def load(server, world):
    """Writes it all; the seconds that it took."""
    start = time.monotonic()
    server.stop()
    put_all(server.etcd_port, [namespace(number) for number in range(world.namespaces)])
    put_all(server.etcd_port, [world.policy(number) for number in range(world.policies)])
    put_all(server.etcd_port, [world.template(number) for number in range(world.templates)])
    put_all(server.etcd_port, [world.binding(number) for number in range(world.templates)])
    server.start()
    for path in ("policy.karmada.io/v1alpha1/propagationpolicies", "work.karmada.io/v1alpha2/resourcebindings"):
        wait_for("the server to have read etcd", lambda: server.admin.status(f"/apis/{path}?resourceVersion=0") == 200, 300)
    return time.monotonic() - start


def in_processes(server, work, *arguments):
    """Runs work(client, process number, ...) in each process; an exception in one ends this one."""
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


def come_and_go(client, at, world, until, rate, done):
    """Creates a template that the policies select and deletes it, so many changes a second: the
    cheapest change that there is for the server."""
    start, count = time.monotonic(), 0
    while time.monotonic() < until:
        guest = world.template(count % world.namespaces)
        for member in ("managedFields", "uid", "resourceVersion", "creationTimestamp"):
            guest["metadata"].pop(member, None)
        guest["metadata"]["name"] = f"guest-{at}"
        client.create(guest)
        client.delete(guest)
        count += 2
        time.sleep(max(0.0, start + count / rate - time.monotonic()))
    with done.get_lock():
        done.value += count
