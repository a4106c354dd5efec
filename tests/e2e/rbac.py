# SPDX-License-Identifier: Apache-2.0
"""Who may do what at an API server: roles, and the users that have them."""

GROUP = "rbac.authorization.k8s.io"


def rbac(kind, name, **more):
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": {"name": name}, **more}


def role(name, verbs, groups=("*",), resources=("*",)):
    return rbac("ClusterRole", name, rules=[
        {"apiGroups": list(groups), "resources": list(resources), "verbs": list(verbs)}])


def granted(name, user, role_name=None):
    """The user has the role of this name, or another that is named."""
    return rbac("ClusterRoleBinding", name,
                roleRef={"apiGroup": GROUP, "kind": "ClusterRole", "name": role_name or name},
                subjects=[{"apiGroup": GROUP, "kind": "User", "name": user}])
