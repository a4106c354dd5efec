# SPDX-License-Identifier: Apache-2.0
"""A second control plane for the pictures: an exporter that watches a real kube-apiserver.

The board about exporters has panels about watches, lists, audits, certificates and notifications, which an
exporter on manifests leaves empty.
"""
import pathlib
import ssl
import sys
import threading
import urllib.error
import urllib.request

from servers import PROGRAM, ROOT, Server, free_port

# A server and the small objects for it, as the tests have them.
sys.path.append(str(ROOT / "tests/e2e"))
from api_server import READER, READING, ApiServer, built  # noqa: E402
from cluster_objects import deployment, policy  # noqa: E402
from rbac import granted, role  # noqa: E402

# Seconds between changes, and the number of changes after which the server starts again.
CHANGE_S, RESTART = 3, 20
KARMADAS = tuple(f"{group}.karmada.io" for group in ("policy", "work", "cluster", "apps", "autoscaling"))


class LiveServer(ApiServer):
    """An API server at which the exporter may not read Secrets."""

    def let_the_exporter_read(self):
        self.admin.create_all([
            role("some", READING, ("apps", "coordination.k8s.io", *KARMADAS)), granted("some", READER),
            role("core", READING, ("",), ("configmaps", "events", "namespaces")), granted("core", READER)])


class LivePlane:
    """The server, which starts again every minute, an exporter with TLS and notifications, and a template that
    changes all the time."""

    def __init__(self, folder):
        programs, why = built("tests/e2e/apiserver")
        if not programs:
            raise RuntimeError(f"no API server: {why}")
        self.folder = pathlib.Path(folder)
        self.server = LiveServer(programs)
        self.exporter, self.ended = None, threading.Event()
        self.address = f"127.0.0.1:{free_port()}"
        # The exporter asks for Secrets, and for a kind that this server does not have.
        self.server.admin.create_all([
            policy("web", "Deployment", "ConfigMap", "Secret"), policy("gadgets", "Widget"),
            *(deployment(name) for name in ("home", "login", "help"))])

    def start(self, alertmanager):
        certificate, key = self.server.serving
        web = self.folder / "web.yml"
        web.write_text(f"tls_server_config: {{cert_file: {certificate}, key_file: {key}}}\n")
        self.exporter = Server("exporter on an API server", [
            PROGRAM, "--kubeconfig", self.server.kubeconfig(), "--kube.audit-interval", "20s",
            "--problems.patience", "data_incomplete=5s", "--problems.resolve-delay", "5s",
            "--alertmanager.url", alertmanager.url, "--web.config.file", web,
            "--web.listen-address", self.address], self.folder / "live.log")
        self.exporter.wait_until("be ready", self.ready)
        threading.Thread(target=self.change, daemon=True).start()

    def ready(self):
        tls = ssl.create_default_context(cafile=str(self.server.certificates.ca))
        try:
            with urllib.request.urlopen(f"https://{self.address}/-/ready", context=tls, timeout=5) as answer:
                return answer.status == 200
        except (OSError, urllib.error.HTTPError):
            return False

    def change(self):
        client, count = self.server.admin.another(), 0
        while not self.ended.wait(CHANGE_S):
            count += 1
            if count % RESTART == 0:
                client.hang_up()
                self.server.stop()
                self.server.start()
            client.patch(deployment("home"), {"metadata": {"annotations": {"change": str(count)}}})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ended.set()
        if self.exporter:
            self.exporter.end()
        self.server.end()
