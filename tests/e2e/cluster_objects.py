# SPDX-License-Identifier: Apache-2.0
"""Small objects for tests at an API server, and having them there for the time of one test."""
from cluster_stage import Watching
from written import Written, portable

# A kind that has come or gone is noticed within half a minute, and a server that is back is too.
NOTICE_S = 60


def deployment(name, namespace="default", **labels):
    return portable({"apiVersion": "apps/v1", "kind": "Deployment",
                     "metadata": {"name": name, "namespace": namespace, "labels": labels},
                     "spec": {"replicas": 1}})


def policy(name, *kinds, namespace="default"):
    groups = {"Deployment": "apps/v1", "Widget": "example.com/v1"}
    return {"apiVersion": "policy.karmada.io/v1alpha1", "kind": "PropagationPolicy",
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"resourceSelectors": [{"apiVersion": groups.get(kind, "v1"), "kind": kind}
                                           for kind in kinds]}}


def widget(name):
    return {"apiVersion": "example.com/v1", "kind": "Widget",
            "metadata": {"name": name, "namespace": "default"}, "spec": {}}


class Here:
    """Objects that are there for one test, and an exporter that watches."""

    def __init__(self, server, *arguments, objects=(), **how):
        self.server, self.written = server, Written(server.admin)
        self.arguments, self.how, self.exporter = arguments, how, None
        self.written.become(list(objects))

    def __enter__(self):
        self.exporter = Watching(self.server, *self.arguments, **self.how).wait_until_ready()
        return self.exporter, self.written

    def __exit__(self, *_):
        self.exporter.__exit__()
        self.written.become([])


def templates(page):
    """{(kind, state): how many} without what the server has made for itself."""
    found = page.by("karmada_templates", "kind", "state")
    return {key: count for key, count in found.items() if key[0] in ("Deployment", "Widget")}
