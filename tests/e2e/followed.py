# SPDX-License-Identifier: Apache-2.0
"""Pages whose blocks build on each other: a reader types all of them in order, and compares what the page shows.

"…" in an output stands for any text, on a line of its own for any lines.
"""
import os
import re
import signal
import subprocess
import time

from exporter import ROOT
from markdown import blocks, session

UNPACKED = ROOT / os.environ.get("BUILD", "build") / "tools/usr/bin"
SERVERS = re.compile(r"^(make run|prometheus |(build/)?karmada-policy-exporter serve )")
# A reader waits for two minutes; the rules of these tests have an interval of 2 s.
PATIENCE_S = 60
OMITTED = "…"


def matches(shown, printed):
    """Whether the page shows this output."""
    pattern = ""
    for line in shown.split("\n"):
        words = ".*".join(map(re.escape, line.split(OMITTED)))
        pattern += r"(?:.*\n)*?" if line == OMITTED else words + r"\n"
    return re.fullmatch(pattern, printed.rstrip("\n") + "\n") is not None


class Reader:
    """Types commands in a folder like the root of the repository, and ends the servers that they start.
    `places`: addresses of the page, and those that they are here. `instead`: beginnings of commands, and
    functions that return another command for them."""

    def __init__(self, desk, places, instead):
        self.path, self.environment = desk.path, {**desk.environment}
        self.places, self.instead, self.servers = places, instead, []

    def here(self, text):
        for place, here in self.places.items():
            text = text.replace(place, here)
        return text

    def on_the_page(self, text):
        for place, here in self.places.items():
            text = text.replace(here, place)
        return text

    def replaced(self, command):
        for beginning, other in self.instead.items():
            if command.startswith(beginning):
                return other(command)
        return command

    def wait_for(self, command, shown, read):
        deadline = time.monotonic() + PATIENCE_S
        while not matches(shown, printed := self.on_the_page(read())):
            assert time.monotonic() < deadline, f"{command}\nprints:\n{printed}rather than:\n{shown}"
            time.sleep(0.5)

    def serve(self, command, shown):
        """Starts a server; the page shows the beginning of its log."""
        log = self.path / f"server-{len(self.servers)}.log"
        with open(log, "wb") as output:
            self.servers.append(subprocess.Popen(["bash", "-euc", self.here(command)], cwd=self.path,
                                                 env=self.environment, stdout=output, stderr=output,
                                                 stdin=subprocess.DEVNULL))
        self.wait_for(command, f"{shown}\n{OMITTED}", log.read_text)

    def run(self, script):
        done = subprocess.run(["bash", "-euo", "pipefail", "-c", self.here(script)], cwd=self.path,
                              env=self.environment, capture_output=True, text=True, timeout=120, check=False)
        assert done.returncode == 0, f"exit status {done.returncode} of:\n{script}\n{done.stdout}{done.stderr}"
        return done.stdout

    def compare(self, command, shown):
        """Commands that write are typed once; the others until the output is that of the page."""
        if re.search(r"--yes|kubectl (apply|create|delete|patch|annotate)", command):
            printed = self.on_the_page(self.run(command))
            assert not shown or matches(shown, printed), f"{command}\nprints:\n{printed}rather than:\n{shown}"
        elif shown:
            self.wait_for(command, shown, lambda: self.run(command))

    def follow(self, page):
        """Types all blocks; returns the number of commands with an output on the page."""
        compared = 0
        for language, content in blocks(page):
            if language == "sh":
                self.run("".join(self.replaced(line) for line in content.splitlines(keepends=True)))
            for command, shown in session(content) if language == "console" else ():
                if SERVERS.match(command):
                    self.serve(self.replaced(f"exec {command}" if " run" not in command else command), shown)
                else:
                    self.compare(command, shown)
                compared += bool(shown)
        return compared

    def end(self):
        for server in self.servers:
            server.send_signal(signal.SIGTERM)
        for server in self.servers:
            server.wait(60)
        self.servers = []
