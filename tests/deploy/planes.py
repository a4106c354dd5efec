# SPDX-License-Identifier: Apache-2.0
"""A real API server that takes the chart's objects: the Prometheus operator's kinds, namespaces with
Pod Security, service accounts, and Secrets as the kubelet mounts them."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import urllib.parse

from deploy import ROOT, rendered
from api_client import identity

OPERATOR = "github.com/prometheus-operator/prometheus-operator"
OPERATORS_KINDS = ("prometheusrules", "scrapeconfigs", "servicemonitors")
NAMESPACE = "karmada-system"
# Where the chart mounts Secrets.
MOUNTS = "/etc/karmada-policy-exporter"


def operator_definitions():
    """The operator's CustomResourceDefinitions, of its Go module; ends the test as skipped where it
    cannot be had."""
    if not shutil.which("go"):
        print(f"Go is missing: the module {OPERATOR} cannot be had")
        sys.exit(77)
    done = subprocess.run(["go", "mod", "download", "-json", OPERATOR], capture_output=True, text=True,
                          check=False, cwd=ROOT / "tests/deploy/operator",
                          env={**os.environ, "GOTOOLCHAIN": "local"})
    said = json.loads(done.stdout or "{}")
    if "Dir" not in said:
        print(f"the module {OPERATOR} cannot be had:", said.get("Error") or done.stderr.strip())
        sys.exit(77)
    folder = pathlib.Path(said["Dir"]) / "jsonnet/prometheus-operator"
    return [json.loads((folder / f"{kind}-crd.json").read_text()) for kind in OPERATORS_KINDS]


def namespace(name, **labels):
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def restricted(name):
    """A namespace where the API server refuses pods that ask for more than they should."""
    return namespace(name, **{"pod-security.kubernetes.io/enforce": "restricted",
                              "pod-security.kubernetes.io/enforce-version": "latest"})


def create_strictly(client, obj, dry_run=False):
    """Create it; an unknown or doubled field is an error."""
    api_version, kind, where, _ = identity(obj)
    path = client.collection(api_version, kind, where) + "?fieldValidation=Strict"
    return client.request("POST", path + ("&dryRun=All" if dry_run else ""), obj)


def pod_of(workload):
    """The pod that a controller makes of a Deployment or StatefulSet."""
    template = workload["spec"]["template"]
    metadata = {key: template["metadata"][key] for key in ("labels", "annotations")
                if key in template["metadata"]}
    return {"apiVersion": "v1", "kind": "Pod", "spec": template["spec"],
            "metadata": {**metadata, "name": f"{workload['metadata']['name']}-0",
                         "namespace": workload["metadata"]["namespace"]}}


def token_of(client, account, bound_to=None):
    """What `kubectl create token` prints."""
    place = f"/api/v1/namespaces/{account['metadata']['namespace']}/serviceaccounts/" \
            f"{urllib.parse.quote(account['metadata']['name'])}/token"
    spec = {"expirationSeconds": 3600}
    if bound_to:
        spec["boundObjectRef"] = {"apiVersion": "v1", "kind": "Secret", "name": bound_to["name"],
                                  "uid": bound_to["uid"]}
    return client.request("POST", place, {"apiVersion": "authentication.k8s.io/v1",
                                          "kind": "TokenRequest", "spec": spec})["status"]["token"]


class SecretVolume:
    """A folder with the files of a Secret as the kubelet has it: each is a link into ..data, itself a
    link that is replaced in one step when the Secret changes."""

    def __init__(self, files):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="exporter-secret-"))
        self.write(files)

    def write(self, files):
        fresh = pathlib.Path(tempfile.mkdtemp(prefix="..2026_", dir=self.path))
        fresh.chmod(0o755)
        for name, content in files.items():
            (fresh / name).write_text(content)
        data, beside = self.path / "..data", self.path / "..data_tmp"
        old = data.resolve() if data.exists() else None
        beside.symlink_to(fresh.name)
        beside.rename(data)
        for name in files:
            if not (self.path / name).is_symlink():
                (self.path / name).symlink_to(f"..data/{name}")
        for link in self.path.iterdir():
            if not link.name.startswith("..") and link.name not in files:
                link.unlink()
        if old:
            subprocess.run(["rm", "-rf", old], check=True)


class Container:
    """What a workload says of the exporter's container, for running it here."""

    def __init__(self, workload):
        self.pod = workload["spec"]["template"]["spec"]
        self.spec = next(container for container in self.pod["containers"]
                         if container["name"] == "karmada-policy-exporter")
        self.port = self.spec["ports"][0]
        # The key of the Secret, which is the file's name.
        self.kubeconfig = self.spec["args"][0].rsplit("/", 1)[1]

    def arguments(self, volumes, known_flags, **environment):
        """Its flags, with the folders {name below MOUNTS: where it is} and the port of a test."""
        flags = []
        for flag in self.spec["args"]:
            name = flag.removeprefix("--").split("=")[0]
            for key, value in environment.items():
                flag = flag.replace(f"$({key})", value)
            for mounted, path in volumes.items():
                flag = flag.replace(f"{MOUNTS}/{mounted}/", f"{path}/")
            if name == "web.listen-address":
                assert flag == f"--web.listen-address=:{self.port['containerPort']}", flag
            elif name in known_flags:
                flags.append(flag)
            else:
                print(f"      without --{name}, which this exporter does not have")
        assert MOUNTS not in " ".join(flags), flags
        return flags

    def probes(self):
        """{which: (scheme, path)} of its probes, all of its own port."""
        found = {}
        for name in ("startupProbe", "livenessProbe", "readinessProbe"):
            ask = self.spec[name]["httpGet"]
            assert ask["port"] == self.port["name"], ask
            found[name] = ask["scheme"].lower(), ask["path"]
        return found


def workload_of(path):
    return next(obj for obj in rendered(path) if obj["kind"] in ("Deployment", "StatefulSet"))
