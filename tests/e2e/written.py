# SPDX-License-Identifier: Apache-2.0
"""The objects of a story on a real API server: each step writes what is different, first what
users do and then what Karmada does, each under its own name."""
import copy
import datetime
import time

from api_client import KARMADA, USER, Refused, identity

KARMADAS_KINDS = ("ResourceBinding", "ClusterResourceBinding", "Event", "Cluster")
POLICIES = ("PropagationPolicy", "ClusterPropagationPolicy")
SERVER_SET = ("uid", "resourceVersion", "creationTimestamp", "generation", "managedFields",
              "selfLink")


def portable(obj):
    """The object without what a server decides for itself, and complete enough for a real one."""
    obj = copy.deepcopy(obj)
    for key in SERVER_SET:
        obj["metadata"].pop(key, None)
    spec = obj.get("spec", {})
    if obj["kind"] == "Service":
        spec.pop("clusterIP", None)
        spec.pop("clusterIPs", None)
        spec.setdefault("ports", [{"port": 80, "protocol": "TCP"}])
    if obj["kind"] == "Deployment":
        labels = {"app": obj["metadata"]["name"]}
        spec.setdefault("selector", {"matchLabels": labels})
        pod = spec.setdefault("template", {})
        pod.setdefault("metadata", {"labels": labels})
        pod.setdefault("spec", {}).setdefault("containers", [{"name": "main", "image": "nginx"}])
    if obj["kind"] == "ConfigMap" and spec:
        obj["data"] = {key: str(value) for key, value in obj.pop("spec").items()}
    return obj


def change_of(old, new):
    """The merge patch that makes new of old."""
    change = {key: None for key in old if key not in new}
    for key, value in new.items():
        if isinstance(value, dict) and isinstance(old.get(key), dict):
            inside = change_of(old[key], value)
            if inside:
                change[key] = inside
        elif key not in old or old[key] != value:
            change[key] = value
    return change


def split_karmadas(obj):
    """(what its user wrote, the claim that Karmada put on it as a patch)."""
    users, claim = copy.deepcopy(obj), {}
    if obj["kind"] in POLICIES + KARMADAS_KINDS:
        return users, claim
    for field in ("labels", "annotations"):
        for key in [k for k in users["metadata"].get(field, {}) if ".karmada.io" in k]:
            claim.setdefault(field, {})[key] = users["metadata"][field].pop(key)
        if not users["metadata"].get(field, True):
            del users["metadata"][field]
    return users, {"metadata": claim} if claim else {}


def second_of(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Written:
    """The objects that have been written, to be replaced by others step by step."""

    def __init__(self, client):
        self.client, self.objects = client, {}
        self.namespaces = {"default"}

    def become(self, objects):
        """Write what is different between what is there and these."""
        wanted = {identity(obj): portable(obj) for obj in objects}
        for _, _, namespace, _ in wanted:
            self.need(namespace)
        gone = [obj for key, obj in self.objects.items() if key not in wanted]
        for who in (USER, KARMADA):
            for obj in wanted.values():
                if who == (KARMADA if obj["kind"] in KARMADAS_KINDS else USER):
                    self.write(obj)
            for obj in gone:
                if who == (KARMADA if obj["kind"] in KARMADAS_KINDS else USER):
                    self.client.delete(obj)
            if who == USER:
                self.claim(wanted)
        self.objects = wanted

    def need(self, namespace):
        if namespace and namespace not in self.namespaces:
            try:
                self.client.create({"apiVersion": "v1", "kind": "Namespace",
                                    "metadata": {"name": namespace}})
            except Refused as error:
                if error.status != 409:
                    raise
            self.namespaces.add(namespace)

    def write(self, obj):
        """Karmada's own object, or the user's part of any other."""
        old = self.objects.get(identity(obj))
        own = obj["kind"] in KARMADAS_KINDS
        users = split_karmadas(obj)[0]
        change = change_of(split_karmadas(old)[0], users) if old else {}
        if own and (old is None or self.follows(obj, change)):
            self.refer(users)
        if old is None:
            self.client.create(users, KARMADA if own else USER)
            return
        change = change_of(split_karmadas(old)[0], users)
        status = change.pop("status", None)
        if change:
            if not own:
                self.wait_for_a_later_second(old)
            self.client.patch(obj, change, KARMADA if own else USER)
        if status:
            self.client.patch(obj, {"status": status}, KARMADA, "/status")

    @staticmethod
    def follows(obj, change):
        """Is a binding made anew from its template, whose version may be told or not?"""
        resource = change.get("spec", {}).get("resource", {})
        told = obj.get("spec", {}).get("resource", {}).get("resourceVersion")
        return "resourceVersion" in resource or bool(change and not told)

    def refer(self, binding):
        """A binding names its template by uid and version: those that it has on this server."""
        resource = binding.get("spec", {}).get("resource")
        if not resource:
            return
        template = self.client.get({"apiVersion": resource["apiVersion"], "kind": resource["kind"],
                                    "metadata": {"name": resource["name"],
                                                 "namespace": resource.get("namespace", "")}})
        for key in ("uid", "resourceVersion"):
            resource.pop(key, None)
            if template:
                resource[key] = template["metadata"][key]

    def claim(self, wanted):
        """Write the claims that are new and remove those that are gone."""
        for key, obj in wanted.items():
            old = split_karmadas(self.objects[key])[1] if key in self.objects else {}
            change = change_of(old.get("metadata", {}),
                               split_karmadas(obj)[1].get("metadata", {}))
            # Without its claim a field may still have keys of the user's: remove only the claim's.
            for field, value in change.items():
                if value is None:
                    change[field] = {k: None for k in old["metadata"][field]}
            if change:
                self.client.patch(obj, {"metadata": change}, KARMADA)

    def wait_for_a_later_second(self, obj):
        """Servers record whole seconds: wait, so that what users do next is later than Karmada."""
        bindings = [b for b in map(self.client.get, self.bindings_of(obj)) if b]
        latest = max((second_of(field["time"]) for b in bindings
                      for field in b["metadata"]["managedFields"]), default=0)
        time.sleep(max(0.0, latest + 1.05 - time.time()))

    def bindings_of(self, obj):
        meta = obj["metadata"]
        return [b for b in self.objects.values()
                if b["kind"] in KARMADAS_KINDS
                and (b.get("spec", {}).get("resource", {}).get("kind"),
                     b.get("spec", {}).get("resource", {}).get("name"))
                == (obj["kind"], meta["name"])]
