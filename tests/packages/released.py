# SPDX-License-Identifier: Apache-2.0
"""A release on loopback: its files, an OCI registry with TLS, a key that signs, and the tools of users."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "deploy"))

from made import NAME, source  # noqa: E402
from api_server import skip_without  # noqa: E402
from exporter import ROOT, free_port, wait_for  # noqa: E402
from secured import Authority  # noqa: E402

VERSION = source()[0]
BUILD = ROOT / os.environ.get("BUILD", "build")
USER = ("releaser", "a password")
REPOSITORY, PUBLIC = subprocess.run(
    [ROOT / "exporter/deploy/address.sh"], capture_output=True, text=True, check=True
).stdout.split()
TOOLS = [skip_without(module) for module in (
    "exporter/deploy/release", "tests/deploy/helm", "tests/packages/registry", "tests/packages/krew")]


class Registry:
    """An empty registry, a copy of the files of the release, and a shell that trusts the registry and has a new key."""

    def __init__(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="exporter-registry-"))
        Authority(self.folder).sign("registry")
        self.host = f"127.0.0.1:{free_port()}"
        self.address = f"{self.host}/karmada-policy-exporter"
        (self.folder / "home").mkdir()
        self.build = self.folder / "build"
        self.files = self.build / "release"
        shutil.copytree(BUILD / "release", self.files)
        for name in ("image", "tools"):
            (self.build / name).symlink_to((BUILD / name).resolve())
        path = os.pathsep.join([*map(str, TOOLS), os.environ["PATH"]])
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "XDG_CONFIG", "HELM", "COSIGN"))},
            "PATH": path, "HOME": str(self.folder / "home"), "SSL_CERT_FILE": str(self.folder / "ca.pem"),
            # The cache of build-go.sh is that of the user.
            "XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME") or str(pathlib.Path.home() / ".cache"),
            "BUILD": str(self.build), "COSIGN_PASSWORD": "throw-away",
        }
        self.process = subprocess.Popen(
            [TOOLS[2] / "registry", self.host, self.folder / "registry.pem", self.folder / "registry.key", *USER])
        self.run("cosign", "generate-key-pair")
        wait_for("the registry", lambda: self.ask(
            "curl", "--silent", "--cacert", self.folder / "ca.pem", f"https://{self.host}/v2/_catalog").returncode == 0)

    def ask(self, *command, text="", **environment):
        return subprocess.run(list(map(str, command)), cwd=self.folder, text=True, timeout=600, check=False,
                              env={**self.environment, **environment}, input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)

    def run(self, *command, **environment):
        """What it prints; fails with it if the command does."""
        done = self.ask(*command, **environment)
        assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}"
        return done.stdout

    def key(self, kind):
        return str(self.folder / f"cosign.{kind}")

    def make(self, step, *variables, **options):
        """A step of the release, as the workflow calls it."""
        return self.ask("make", "--no-print-directory", "-C", ROOT, f"release-{step}", *variables, **options)

    def login(self):
        return self.make("login", f"REGISTRY={self.address}", f"LOGIN={USER[0]}", text=USER[1])

    def push(self):
        return self.make("push", f"REGISTRY={self.address}", f"KEY={self.key('key')}")

    def verify(self, key=None):
        return self.make("verify", f"REGISTRY={self.address}", f"KEY={key or self.key('pub')}")

    def end(self):
        self.process.kill()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


__all__ = ["BUILD", "NAME", "PUBLIC", "REPOSITORY", "ROOT", "Registry", "TOOLS", "VERSION"]
