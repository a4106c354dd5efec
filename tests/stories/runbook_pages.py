# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a runbook, as an operator does who pastes one block after the other.

Each block runs in a bash. `kubectl exec … -- /karmada-policy-exporter` runs the program, which asks
the exporter of the test instead of that of the pod. For other calls of kubectl, which need a cluster,
only verbs and flags are checked (kubectl.py). `amtool` and `curl` are real.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from exporter import PROGRAM, ROOT

RUNBOOKS = ROOT / "alerts/runbooks"
KUBECTL = pathlib.Path(__file__).resolve().parent / "kubectl.py"
HEADING_OR_BLOCK = re.compile(r"^## ([^\n]*)$|^```sh\n(.*?)^```$", re.M | re.S)
# Address of the exporter in its pod.
IN_POD = "http://127.0.0.1:19180"


class Page:
    """The blocks of shell of a page, each with its section."""

    def __init__(self, path):
        self.name, self.text = path.stem, path.read_text()
        self.blocks, section = [], None
        for heading, script in HEADING_OR_BLOCK.findall(self.text):
            section = heading or section
            if script:
                self.blocks.append((section, script))

    def labels(self):
        """The labels of the alert that the page makes variables."""
        named = re.search(r"From the alert: (.*?)\. ", self.text.replace("\n", " "))[1]
        return [one for one in re.findall(r"`(\w+)`", named) if one.islower()]

    def silences(self):
        return [script for _, script in self.blocks if "amtool" in script]

    def commands(self):
        """All blocks but silences, which need an Alertmanager."""
        return [(section, script) for section, script in self.blocks if "amtool" not in script]


def pages():
    return {path.stem: Page(path) for path in sorted(RUNBOOKS.glob("*.md"))}


class Desk:
    """The shell of an operator: the exporter has the address `url`, and `variables` are set."""

    def __init__(self, url, variables):
        self.url = url
        self.home = tempfile.TemporaryDirectory(prefix="runbook-")
        path = pathlib.Path(self.home.name)
        (path / "kubectl").symlink_to(KUBECTL)
        self.calls = path / "calls"
        self.environment = {
            **os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PROGRAM": PROGRAM,
            "CALLS": str(self.calls), "CLUSTER": "lab", "HOST": "host", "KARMADA": "karmada",
            **{name.upper(): value for name, value in variables.items()}}
        self.printed = ""

    def run(self, script):
        """Run a block; returns the failed calls, and the block itself if it failed otherwise."""
        self.calls.write_text("")
        done = subprocess.run(["bash", "-uc", script.replace(IN_POD, self.url)], timeout=60,
                              capture_output=True, text=True, check=False, env=self.environment,
                              cwd=self.home.name)
        self.printed = done.stdout + done.stderr
        if "--show" in sys.argv:
            print(f"\n{script}---- {done.returncode}\n{self.printed}")
        failed = [one for one in self.calls.read_text().splitlines() if not one.startswith("0 ")]
        return failed + ([f"{done.returncode} the block"] if done.returncode else [])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.home.cleanup()
