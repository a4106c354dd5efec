# SPDX-License-Identifier: Apache-2.0
"""The single rights of the chart's roles, accounts that have some of them, and what they were seen
to use."""
import copy
import itertools

from deploy import RENDERED, rendered
from planes import NAMESPACE, token_of

GROUP = "rbac.authorization.k8s.io"


class Right(tuple):
    """(role, verb, group, resource), and whom it is about in the API server's words."""

    def __new__(cls, role, rule, verb, group, resource):
        right = super().__new__(cls, (role["metadata"]["name"], role["metadata"].get("namespace", ""), verb,
                                      group, resource))
        right.role, right.verb, right.group, right.resource = role, verb, group, resource
        right.namespace = role["metadata"].get("namespace")
        right.names = rule.get("resourceNames")
        return right

    @property
    def refusal(self):
        """How the API server says that it is missing."""
        where = f'in the namespace "{self.namespace}"' if self.namespace else "at the cluster scope"
        return f'cannot {self.verb} resource "{self.resource}" in API group "{self.group}" {where}'

    def __str__(self):
        inside = f" in {self.namespace}" if self.namespace else ""
        return f"{self.verb} {self.resource}{'.' if self.group else ''}{self.group}{inside}"


def rights_of(role):
    return [Right(role, rule, verb, group, resource) for rule in role["rules"]
            for group, resource, verb in itertools.product(rule["apiGroups"], rule["resources"],
                                                           rule["verbs"])]


def roles(kind, suffix=""):
    """The roles of the rendering with everything on."""
    return [obj for obj in rendered(RENDERED / "everything-karmada.yaml")
            if obj["kind"] == kind and obj["metadata"]["name"] == f"policy-exporter{suffix}"]


READING = rights_of(roles("ClusterRole")[0])
CONNECTOR = rights_of(roles("Role")[0])
LEASES = rights_of(roles("Role", "-leases")[0])
RECONCILE = rights_of(roles("ClusterRole", "-reconcile")[0])
EVENTS = [right for kind in ("ClusterRole", "Role") for right in rights_of(roles(kind, "-events")[0])]


class Account:
    """A service account of Karmada's API server with just these rights."""

    def __init__(self, server, name, rights):
        self.server, self.name = server, name
        self.user = f"system:serviceaccount:{NAMESPACE}:{name}"
        self.account = {"apiVersion": "v1", "kind": "ServiceAccount",
                        "metadata": {"name": name, "namespace": NAMESPACE}}
        self.admin = server.admin.another()
        self.admin.create(self.account)
        for namespace, group in itertools.groupby(rights, key=lambda right: right.namespace):
            self.grant(namespace, [{"apiGroups": [right.group], "resources": [right.resource],
                                    "verbs": [right.verb],
                                    **({"resourceNames": right.names} if right.names else {})}
                                   for right in group])

    def grant(self, namespace, rules):
        kind = "Role" if namespace else "ClusterRole"
        metadata = {"name": self.name, **({"namespace": namespace} if namespace else {})}
        api = {"apiVersion": f"{GROUP}/v1", "metadata": metadata}
        self.admin.create_all([
            {**copy.deepcopy(api), "kind": kind, "rules": rules},
            {**copy.deepcopy(api), "kind": f"{kind}Binding",
             "roleRef": {"apiGroup": GROUP, "kind": kind, "name": self.name},
             "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": NAMESPACE}]}])

    def kubeconfig(self):
        return self.server.kubeconfig(f"of-{self.name}", token=token_of(self.admin, self.account))

    def requests(self):
        return [request for request in self.server.requests()
                if request["user"]["username"] == self.user and "objectRef" in request]

    def used(self):
        """{(verb, group, resource)} of its requests that were granted."""
        return {seen(request) for request in self.requests()
                if request.get("responseStatus", {}).get("code", 500) in (200, 201, 404)}

    def refused(self):
        return {seen(request) for request in self.requests()
                if request.get("responseStatus", {}).get("code") == 403}


def seen(request):
    about = request["objectRef"]
    return request["verb"], about.get("apiGroup", ""), about["resource"]
