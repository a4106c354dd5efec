# SPDX-License-Identifier: Apache-2.0
"""A real control plane for tests: etcd and kube-apiserver on free loopback ports, with Karmada's
kinds, an administrator (client certificate) and the exporter's own user (token), who may read.

`skip_without_api_server()` is the first thing that a test which needs one does.
"""
import atexit
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from api_client import ApiClient
from exporter import ROOT, free_port
from karmada_crds import karmada_definitions
from rbac import granted, role

START_S = 120
READER = "exporter"
READING = ("get", "list", "watch")
AUDIT_POLICY = f"""
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- level: RequestResponse
  users: [{READER}]
  verbs: [create, update, patch, delete, deletecollection]
- level: Metadata
  users: [{READER}]
- level: Metadata
  userGroups: ["system:serviceaccounts"]
- level: None
"""


def built(module):
    """The folder of the programs of a Go module of ours; where they cannot be had, None and why."""
    done = subprocess.run([ROOT / "tests/build-go.sh", module], capture_output=True, text=True,
                          check=False)
    if done.returncode == 77:
        return None, done.stderr.strip().splitlines()[-1]
    assert done.returncode == 0, done.stderr
    return pathlib.Path(done.stdout.strip()), None


def skip_without(module):
    """The folder of the programs; ends the test as skipped where they cannot be had."""
    folder, why = built(module)
    if not folder:
        print(why)
        sys.exit(77)
    return folder


def skip_without_api_server():
    return skip_without("tests/e2e/apiserver")


def openssl(*arguments):
    subprocess.run(["openssl", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)


class Certificates:
    """An authority, and what it signs."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = folder / "ca.pem"
        self.ca_key = folder / "ca.key"
        openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                "-days", "2", "-subj", "/CN=authority", "-keyout", self.ca_key, "-out", self.ca)

    def sign(self, name, subject, extensions):
        """Certificate and key of that name."""
        key, request = self.folder / f"{name}.key", self.folder / f"{name}.csr"
        certificate, wanted = self.folder / f"{name}.pem", self.folder / f"{name}.ext"
        wanted.write_text(extensions + "\n")
        openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                subject, "-keyout", key, "-out", request)
        openssl("x509", "-req", "-in", request, "-CA", self.ca, "-CAkey", self.ca_key,
                "-CAcreateserial", "-days", "2", "-extfile", wanted, "-out", certificate)
        return certificate, key


class ApiServer:
    """etcd and kube-apiserver; `admin` is a client that may do everything."""

    def __init__(self, programs, *flags, definitions=None):
        self.programs, self.flags = programs, flags
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="exporter-api-server-"))
        self.etcd = self.server = None
        # A test that fails, or is given up, in whatever way leaves no server behind.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
        atexit.register(self.end)
        self.certificates = Certificates(self.folder)
        self.serving = self.certificates.sign("server", "/CN=kube-apiserver",
                                              "subjectAltName=IP:127.0.0.1,DNS:localhost")
        self.admin_files = self.certificates.sign("admin", "/O=system:masters/CN=admin",
                                                  "extendedKeyUsage=clientAuth")
        openssl("genrsa", "-out", self.folder / "accounts.key", "2048")
        (self.folder / "audit.yaml").write_text(AUDIT_POLICY)
        self.give_tokens("token-1")
        self.port, self.etcd_port = free_port(), free_port()
        self.url = f"https://127.0.0.1:{self.port}"
        self.start_etcd()
        self.start()
        self.admin = ApiClient(self.port, self.certificates.ca, self.admin_files)
        self.admin.create_all(definitions or karmada_definitions())
        self.let_the_exporter_read()

    def let_the_exporter_read(self):
        self.admin.create_all([role(READER, READING), granted(READER, READER)])

    def give_tokens(self, *tokens):
        """What the exporter's user may show; the server reads it when it starts."""
        (self.folder / "tokens.csv").write_text(
            "".join(f"{token},{READER},1\n" for token in tokens))

    # ---- processes

    def launch(self, name, *arguments):
        with open(self.folder / f"{name}.log", "ab") as log:
            return subprocess.Popen([self.programs / name, *map(str, arguments)], stdout=log,
                                    stderr=log, stdin=subprocess.DEVNULL)

    def start_etcd(self):
        peer = f"http://127.0.0.1:{free_port()}"
        client = f"http://127.0.0.1:{self.etcd_port}"
        self.etcd = self.launch(
            "etcd", "--data-dir", self.folder / "etcd", "--unsafe-no-fsync", "--log-level=warn",
            "--quota-backend-bytes=8589934592",
            "--listen-client-urls", client, "--advertise-client-urls", client,
            "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
            "--initial-cluster", f"default={peer}")

    def start(self):
        """Start kube-apiserver on its port and wait until it is ready."""
        certificate, key = self.serving
        accounts = self.folder / "accounts.key"
        self.server = self.launch(
            "kube-apiserver", f"--etcd-servers=http://127.0.0.1:{self.etcd_port}",
            "--bind-address=127.0.0.1", f"--secure-port={self.port}",
            f"--tls-cert-file={certificate}", f"--tls-private-key-file={key}",
            f"--client-ca-file={self.certificates.ca}",
            f"--token-auth-file={self.folder}/tokens.csv", f"--service-account-key-file={accounts}",
            f"--service-account-signing-key-file={accounts}",
            "--service-account-issuer=https://localhost", "--authorization-mode=RBAC",
            "--service-cluster-ip-range=10.0.0.0/16", "--disable-admission-plugins=ServiceAccount",
            f"--audit-policy-file={self.folder}/audit.yaml",
            f"--audit-log-path={self.folder}/audit.log", *self.flags)
        deadline = time.monotonic() + START_S
        client = ApiClient(self.port, self.certificates.ca, self.admin_files)
        while client.status("/readyz") != 200:
            if self.server.poll() is not None or time.monotonic() > deadline:
                log = (self.folder / "kube-apiserver.log").read_text()
                raise AssertionError(f"kube-apiserver does not start:\n{log[-3000:]}")
            time.sleep(0.1)

    def stop(self):
        """Stop kube-apiserver at once: its open watches would keep it for a minute."""
        self.admin.hang_up()
        self.server.kill()
        self.server.wait()

    def end(self):
        for name, process in (("etcd", self.etcd), ("kube-apiserver", self.server)):
            if process and process.poll() not in (None, -signal.SIGKILL):
                log = (self.folder / f"{name}.log").read_text()
                print(f"{name} ended by itself, status {process.returncode}:\n{log[-3000:]}")
        for process in (self.server, self.etcd):
            if process and process.poll() is None:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()

    # ---- how to reach it, and who did

    def kubeconfig(self, name="kubeconfig", **user):
        """A file that leads here as the exporter's user: by a token unless another is given."""
        path = self.folder / name
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "karmada-apiserver",
            "clusters": [{"name": "karmada", "cluster": {
                "server": self.url, "certificate-authority": str(self.certificates.ca)}}],
            "users": [{"name": "user", "user": user or {"token": "token-1"}}],
            "contexts": [{"name": "karmada-apiserver",
                          "context": {"cluster": "karmada", "user": "user"}}]}))
        return path

    def requests(self):
        """The exporter's requests so far, and those of service accounts, as the server's audit log has
        them."""
        path = self.folder / "audit.log"
        lines = path.read_text().splitlines() if path.exists() else []
        return [json.loads(line) for line in lines if line.endswith("}")]

    def open_watches(self, since=0):
        """The resources that the exporter watches at the moment, each as often as it does, by
        watches that it has asked for after so many requests."""
        watches = {}
        for request in self.requests()[since:]:
            if request["verb"] == "watch":
                watches.setdefault(request["auditID"], {})[request["stage"]] = request
        return sorted(stages["ResponseStarted"]["objectRef"]["resource"]
                      for stages in watches.values()
                      if "ResponseStarted" in stages and "ResponseComplete" not in stages
                      and stages["ResponseStarted"]["responseStatus"]["code"] == 200)

    def request_log(self):
        """One line a request: for people, when something went wrong."""
        lines = [f"{r['requestReceivedTimestamp'][11:23]} {r['stage']:16} {r['verb']:6} "
                 f"{r.get('responseStatus', {}).get('code', '-')} {r['requestURI']}"
                 for r in self.requests()]
        return "\n".join(lines)


def resident_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status).group(1)) / 1024


def peak_mib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status).group(1)) / 1024


def cpu_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
