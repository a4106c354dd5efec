# SPDX-License-Identifier: Apache-2.0
"""The API server of tests/e2e/crowd: many kinds, or many changes, for little CPU."""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from api_server import Certificates
from exporter import ROOT


def skip_without_crowd():
    """The program; ends the test as skipped where it cannot be built."""
    done = subprocess.run([ROOT / "tests/build-go.sh", "tests/e2e/crowd"], capture_output=True,
                          check=False)
    if done.returncode == 77:
        print(done.stderr.decode().strip().splitlines()[-1])
        sys.exit(77)
    assert done.returncode == 0, done.stderr.decode()
    return pathlib.Path(done.stdout.decode().strip()) / "crowd"


class Crowd:
    """The server on a port of its own, and a kubeconfig for it."""

    def __init__(self, program, *flags):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="exporter-crowd-"))
        certificates = Certificates(self.folder)
        certificate, key = certificates.sign("server", "/CN=crowd", "subjectAltName=IP:127.0.0.1")
        self.process = subprocess.Popen(
            [program, "-cert", certificate, "-key", key, *map(str, flags)], text=True, bufsize=1,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.url = "https://" + self.process.stdout.readline().strip()
        self.authority = certificates.ca
        self.kubeconfig = self.write_kubeconfig("kubeconfig", token="secret")

    def write_kubeconfig(self, name, **user):
        """A file that leads here as that user; its token is "secret", from wherever it comes."""
        path = self.folder / name
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "k", "cluster": {
                "server": self.url, "certificate-authority": str(self.authority)}}],
            "users": [{"name": "u", "user": user}],
            "contexts": [{"name": "c", "context": {"cluster": "k", "user": "u"}}]}))
        return path

    def say(self, *words):
        """Have it obey; what it counts, then."""
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        return json.loads(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
