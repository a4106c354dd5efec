# SPDX-License-Identifier: Apache-2.0
"""What `plan` foretells of a change, held against what has become of it."""
import copy
import json
import subprocess
import tempfile

from control_plane import PROGRAM, report

KARMADAS = ("policy.karmada.io", "work.karmada.io", "cluster.karmada.io")
NOT_KEPT = ("resourceVersion", "uid", "generation", "creationTimestamp", "managedFields",
            "finalizers", "ownerReferences")


def key(thing):
    meta = thing["metadata"]
    return thing["apiVersion"], thing["kind"], meta.get("namespace", ""), meta["name"]


def group(thing):
    return thing["apiVersion"].split("/")[0]


def is_template(thing):
    return group(thing) not in KARMADAS


def is_users(thing):
    return is_template(thing) or group(thing) == "policy.karmada.io"


def as_user(thing):
    """The object as its user would write it."""
    thing = copy.deepcopy(thing)
    thing.pop("status", None)
    meta = thing["metadata"]
    for name in NOT_KEPT:
        meta.pop(name, None)
    for field in ("labels", "annotations"):
        kept = {k: v for k, v in meta.pop(field, {}).items()
                if ".karmada.io" not in k and "deployment.kubernetes.io" not in k}
        if kept:
            meta[field] = kept
    return thing


def users(objects):
    """What users have written of these, by key."""
    return {key(o): as_user(o) for o in objects if is_users(o)}


def conflict(item):
    return item["resource"]["kind"], item["resource"]["name"], item["field"]


def targets(spec):
    """(cluster, replicas) of a binding: its own clusters, and those of its referrers with 0 replicas."""
    own = {c["name"]: c.get("replicas", 0) for c in spec.get("clusters") or []}
    required = {c["name"]: 0 for r in spec.get("requiredBy") or [] for c in r.get("clusters") or []}
    return sorted({**required, **own}.items())


class Picture:
    """Objects at one moment, in a file, and what `check` says of them."""

    def __init__(self, objects, *flags):
        self.flags, self.users = flags, users(objects)
        self.file = tempfile.NamedTemporaryFile("w", suffix=".json")
        json.dump({"apiVersion": "v1", "kind": "List", "items": objects}, self.file)
        self.file.flush()
        said = report(self.file.name, "--rules.grace", "0s", *flags)
        self.templates = dict(self.read(objects, said))
        self.conflicts = {conflict(c) for c in said["conflicts"] if c["origin"] != "predicted"}

    @staticmethod
    def read(objects, said):
        """(template, (state, reason, policy, [(cluster, replicas)]))"""
        made = {key({"metadata": o["spec"]["resource"], **o["spec"]["resource"]}): o["spec"]
                for o in objects if group(o) == "work.karmada.io"}
        for t in said["templates"]:
            what = key({"metadata": t, **t})
            holder = t["claimed"] or t["policy"]
            yield what, (t["state"], t["reason"], holder and holder["name"], targets(made.get(what, {})))


def outcome(told):
    """What a plan tells of a template, as Picture.read() does."""
    clusters = ([(c["cluster"], c["replicas"]) for c in told["clusters"]]
                if "clusters" in told else told["undetermined"])
    return told["state"], told["reason"], told["policy"] and told["policy"]["name"], clusters


def plan(before, after):
    """What `plan` says, on the picture before, of what users changed until the one after."""
    change = [thing for what, thing in after.users.items() if before.users.get(what) != thing]
    arguments = [f"--delete={kind}/{ns}{'/' if ns else ''}{name}"
                 for _, kind, ns, name in before.users.keys() - after.users.keys()]
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump({"apiVersion": "v1", "kind": "List", "items": change}, file)
        file.flush()
        arguments += ["-f", file.name] if change else []
        done = subprocess.run([PROGRAM, "plan", "--allow-empty", "-o", "json", *before.flags, *arguments,
                               before.file.name], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def foretold(said, before):
    """What the plan says of every template, listed or not; and the conflicts."""
    templates, conflicts = dict(before.templates), set(before.conflicts)
    for t in said["templates"]:
        what = key({"metadata": t, **t})
        if t["after"]:
            templates[what] = outcome(t["after"])
        else:
            del templates[what]
    for c in said["conflicts"]:
        if c["change"] == "vanishes":
            conflicts.discard(conflict(c))
        elif c["origin"] != "predicted":
            conflicts.add(conflict(c))
    return templates, conflicts


def differences(said, before, after, schedulers_own=None):
    """Between what a plan says and the picture after. `schedulers_own`: why nobody but the
    scheduler knows the clusters, by template's name."""
    templates, conflicts = foretold(said, before)
    wrong = [] if said["settled"] else ["does not come to rest"]
    for what in sorted(templates.keys() | after.templates.keys()):
        got, made = templates.get(what), after.templates.get(what)
        known = (schedulers_own or {}).get(what[3])
        if known and got[3] == known:
            got = (*got[:3], made[3])
        if got != made:
            wrong.append((what, "plan:", got, "Karmada:", made))
    if conflicts != after.conflicts:
        wrong.append(("conflicts", "plan:", conflicts, "Karmada:", after.conflicts))
    return wrong
