# SPDX-License-Identifier: Apache-2.0
"""A control plane of four member clusters in which a Deployment is placed nowhere, for the tests of verdicts."""
import os
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../stories"))
from runbooks import BOUND, NS, binding, cluster, deployment, policy, status  # noqa: E402

GPU = {"key": "gpu", "value": "true", "effect": "NoSchedule"}
PROD = {"clusterAffinity": {"labelSelector": {"matchLabels": {"env": "prod"}}, "exclude": ["member4"]}}
FAMILY = "karmada_templates_unscheduled_clusters"


def members(taints=(GPU,)):
    return [cluster("member1", labels={"env": "test"}),
            cluster("member2", labels={"env": "prod"}, taints=taints),
            cluster("member3"),
            cluster("member4", labels={"env": "prod"})]


def world(clusters):
    """The Deployment web with a binding that no cluster fits, and one more without a binding."""
    return [policy("web-policy", PROD), BOUND,
            {**binding(BOUND, "web-policy", PROD, clusters=[]),
             "status": status("NoClusterFit", "0/4 clusters are available")},
            policy("api-policy", PROD), deployment("api"), *clusters]


# (cluster, verdict, field, value, actual)
EXPECTED = [
    ("member1", "affinity", "clusterAffinity.labelSelector", "env in (prod)", "env=test"),
    ("member2", "taint", "spec.taints", "gpu=true:NoSchedule", None),
    ("member3", "affinity", "clusterAffinity.labelSelector", "env in (prod)", "no label env"),
    ("member4", "affinity", "clusterAffinity.exclude", "member4", None),
]
LINES = [
    "member1: affinity, clusterAffinity.labelSelector needs env in (prod) (cluster: env=test)",
    "member2: taint, spec.taints gpu=true:NoSchedule is not tolerated",
    "member3: affinity, clusterAffinity.labelSelector needs env in (prod) (cluster: no label env)",
    "member4: affinity, clusterAffinity.exclude lists member4",
]


def rows_of(tree):
    return [(v["cluster"], v["verdict"], v["field"], v["value"], v["actual"]) for v in tree["verdicts"]]
