# SPDX-License-Identifier: Apache-2.0
"""The image that `make image` made, its layers unpacked, and a container of it."""

import contextlib
import hashlib
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "deploy"))

from made import NAME, source  # noqa: E402
from exporter import ROOT, Serving, equal  # noqa: E402

VERSION = source()[0]
ARCHITECTURES = ("amd64", "arm64")
NATIVE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
EMULATOR = {"amd64": "qemu-x86_64-static", "arm64": "qemu-aarch64-static"}
USER = 65532


def build_folder():
    return ROOT / os.environ.get("BUILD", "build") / "image"


def skip_unless_root():
    if os.geteuid() != 0:
        print("only root can mount and change the user as a container's runtime does")
        sys.exit(77)


class Image:
    """What an OCI layout has for one architecture."""

    def __init__(self, architecture, folder=None):
        self.blobs = (folder or build_folder()) / "oci/blobs/sha256"
        index = json.loads((self.blobs.parent.parent / "index.json").read_text())
        equal(
            [m["annotations"]["org.opencontainers.image.ref.name"] for m in index["manifests"]],
            [VERSION],
        )
        self.index = self.read(index["manifests"][0])
        found = [
            m
            for m in self.index["manifests"]
            if m["platform"] == {"os": "linux", "architecture": architecture}
        ]
        equal(len(found), 1)
        self.architecture, self.digest = architecture, found[0]["digest"]
        self.manifest = self.read(found[0])
        self.config = self.read(self.manifest["config"])

    def blob(self, descriptor):
        content = (self.blobs / descriptor["digest"].removeprefix("sha256:")).read_bytes()
        equal("sha256:" + hashlib.sha256(content).hexdigest(), descriptor["digest"])
        equal(len(content), descriptor["size"])
        return content

    def read(self, descriptor):
        return json.loads(self.blob(descriptor))

    def packed_bytes(self):
        return sum(layer["size"] for layer in self.manifest["layers"])

    def layers(self):
        for layer in self.manifest["layers"]:
            self.blob(layer)
            yield tarfile.open(self.blobs / layer["digest"].removeprefix("sha256:"))

    def members(self):
        found = []
        for layer in self.layers():
            with layer:
                found += layer.getmembers()
        return found

    @contextlib.contextmanager
    def unpacked(self):
        with tempfile.TemporaryDirectory(prefix="exporter-image-") as name:
            root = pathlib.Path(name) / "root"
            root.mkdir()
            for layer in self.layers():
                with layer:
                    layer.extractall(root)
            os.chmod(name, 0o755)
            yield root

    @contextlib.contextmanager
    def container(self, **mounts):
        """A command before the entrypoint that runs it as a runtime does: its own root, which
        cannot be written, and its own user. What is mounted has names like `etc_hosts`."""
        with self.unpacked() as root:
            places = {"/proc": "/proc", "/dev": "/dev"}
            if self.architecture != NATIVE:
                places["/emulator"] = shutil.which(EMULATOR[self.architecture])
            places.update(
                {"/" + place.replace("_", "/"): source for place, source in mounts.items()}
            )
            script = []
            for place, origin in places.items():
                target = root / place[1:]
                target.parent.mkdir(parents=True, exist_ok=True)
                if pathlib.Path(origin).is_dir():
                    target.mkdir(exist_ok=True)
                else:
                    target.touch()
                script.append(f"mount --bind {origin} {target}")
            script += [
                f"mount --rbind {root} {root}",
                f"mount -o remount,ro,bind {root}",
                f'exec chroot --userspec={self.config["config"]["User"]} {root} "$@"',
            ]
            # What is mounted on the way goes along with the root.
            emulator = ["/emulator"] if "/emulator" in places else []
            yield ["unshare", "--mount", "sh", "-ec", "\n".join(script), "sh", *emulator]

    def entrypoint(self):
        return self.config["config"]["Entrypoint"]

    @contextlib.contextmanager
    def serving(self, *arguments, **mounts):
        with self.container(**mounts) as through:
            with Serving(*arguments, through=through, program=self.entrypoint()[0]) as exporter:
                yield exporter

    def run(self, *arguments, **mounts):
        """Exit status and output."""
        with self.container(**mounts) as through:
            done = subprocess.run(
                [*through, *self.entrypoint(), *arguments],
                capture_output=True,
                text=True,
                timeout=120,
                check=False,
            )
            return done.returncode, done.stdout + done.stderr
