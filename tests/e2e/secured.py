# SPDX-License-Identifier: Apache-2.0
"""An exporter with a web configuration, and certificates for it."""
import os
import pathlib
import subprocess

from exporter import ROOT, Serving, wait_for

DEMO = ROOT / "exporter/manifests/demo"
# bcrypt of "secret", at a cost of 10.
HASH = "$2b$10$9i6tF5ero8bb0PQTVqD/E.HdqdYKNDWqqC.xdnXoeAHGVT29pEIMK"


def run(*command):
    subprocess.run(command, check=True, capture_output=True, timeout=60)


class Authority:
    """A certificate authority in a folder, and what it signs."""

    def __init__(self, folder, name="ca"):
        self.folder, self.name = pathlib.Path(folder), name
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", self.path(f"{name}.key"), "-out", self.path(f"{name}.pem"), "-days", "30",
            "-subj", f"/CN={name}")

    def path(self, name):
        return str(self.folder / name)

    def sign(self, name, days=20, names="DNS:localhost,IP:127.0.0.1", usage="serverAuth,clientAuth"):
        run("openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
            "-keyout", self.path(f"{name}.key.new"), "-out", self.path(f"{name}.csr"), "-subj",
            f"/CN={name}")
        extensions = self.folder / f"{name}.ext"
        extensions.write_text(f"subjectAltName={names}\nextendedKeyUsage={usage}\n")
        run("openssl", "x509", "-req", "-in", self.path(f"{name}.csr"), "-CA",
            self.path(f"{self.name}.pem"), "-CAkey", self.path(f"{self.name}.key"),
            "-CAcreateserial", "-days", str(days), "-extfile", str(extensions), "-out",
            self.path(f"{name}.pem.new"))
        for suffix in ("key", "pem"):
            os.rename(self.path(f"{name}.{suffix}.new"), self.path(f"{name}.{suffix}"))
        return self


class Secured(Serving):
    """An exporter with a web configuration in a folder of its own."""

    def __init__(self, folder, config, *flags):
        self.folder = pathlib.Path(folder)
        self.configure(config)
        super().__init__("--manifests", DEMO, "--web.config.file", str(self.folder / "web.yml"), *flags)

    def configure(self, text):
        fresh = self.folder / "web.new"
        fresh.write_text(text)
        fresh.rename(self.folder / "web.yml")

    def curl(self, path, *flags):
        """curl's exit status, and the answer with its headers."""
        scheme = "https" if "tls_server_config" in (self.folder / "web.yml").read_text() else "http"
        port = self.address.rsplit(":", 1)[1]
        done = subprocess.run(
            ["curl", "-sgi", "-m", "20", "--cacert", str(self.folder / "ca.pem"), "--resolve",
             f"localhost:{port}:127.0.0.1", *flags, f"{scheme}://localhost:{port}{path}"],
            capture_output=True, timeout=60, check=False)
        return done.returncode, done.stdout.decode(errors="replace")

    def status(self, path, *flags):
        """The status of the answer; of a connection that failed, None."""
        code, text = self.curl(path, *flags)
        return int(text.split()[1]) if code == 0 and text else None

    def ready(self, *flags):
        wait_for("it to be ready", lambda: self.status("/-/ready", *flags) == 200)


TLS = "tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n"
USERS = f"basic_auth_users:\n  scraper: {HASH}\n"
SCRAPER = ("-u", "scraper:secret")
