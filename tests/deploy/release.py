#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""release.py: install, upgrade and uninstall the chart with helm at a real API server, with all that
can be switched on. A part of `make chart`."""
import subprocess
import sys

sys.dont_write_bytecode = True
from render import NAME, built  # noqa: E402
from deploy import CHART, VALUES  # noqa: E402
from api_server import ApiServer, skip_without_api_server  # noqa: E402
from exporter import equal, holds  # noqa: E402
from planes import NAMESPACE, namespace, operator_definitions, restricted  # noqa: E402

# What Kubernetes lets a Secret have, in which helm keeps a release.
SECRET_MAX = 1024 * 1024
QUESTIONS = ("Is any policy not in force", "will a change of this policy touch",
             "sit on an outdated placement", "Why is my Deployment not propagated",
             "Does this merge request add")


class Helm:
    def __init__(self, server):
        certificate, key = server.admin_files
        self.program = built() / "helm"
        self.kubeconfig = server.kubeconfig("admin", **{"client-certificate": str(certificate),
                                                        "client-key": str(key)})

    def __call__(self, verb, *arguments):
        done = subprocess.run([self.program, "--kubeconfig", self.kubeconfig, "--namespace", NAMESPACE,
                               verb, NAME, *arguments], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main():
    with ApiServer(skip_without_api_server()) as server:
        server.admin.create_all([restricted(NAMESPACE), namespace("cnrm-system"),
                                 *operator_definitions()])
        helm = Helm(server)
        status, said = helm("install", CHART, "--values", VALUES / "everything.yaml")
        equal((status, "deployed" in said), (0, True))
        holds(said, *QUESTIONS, "https://proxy.example/karmada/metrics")
        sizes = [len(secret["data"]["release"]) for secret in server.admin.list("v1", "Secret", NAMESPACE)]
        assert max(sizes) < SECRET_MAX / 2, sizes
        status, said = helm("upgrade", CHART, "--reuse-values", "--set", "replicaCount=2")
        equal((status, "replicaCount" in said), (1, True))
        status, said = helm("upgrade", CHART, "--values", VALUES / "sidecar.yaml")
        equal(status, 0)
        holds(said, *QUESTIONS, "patch deployment karmada-controller-manager")
        equal(server.admin.list("apps/v1", "Deployment", NAMESPACE), [])
        equal(helm("uninstall")[0], 0)
        status, said = helm("install", CHART, "--set", "target=karmada")
        equal((status, len(server.admin.list("v1", "ServiceAccount", NAMESPACE))), (0, 1))
        print(f"installed, upgraded and removed; a release has {max(sizes):,} bytes")


if __name__ == "__main__":
    main()
