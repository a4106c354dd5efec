# SPDX-License-Identifier: Apache-2.0
"""Rows of benchmarks: each has a title, the values of its runs, a unit and a limit.

row() prints one and appends it as a line of JSON to the file that ROWS names, where tests/bench/run.py collects the
rows of all benchmarks. tests/bench/measure.c does the same for benchmarks in C.
"""
import json
import os
import statistics


def row(title, values, unit, limit=None, compared=True):
    """Prints the median of the values, and records all of them. `limit` is None for a row that has no target; a row of another program
    is not compared with the baseline."""
    values = values if isinstance(values, list) else [values]
    median = statistics.median(values)
    spread = f"({min(values):.2f}-{max(values):.2f}, {len(values)} runs)" if len(values) > 1 else ""
    verdict = "" if limit is None else f"limit {limit:<7g} {'ok' if median <= limit else 'MISSED'} "
    print(f"  {title:<66} {median:9.2f} {unit:4} {verdict}{spread}".rstrip(), flush=True)
    record({"title": title, "unit": unit, "limit": limit, "runs": values, "compared": compared})


def curve(name, point):
    """Records one point of a growth curve: a dictionary of numbers by name."""
    record({"curve": name, "point": point})


def record(entry):
    path = os.environ.get("ROWS")
    if path:
        with open(path, "a", encoding="utf-8") as lines:
            lines.write(json.dumps(entry) + "\n")
