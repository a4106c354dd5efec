# SPDX-License-Identifier: Apache-2.0
"""Real servers on loopback: an exporter, a Prometheus, an Alertmanager; each ends with its block."""
import json
import os
import pathlib
import random
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = str(ROOT / os.environ.get("EXPORTER", "build/karmada-policy-exporter"))
# Where `make setup` unpacks programs that it must not install.
UNPACKED = ROOT / os.environ.get("BUILD", "build") / "tools/usr/bin"
PATIENCE_S = 60


def program(name):
    """The path of a program, None if there is none."""
    return shutil.which(name) or shutil.which(name, path=str(UNPACKED))


FREE_PORTS = range(20000, 32000)
RESERVED = []


def free_port():
    """A free port of 127.0.0.1 for a server that takes no port 0, reserved until this process ends.

    A port that the kernel chooses can go to an outgoing connection of another process before the server
    binds it. The ports here are below the kernel's range, and a socket in the abstract namespace
    reserves a port among the callers of this function.
    """
    for port in random.sample(FREE_PORTS, len(FREE_PORTS)):
        reservation = socket.socket(socket.AF_UNIX)
        try:
            reservation.bind(f"\0karmada-policy-exporter-port-{port}")
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", port))
        except OSError:
            reservation.close()
            continue
        RESERVED.append(reservation)
        return port
    raise AssertionError(f"no free port in {FREE_PORTS}")


def fetch(url):
    """Status and text of a page; of a refused connection, 0 and nothing."""
    try:
        with urllib.request.urlopen(url, timeout=PATIENCE_S) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()
    except OSError:
        return 0, ""


class Server:
    """A program with its log, told to end by its own number and nothing else's."""

    def __init__(self, name, arguments, log, stdin=subprocess.DEVNULL, cwd=None):
        self.name, self.log = name, pathlib.Path(log)
        with open(self.log, "wb") as output:
            self.process = subprocess.Popen(list(map(str, arguments)), stdin=stdin, cwd=cwd,
                                            stdout=output, stderr=subprocess.STDOUT)

    def wait_until(self, what, claim):
        deadline = time.monotonic() + PATIENCE_S
        while not claim():
            if self.process.poll() is not None or time.monotonic() > deadline:
                text = self.log.read_text(errors="replace")[-2000:]
                self.end()
                raise RuntimeError(f"{self.name}: waited in vain to {what}; its log ends:\n{text}")
            time.sleep(0.05)

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.process.stdin:
            self.process.stdin.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()


class Exporter(Server):
    def __init__(self, log, *arguments, port=None, stdin=subprocess.DEVNULL):
        self.address = f"127.0.0.1:{port or free_port()}"
        self.url = f"http://{self.address}"
        super().__init__("karmada-policy-exporter",
                         [PROGRAM, *arguments, "--web.listen-address", self.address], log, stdin)
        self.wait_until("answer", lambda: fetch(self.url + "/-/healthy")[0] == 200)


class Prometheus(Server):
    def __init__(self, folder, config, port=None, flags=()):
        """`config`: the text of its configuration file."""
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "prometheus.yml").write_text(config)
        self.address = f"127.0.0.1:{port or free_port()}"
        self.url = f"http://{self.address}"
        super().__init__("prometheus", [
            program("prometheus"), f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'data'}", f"--web.listen-address={self.address}",
            *flags], folder / "prometheus.log")
        self.wait_until("be ready", lambda: fetch(self.url + "/-/ready")[0] == 200)

    def ask(self, path, **parameters):
        status, text = fetch(f"{self.url}/api/v1/{path}?" + urllib.parse.urlencode(parameters))
        if status != 200:
            raise RuntimeError(f"prometheus says {status} to {parameters}: {text[:500]}")
        return json.loads(text)["data"]

    def query(self, expr, **parameters):
        """Rows (labels, number) of an expression now."""
        return [(row["metric"], float(row["value"][1]))
                for row in self.ask("query", query=expr, **parameters)["result"]]


# Debian's Alertmanager has this path of its templates built in.
SHARE = b"/usr/share/prometheus/alertmanager"


def alertmanager_in(folder):
    """The program and the folder to start it in. One that was only unpacked does not find its
    templates, so it is copied with a path as long that means where it is started."""
    path = pathlib.Path(program("prometheus-alertmanager") or program("alertmanager"))
    unpacked = path.parent.parent / "share/prometheus/alertmanager"
    if str(unpacked).encode() == SHARE or not unpacked.exists():
        return path, None
    copy = folder / "alertmanager"
    copy.write_bytes(path.read_bytes().replace(SHARE, b"." + b"/" * (len(SHARE) - 1)))
    copy.chmod(0o755)
    return copy, unpacked


class Alertmanager(Server):
    def __init__(self, folder, config, port=None):
        folder = pathlib.Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "alertmanager.yml").write_text(config)
        self.address = f"127.0.0.1:{port or free_port()}"
        self.url = f"http://{self.address}"
        path, home = alertmanager_in(folder)
        super().__init__("alertmanager", [
            path, f"--config.file={folder / 'alertmanager.yml'}", f"--storage.path={folder / 'data'}",
            f"--web.listen-address={self.address}", "--cluster.listen-address="],
            folder / "alertmanager.log", cwd=home)
        self.wait_until("be ready", lambda: fetch(self.url + "/-/ready")[0] == 200)


# How long alerts wait and keep firing, and how often they are looked at.
WAIT = re.compile(r"^(\s+(?:for|keep_firing_for|interval): *)(\d\S*)", re.M)
SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}


def hurry(rules, times, most_s=float("inf")):
    """The text of a rule file whose alerts wait only a fraction of their time, and no longer than
    `most_s`."""
    def shorter(match):
        seconds = sum(int(n) * SECONDS[unit]
                      for n, unit in re.findall(r"(\d+)(ms|[smhdw])", match[2])) / times
        seconds = min(int(seconds), most_s)
        return f"{match[1]}{max(seconds, 1 if 'interval' in match[1] else 0)}s"
    return WAIT.sub(shorter, rules)


def bundled_rules():
    """The rule files of alerts/, none where there are none."""
    return sorted((ROOT / "alerts/rules").glob("*.y*ml"))
