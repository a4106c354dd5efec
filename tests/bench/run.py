#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run.py [--only NAMES] [--json FILE] [--baseline FILE] PROGRAM...

Runs benchmarks one after another and writes their rows and growth curves to FILE (build/bench.json). FILE keeps the
rows of benchmarks that do not run this time. NAMES selects benchmarks by name: "load" is bench_load, "start" is
start.bench.

Then compares the medians with those of the baseline (tests/bench/baseline.json). Units in TOLERANCE are compared:
ratios within one run, and memory. Times differ between machines and are only printed. Exits 1 if a row is worse than its baseline by
more than the tolerance, or if a benchmark failed.
"""
import argparse
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
TOLERANCE = {"x": 0.2, "B": 0.03, "MiB": 0.05, "MB": 0.03}


def name_of(program):
    return pathlib.Path(program).name.removeprefix("bench_").removesuffix(".bench")


def machine():
    """Facts that a reader needs to judge times."""
    model = "unknown"
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            model = line.partition(":")[2].strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {"processor": model, "cores": os.cpu_count(), "memory_gib": round(memory / 2**30), "kernel": platform.release()}


def revision():
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def run(program):
    """The rows and the points of curves of one benchmark; None if it failed."""
    name = name_of(program)
    print(f"== {name}", flush=True)
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as lines:
        begun = time.monotonic()
        status = subprocess.run([program], env={**os.environ, "ROWS": lines.name}, check=False).returncode
        entries = [json.loads(line) for line in lines]
    print(f"  {time.monotonic() - begun:.0f} s" + (f", exit status {status}" if status else ""), flush=True)
    for entry in entries:
        entry |= {"bench": name, "command": f"make bench BENCH={name}", "revision": revision()}
        if "runs" in entry:
            entry["median"] = statistics.median(entry["runs"])
    return None if status not in (0, 77) else entries


def read(path):
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"entries": []}


def key(entry):
    return f"{entry['bench']}: {entry['title']}"


def regressions(entries, baseline):
    """(title, median, baseline, tolerance) of each row that is worse than its baseline allows."""
    before = {key(entry): entry["median"] for entry in baseline["entries"] if "title" in entry}
    return [(key(entry), entry["median"], before[key(entry)], TOLERANCE[entry["unit"]])
            for entry in entries
            if "title" in entry and entry.get("compared", True) and entry["unit"] in TOLERANCE and key(entry) in before
            and entry["median"] > before[key(entry)] * (1 + TOLERANCE[entry["unit"]])]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path, default=ROOT / "build/bench.json")
    parser.add_argument("--baseline", type=pathlib.Path, default=ROOT / "tests/bench/baseline.json")
    parser.add_argument("programs", nargs="+")
    arguments = parser.parse_args()
    wanted = arguments.only.split()
    unknown = set(wanted) - {name_of(program) for program in arguments.programs}
    if unknown:
        sys.exit(f"run.py: no benchmark {' '.join(sorted(unknown))}")
    failed, ran = [], []
    for program in arguments.programs:
        if wanted and name_of(program) not in wanted:
            continue
        entries = run(program)
        if entries is None:
            failed.append(name_of(program))
            continue
        ran += entries
        # Written after each benchmark: a long run that is interrupted keeps its results.
        kept = [entry for entry in read(arguments.json)["entries"] if entry["bench"] != name_of(program)]
        arguments.json.parent.mkdir(exist_ok=True)
        arguments.json.write_text(json.dumps({"date": time.strftime("%Y-%m-%d"), "machine": machine(),
                                              "entries": kept + entries}, indent=1) + "\n", encoding="utf-8")
    worse = regressions(ran, read(arguments.baseline))
    for title, median, before, tolerance in worse:
        print(f"REGRESSED {title}: {median:.2f}, baseline {before:.2f}, tolerance {tolerance:.0%}")
    missed = sum("title" in entry and entry["limit"] is not None and entry["median"] > entry["limit"] for entry in ran)
    print(f"{sum('title' in entry for entry in ran)} rows in {arguments.json}: {missed} missed their limit, "
          f"{len(worse)} regressed; {len(failed)} benchmarks failed {' '.join(failed)}".rstrip())
    sys.exit(1 if worse or failed else 0)


if __name__ == "__main__":
    main()
