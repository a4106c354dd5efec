# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: the program, a running one, pages, and waiting for them."""
import os
import pathlib
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "dashboards/demo"))
from servers import free_port  # noqa: E402, F401

PROGRAM = str(ROOT / os.environ.get("EXPORTER", "build/karmada-policy-exporter"))
FIXTURES = ROOT / "tests/fixtures/manifests"
PATIENCE_S = 20


def check(*arguments, stdin=None, environment=None, folder=None):
    """Run the verb check, in a folder if one is given; its exit status and texts."""
    done = subprocess.run(
        [PROGRAM, "check", *map(str, arguments)],
        input=stdin, capture_output=True, timeout=300, check=False, cwd=folder,
        env={**os.environ, **(environment or {})})
    done.stdout = done.stdout.decode()
    done.stderr = done.stderr.decode()
    return done


def equal(got, wanted):
    assert got == wanted, f"{got!r} is not {wanted!r}"


def unlocated(value):
    """A text or JSON value without lines and columns: of fields in commands, of objects in `serve`."""
    if isinstance(value, dict):
        return {key: 0 if key in ("line", "column") else unlocated(member) for key, member in value.items()}
    if isinstance(value, list):
        return [unlocated(each) for each in value]
    if not isinstance(value, str):
        return value
    # A narrow terminal shortens the name of the file by the length of its line.
    value = re.sub(r"\S+(\.(?:json|ya?ml)):\d+:\d+", r"FILE\1:0:0", value)
    return re.sub(r'("?\b(?:line|column)"?: ?)\d+', r"\g<1>0", value)


def unplaced(value):
    """A text or JSON value without the places of objects, which lists and plans of `serve` do not have."""
    if isinstance(value, dict):
        return {key: unplaced(member) for key, member in value.items() if key != "location"}
    if isinstance(value, list):
        return [unplaced(each) for each in value]
    if not isinstance(value, str):
        return value
    return re.sub(r',"location":\{"file":[^}]*\}|\n +location:\n +file: .*\n +line: .*\n +column: .*', "", value)


def as_checked(value):
    """A JSON value as commands on files print it: a problem without the time at which it was first seen,
    and without lines and columns."""
    value = unlocated(value)
    if isinstance(value, dict):
        seen = "problem" in value and value.get("sinceSeen")
        return {key: None if seen and key == "since" else as_checked(member)
                for key, member in value.items() if not (seen and key == "sinceSeen")}
    if isinstance(value, list):
        return [as_checked(each) for each in value]
    return re.sub(r", first seen [0-9TZ:-]+", "", value) if isinstance(value, str) else value


def holds(text, *wanted):
    for line in wanted:
        assert line in text, f"no {line!r} in:\n{text}"


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


def wait_for(what, claim, patience_s=PATIENCE_S):
    """Seconds until the claim holds; fails, naming it, if it never does."""
    start = time.monotonic()
    while not claim():
        if time.monotonic() - start > patience_s:
            raise AssertionError(f"waited {patience_s} s in vain for: {what}")
        time.sleep(0.01)
    return time.monotonic() - start


def served_paths():
    """Whether it is a page for people, by path: the rows of the tables of endpoints and pages."""
    paths = {}
    for header in "api.h", "page_index.h":
        text = (ROOT / "exporter/web" / header).read_text().replace("\\\n", " ")
        rows = re.findall(r'(?:ENDPOINT|PAGE)\(\s*(\w+), "\w+",\s+"(/[^"]*)",\s+(\S+)', text)
        assert len(rows) > 1, header
        paths |= {path: name.endswith("_PAGE") or content == "RESPONSE_HTML," for name, path, content in rows}
    return paths


def write_kubeconfig(path, server, token="secret-token"):
    """A kubeconfig for a server that takes the token; its path."""
    path.write_text(f"""
current-context: c
contexts: [{{name: c, context: {{cluster: k, user: u}}}}]
clusters: [{{name: k, cluster: {{server: "{server}"}}}}]
users: [{{name: u, user: {{token: {token}}}}}]
""")
    return path


class Serving:
    """The exporter as `make run` starts it, on a port that is free, or through a program before."""

    def __init__(self, *arguments, through=(), program=PROGRAM):
        self.process = subprocess.Popen(
            [*through, program, *map(str, arguments), "--web.listen-address", "127.0.0.1:0"],
            stderr=subprocess.PIPE)
        self.log = ""
        self.address = self.wait_for_log(r"address=(127\.0\.0\.1:\d+)")
        self.url = "http://" + self.address

    def read_log(self, timeout_s):
        """Read what it has logged since; false at the end of the log."""
        if not select.select([self.process.stderr], [], [], timeout_s)[0]:
            return True
        chunk = os.read(self.process.stderr.fileno(), 65536)
        self.log += chunk.decode()
        return chunk != b""

    def wait_for_log(self, pattern):
        deadline = time.monotonic() + PATIENCE_S
        while not (found := re.search(pattern, self.log)):
            alive = self.read_log(0.1)
            assert alive and time.monotonic() < deadline, f"no {pattern} in the log:\n{self.log}"
        return found.group(1) if found.groups() else found.group(0)

    def ready(self):
        return fetch(self.url + "/-/ready")[0] == 200

    def wait_until_ready(self):
        """Before it, a page lacks most families: who expects nothing would be content too early."""
        wait_for("being ready", self.ready)
        return self

    def metrics(self):
        return fetch(self.url + "/metrics")[1]

    def value(self, series):
        """The number of a series, written as on the page; None if it is not there."""
        for line in self.metrics().splitlines():
            if line.startswith(series + " "):
                return float(line[len(series) + 1:])
        return None

    def end(self, number=signal.SIGTERM):
        """Its exit status after the signal."""
        self.process.send_signal(number)
        status = self.process.wait(PATIENCE_S)
        while self.read_log(0):
            pass
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()


class Folder:
    """A new folder, with a copy of a fixture in it."""

    def __init__(self, fixture=None, beside=None):
        """`beside`: the folder that it is made in; None for the system's."""
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="exporter-e2e-", dir=beside))
        if fixture:
            shutil.copytree(FIXTURES / fixture, self.path, dirs_exist_ok=True)

    def write(self, name, content):
        """Beside the file and then over it, as editors do."""
        path = self.path / name
        beside = path.with_name(path.name + "~")
        beside.write_bytes(content if isinstance(content, bytes) else content.encode())
        beside.rename(path)
        return path

    def replace(self, name, old, new):
        text = (self.path / name).read_text()
        assert old in text, f"{name} has no '{old}'"
        self.write(name, text.replace(old, new))

    def align(self):
        """Let app-b's policy want what app-a's wants."""
        self.replace("app-b-policy.yaml", "conflictResolution: Abort",
                     "conflictResolution: Overwrite")
        self.replace("app-b-policy.yaml", "preserveResourcesOnDeletion: false",
                     "preserveResourcesOnDeletion: true")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def run_tests(module):
    """Run every function whose name begins with test_, in order; the exit status."""
    failed = 0
    tests = [(name, f) for name, f in vars(module).items() if name.startswith("test_")]
    for name, function in tests:
        try:
            function()
            print("ok   ", name)
        except Exception as error:  # whatever it is, it is a failure
            failed += 1
            print("FAIL ", name, "-", type(error).__name__, error)
    print(f"{len(tests) - failed} passed, {failed} failed")
    return 1 if failed or not tests else 0


def main(name):
    sys.exit(run_tests(sys.modules[name]))
