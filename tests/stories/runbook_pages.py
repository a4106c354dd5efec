# SPDX-License-Identifier: Apache-2.0
"""The commands of a runbook, run as a person would who pastes them one block after the other.

Each block runs in a bash. `karmada-policy-exporter` there is the program with what a story needs
added at the end, which is all that stands in for a kubeconfig. A listing prints lines such as
`NAMESPACE=shop OBJECT=Deployment/web`; the one of the object in trouble is "pasted", so it has to
be among them. `kubectl exec … -- /karmada-policy-exporter` runs the same; of other calls of kubectl
and karmadactl, which need a cluster, the verbs and flags are looked at (tools.py). `amtool` and
`curl` are real, and have real servers.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from exporter import PROGRAM, ROOT

RUNBOOKS = ROOT / "alerts/runbooks"
TOOLS = pathlib.Path(__file__).resolve().parent / "tools.py"
BLOCK = re.compile(r"^(#{2,3}) ([^\n]*)$|^```sh\n(.*?)^```$", re.M | re.S)
LISTED = re.compile(r"^[A-Z_]+=\S*(?: [A-Z_]+=\S*)*$")


class Page:
    """A page's blocks of shell, each with the part (a heading of the third level) that it is in."""

    def __init__(self, path):
        self.name, self.text = path.stem, path.read_text()
        self.blocks, section, part = [], None, ()
        for mark, heading, script in BLOCK.findall(self.text):
            if script:
                self.blocks.append((section, part, script))
            elif mark == "##":
                section, part = heading, ()
            else:
                part = tuple(re.findall(r"`([^`]+)`", heading))

    def function(self):
        """What lets the commands run in the exporter's pod: a function of the shell."""
        return re.search(r"^karmada-policy-exporter\(\) \{\n.*?^\}\n", self.text, re.M | re.S)[0]

    def in_sentences(self):
        """The commands that are told within a sentence."""
        prose = re.sub(r"^```.*?^```$", "", self.text, flags=re.M | re.S)
        return sorted({" ".join(one.split()) for one in
                       re.findall(r"`(karmada-policy-exporter\s[^`]+)`", prose)})

    def parts(self):
        return {name for _, part, _ in self.blocks for name in part}

    def blocks_of(self, part):
        """What somebody reads who has an alert with that reason: its part, and what is in none."""
        return [(section, script) for section, parts, script in self.blocks
                if not parts or part in parts]


def pages():
    return {path.stem: Page(path) for path in sorted(RUNBOOKS.glob("*.md"))}


class Desk:
    """Where somebody sits who follows a page: a shell whose `karmada-policy-exporter` has `more` at
    its end, with the alert's labels as variables."""

    def __init__(self, more, labels, addresses=()):
        self.home = tempfile.TemporaryDirectory(prefix="runbook-")
        path = pathlib.Path(self.home.name)
        for name in ("karmada-policy-exporter", "kubectl", "karmadactl"):
            (path / name).symlink_to(TOOLS)
        self.calls = path / "calls"
        self.calls.write_text("")
        self.variables = {"cluster": "lab", **labels}
        self.environment = {
            **os.environ, "PATH": f"{path}:{os.environ['PATH']}", "PROGRAM": PROGRAM,
            "STORY": "\n".join(map(str, more)), "CALLS": str(self.calls),
            **{name.upper(): value for name, value in self.variables.items()}, **dict(addresses)}
        self.said = ""

    def run(self, script):
        """Run a block; the calls in it, and the block itself, whose exit status makes no sense."""
        self.calls.write_text("")
        done = subprocess.run(["bash", "-uc", script], capture_output=True, text=True, timeout=60,
                              check=False, env=self.environment, cwd=self.home.name)
        self.said = done.stdout + done.stderr
        if "--show" in sys.argv:
            print(f"\n{script}---- {done.returncode}\n{self.said}")
        ends = [one.split(" ", 1) for one in self.calls.read_text().splitlines()]
        odd = [f"{status}: {call}" for status, call in ends if int(status) not in statuses(call)]
        last = done.returncode not in {0, *(int(status) for status, _ in ends[-1:])}
        return odd + ([f"{done.returncode}: the block"] if last else [])

    def listed(self):
        """The lines of a listing, each as the variables that it sets."""
        return [dict(one.split("=", 1) for one in line.split())
                for line in self.said.splitlines() if LISTED.match(line)]

    def paste(self, variables):
        self.environment.update(variables)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.home.cleanup()


# What a call may end with: `check` says whether there are findings, `reconcile` whether it refuses.
STATUSES = {"karmada-policy-exporter check": {0, 1}, "karmada-policy-exporter reconcile": {0, 1}}


def statuses(call):
    """The exit statuses of a call that make sense."""
    if "--fail-on" in call:
        return {1}
    return next((these for begin, these in STATUSES.items() if begin in call), {0})


def follow(page, part, story, more, before=""):
    """Follow the page with that story's alert: what went wrong, None if nothing did. `before` each
    block goes something else."""
    wanted = (story["kind"], story["name"])
    shown = False
    with Desk(more, story["alerted"], {"HOST": "host"}) as desk:
        for section, script in page.blocks_of(part):
            if "amtool" in script:  # A test of its own has them at a real Alertmanager.
                continue
            odd = desk.run(before + script)
            if odd:
                return f"exit status {odd} of:\n{script}{desk.said}"
            rows = desk.listed()
            fits = [row for row in rows if "/".join(wanted) in names(row)]
            if rows and not fits:
                return f"{' '.join(wanted)} is not among what this lists:\n{script}{desk.said}"
            if fits:
                desk.paste(fits[0])
            shown = shown or bool(fits) or titled_in(desk.said, story)
        if not shown:
            return "no command names the object in trouble"
        return None


def names(row):
    """What a line of a listing names, as KIND/NAME."""
    return {re.sub(r"^(\w+)[^/]*/", r"\1/", row.get("OBJECT", "")),
            re.sub(r"/.*/", "/", row.get("PP", ""))} - {""}


def titled_in(said, story):
    return f"{story['kind']} {story['target']}" in said
