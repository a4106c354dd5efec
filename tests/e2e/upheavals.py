# SPDX-License-Identifier: Apache-2.0
"""What happens to API servers and etcd in real life, done to a real one: backups restored, kills,
compaction; five hundred writers meanwhile; and what an exporter says afterwards, held against one
that has just been started."""
import functools
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

from cluster_objects import NOTICE_S, Here, deployment
from cluster_stage import Watching
from exporter import PROGRAM, ROOT, wait_for
from written import portable

NAMESPACE = "storm"
# All that it can tell of single objects: two mistakes that add up to nothing would show.
EVERYTHING = ("--metrics.opt-in", "--metrics.detail-limit=100000")
HELD = "karmada_policy_exporter_objects"
POLICY_API = "policy.karmada.io/v1alpha1"


def skip_without_writers():
    """The program; ends the test as skipped where it cannot be built."""
    done = subprocess.run([ROOT / "tests/build-go.sh", "tests/e2e/writers"], capture_output=True,
                          check=False)
    if done.returncode == 77:
        print(done.stderr.decode().strip().splitlines()[-1])
        sys.exit(77)
    assert done.returncode == 0, done.stderr.decode()
    return pathlib.Path(done.stdout.decode().strip()) / "writers"


# ---- objects


def numbered(number):
    """A template, its policy, its binding and an override policy, as users and Karmada make
    them; each is there or not, whatever the others are."""
    name, claim = f"d{number}", {"propagationpolicy.karmada.io/permanent-id": f"id-{number}"}
    template = deployment(name, NAMESPACE)
    by = {"resourceSelectors": [{"apiVersion": "apps/v1", "kind": "Deployment", "name": name}]}
    policy = {"apiVersion": POLICY_API, "kind": "PropagationPolicy",
              "metadata": {"name": f"p{number}", "namespace": NAMESPACE, "labels": claim},
              "spec": {**by, "priority": number % 7, "placement": {}}}
    override = {"apiVersion": POLICY_API, "kind": "OverridePolicy",
                "metadata": {"name": f"o{number}", "namespace": NAMESPACE}, "spec": by}
    binding = {"apiVersion": "work.karmada.io/v1alpha2", "kind": "ResourceBinding",
               "metadata": {"name": f"{name}-deployment", "namespace": NAMESPACE, "labels": claim,
                            "annotations": {"propagationpolicy.karmada.io/namespace": NAMESPACE,
                                            "propagationpolicy.karmada.io/name": f"p{number}"}},
               "spec": {"placement": {}, "schedulerName": "default-scheduler",
                        "resource": {"apiVersion": "apps/v1", "kind": "Deployment",
                                     "namespace": NAMESPACE, "name": name}}}
    return [portable(obj) for obj in (template, policy, override, binding)]


class Writers:
    """So many writers, from now on until they are stopped."""

    def __init__(self, program, server, count=500, pause_s=1.0, seed=1):
        made = [obj for number in range((count + 3) // 4) for obj in numbered(number)][:count]
        certificate, key = server.admin_files
        self.process = subprocess.Popen(
            [program, "-server", server.url, "-ca", server.certificates.ca, "-cert", certificate,
             "-key", key, "-writers", str(count), "-objects", str(len(made)),
             "-pause", f"{pause_s}s", "-seed", str(seed)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for obj in made:
            collection = server.admin.collection(obj["apiVersion"], obj["kind"], NAMESPACE)
            line = json.dumps({"collection": collection, "object": obj})
            self.process.stdin.write(line.encode() + b"\n")
        self.process.stdin.flush()

    def calm(self):
        """Stop them; what they did, once the last answer is there."""
        self.process.stdin.close()
        counts = json.loads(self.process.stdout.read())
        assert self.process.wait(60) == 0
        return counts

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()


class Watched(Here):
    """Objects, and an exporter that tells all it can of them. Afterwards all are gone, also those
    of the writers and what a restore has brought back."""

    def __init__(self, server, objects, **how):
        super().__init__(server, *EVERYTHING, objects=objects, **how)

    def __exit__(self, *_):
        self.exporter.__exit__()
        self.written.become([])
        admin = self.server.admin
        for api_version, kind in ((POLICY_API, "PropagationPolicy"), (POLICY_API, "OverridePolicy"),
                                  ("work.karmada.io/v1alpha2", "ResourceBinding"),
                                  ("apps/v1", "Deployment")):
            admin.request("DELETE", admin.collection(api_version, kind, NAMESPACE))


# ---- upheavals


def back_up(server):
    """A copy of etcd's files at one moment, as a snapshot of its disk has them."""
    copy = server.folder / "backup"
    shutil.rmtree(copy, ignore_errors=True)
    server.etcd.send_signal(signal.SIGSTOP)
    try:
        shutil.copytree(server.folder / "etcd", copy)
    finally:
        server.etcd.send_signal(signal.SIGCONT)
    return copy


def kill_etcd(server):
    server.etcd.kill()
    server.etcd.wait()


def restore(server, copy):
    """As the manual has it: stop the API server, put the files back, start both."""
    server.stop()
    kill_etcd(server)
    shutil.rmtree(server.folder / "etcd")
    shutil.copytree(copy, server.folder / "etcd")
    server.start_etcd()
    server.start()


def ask_etcd(server, path, question):
    request = urllib.request.Request(f"http://127.0.0.1:{server.etcd_port}{path}",
                                     json.dumps(question).encode())
    with urllib.request.urlopen(request, timeout=NOTICE_S) as answer:
        return json.loads(answer.read())


def revision(server):
    return int(ask_etcd(server, "/v3/kv/range", {"key": "AA=="})["header"]["revision"])


def compact(server):
    """Forget all history: no version but the latest can be read any more."""
    ask_etcd(server, "/v3/kv/compaction", {"revision": str(revision(server)), "physical": True})


# ---- what an exporter says


@functools.cache
def remembering():
    """The families that are about what one exporter has seen, too."""
    said = subprocess.run([PROGRAM, "metrics", "-o", "json"], capture_output=True, check=True)
    return {family["name"] for family in json.loads(said.stdout) if family["remembers"]}


def facts(page):
    """What it says of Karmada, and how many objects it holds: all that another exporter would say
    of the same objects. Counters and histograms are about what one has seen."""
    kinds = dict(line.split(" ")[2:4] for line in page.text.splitlines()
                 if line.startswith("# TYPE "))
    return {(family, *sorted(labels.items())): value for family, labels, value in page.series
            if kinds.get(family) == "gauge" and family not in remembering() and (family == HELD or (
                family.startswith("karmada_") and not family.startswith("karmada_policy_exp")))}


def facts_without_times(page):
    """The facts without times: an exporter that saw the changes knows more of them than a new one."""
    return {key: value for key, value in facts(page).items() if not key[0].endswith("_timestamp_seconds")}


def differences(told, reference):
    """Lines for people: what is told otherwise than by the reference."""
    keys = sorted(set(told) | set(reference), key=str)
    return [f"{key}: {told.get(key, 'absent')}, and a new exporter says "
            f"{reference.get(key, 'absent')}" for key in keys if told.get(key) != reference.get(key)]


def not_synced(page):
    return {labels["resource"] for labels, value
            in page.rows("karmada_policy_exporter_watch_synced") if value == 0}


def restarts(page):
    return page.sum("karmada_policy_exporter_watch_restarts_total")


def wait_for_watches_since(mark, exporter):
    """Until the server has answered a watch of each kind that the exporter follows, asked for
    after the first `mark` requests; what the exporter says of its watches is not relied on."""
    kinds = len(exporter.page().rows("karmada_policy_exporter_watch_synced"))

    def answered():
        return len(set(exporter.server.open_watches(mark))) >= kinds
    return wait_for(f"{kinds} kinds to be followed again", answered, 2 * NOTICE_S)


def facts_of_a_new_one(server):
    """What an exporter says that has just read everything."""
    with Watching(server, *EVERYTHING) as fresh:
        told, before = facts(fresh.wait_until_ready().page()), None
        while told != before:
            time.sleep(0.3)
            told, before = facts(fresh.page()), told
        return told


def right_after_calm(exporter, calm, within_s):
    """Hold what the exporter says `within_s` after the calm against a new one on the same server;
    how long after the calm it was last seen to be wrong."""
    seen = []
    while not seen or seen[-1][0] < within_s:
        at = time.monotonic() - calm
        seen.append((at, facts(exporter.page())))
        time.sleep(0.02)
    reference = facts_of_a_new_one(exporter.server)
    wrong = differences(seen[-1][1], reference)
    if wrong:
        later = differences(facts(exporter.page()), reference)
        exporter.read_log(0)
        raise AssertionError(
            f"{len(wrong)} differences {seen[-1][0]:.2f} s after the calm, {len(later)} now; "
            "the first:\n  " + "\n  ".join(wrong[:12]) + f"\nlog:\n{exporter.log[-3000:]}")
    return max((at for at, told in seen if told != reference), default=0.0)


# ---- the way between an exporter and a server, or a server and etcd


class Link:
    """A port of its own that leads to another one: it can be led elsewhere, cut, and held up."""

    def __init__(self, port):
        self.target, self.pairs = port, []
        self.open = threading.Event()
        self.open.set()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                here = self.listener.accept()[0]
            except OSError:
                return
            try:
                there = socket.create_connection(("127.0.0.1", self.target))
            except OSError:
                here.close()
                continue
            self.pairs.append((here, there))
            for source, sink in ((here, there), (there, here)):
                threading.Thread(target=self.carry, args=(source, sink), daemon=True).start()

    def carry(self, source, sink):
        try:
            while data := source.recv(65536):
                self.open.wait()
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def hold_up(self):
        """From now on nothing arrives, either way; nothing is lost."""
        self.open.clear()

    def let_through(self):
        self.open.set()

    def lead_to(self, port):
        """Cut what is connected; who comes again is led there."""
        self.target = port
        self.cut()

    def cut(self):
        for pair in self.pairs:
            for end in pair:
                try:
                    end.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass
        self.pairs.clear()

    def end(self):
        self.let_through()
        self.listener.close()
        self.cut()
