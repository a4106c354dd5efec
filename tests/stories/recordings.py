# SPDX-License-Identifier: Apache-2.0
"""Stories that a real Karmada control plane wrote, and the table of what each step comes to."""
import json
import pathlib

from control_plane import ROOT

RECORDINGS = ROOT / "tests/fixtures/recordings"
TABLE = pathlib.Path(__file__).with_name("recordings.txt")
TEMPLATES = ("deployments", "services", "configmaps", "secrets")


def read_table():
    """{step: {line: (state under preemption, state under static)}}"""
    table, step = {}, None
    for line in TABLE.read_text().splitlines():
        if line.startswith("#") or not line.strip():
            continue
        if not line.startswith(" "):
            step = table.setdefault(line, {})
            continue
        what, states = line.strip().split(": ", 1)
        states = states.split(" | ")
        step[what] = (states[0], states[-1])
    return table


def items(step, plural):
    path = RECORDINGS / step / f"{plural}.json"
    return json.loads(path.read_text())["items"] if path.exists() else []


def steps():
    return sorted(str(path.relative_to(RECORDINGS)) for path in RECORDINGS.glob("*/*"))
