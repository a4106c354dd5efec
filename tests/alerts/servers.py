# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus with rule files, and what it shares with other programs that serve HTTP."""
import json
import shutil
import signal
import socket
import subprocess
import tempfile
import pathlib
import urllib.parse

from exporter import fetch, wait_for


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def relocated(name, home):
    """The program, or, if it was only unpacked and what it reads is not where its package would
    install it, a copy that looks in its working folder, with that folder: Debian's Alertmanager
    has the path of its templates built in."""
    path = pathlib.Path(shutil.which(name)).resolve()
    unpacked = path.parent.parent / home.removeprefix("/usr/")
    if pathlib.Path(home).exists() or not unpacked.exists():
        return str(path), None, None
    # Of the same length, because it lies within the program: "./////".
    here = b"." + b"/" * (len(home) - 1)
    holder = pathlib.Path(tempfile.mkdtemp(prefix="alerts-"))
    copy = holder / name
    copy.write_bytes(path.read_bytes().replace(home.encode(), here))
    copy.chmod(0o755)
    return str(copy), unpacked, holder


class Program:
    """A server on a port of the kernel's choice, with its data in a folder that goes with it.
    In its arguments {folder} and {address} stand for these."""

    def __init__(self, name, files, arguments, ready, home="/usr/share/prometheus"):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="alerts-"))
        for file, text in files.items():
            (self.folder / file).write_text(text)
        self.address = f"127.0.0.1:{free_port()}"
        self.url = "http://" + self.address
        self.log = open(self.folder / "log", "w+b")
        program, where, self.holder = relocated(name, home)
        self.process = subprocess.Popen(
            [program, *[a.format(folder=self.folder, address=self.address) for a in arguments]],
            stdout=self.log, stderr=subprocess.STDOUT, cwd=where)
        wait_for(f"{name} to be ready", lambda: self.is_ready(ready), 60)

    def is_ready(self, page):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        return fetch(self.url + page)[0] == 200

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)
        self.log.close()
        shutil.rmtree(self.folder)
        if self.holder:
            shutil.rmtree(self.holder)


class Prometheus(Program):
    """It scrapes one exporter each second, evaluates the rules, and tells an Alertmanager."""

    def __init__(self, exporter, rules, alertmanager, scrape_s=1):
        files = {f"rules-{i}.yml": json.dumps(content) for i, content in enumerate(rules)}
        config = {
            "global": {"scrape_interval": f"{scrape_s}s", "evaluation_interval": "1s"},
            "rule_files": ["rules-*.yml"],
            "alerting": {"alertmanagers": [
                {"static_configs": [{"targets": [alertmanager]}]}] if alertmanager else []},
            "scrape_configs": [{"job_name": "karmada-policy-exporter", "static_configs": [
                {"targets": [exporter], "labels": {"cluster": "lab"}}]}],
        }
        super().__init__(
            "prometheus", {**files, "prometheus.yml": json.dumps(config)},
            ["--config.file={folder}/prometheus.yml", "--storage.tsdb.path={folder}/data",
             "--web.listen-address={address}", "--rules.alert.resend-delay=2s"], "/-/ready")

    def query(self, expression):
        """The numbers that an expression has now, with their labels."""
        text = fetch(self.url + "/api/v1/query?query=" + urllib.parse.quote(expression))[1]
        return [(row["metric"], float(row["value"][1]))
                for row in json.loads(text)["data"]["result"]]

    def rules(self):
        text = fetch(self.url + "/api/v1/rules")[1]
        return json.loads(text)["data"]["groups"]

    def unhealthy_rules(self):
        """What went wrong with the last evaluation of any rule."""
        return [(rule["name"], rule.get("lastError")) for group in self.rules()
                for rule in group["rules"] if rule["health"] == "err"]
