#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""report.py --write | --check

--write takes build/bench.json as tests/bench/baseline.json, and writes its figures into the documentation:
exporter/docs/growth.svg, and the blocks of exporter/docs/sizing.md between `<!-- figures: NAME -->` and
`<!-- figures end -->`. --write without build/bench.json writes them from the baseline as it is.
--check exits 1 if the documentation does not have the figures of the baseline.

tests/bench/before.json has the rows of the commit before the work on a million objects, for comparison.
"""
import argparse
import json
import math
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RESULTS, BASELINE, BEFORE = ROOT / "build/bench.json", ROOT / "tests/bench/baseline.json", ROOT / "tests/bench/before.json"
PAGE, CURVES = ROOT / "exporter/docs/sizing.md", ROOT / "exporter/docs/growth.svg"
BLOCK = re.compile(r"(<!-- figures: (\w+) -->\n).*?(<!-- figures end -->)", re.S)
PEERS = ("exporter", "kube-state-metrics", "informers", "curl")
CHART_LIMIT_MIB = 512
LEAST_LIMIT_MIB, LIMIT_STEP_MIB = 64, 32
# Worlds in the table of the memory formula.
WORLDS = (1000, 10_000, 30_000, 100_000, 300_000, 1_000_000)


def number(value):
    """Three significant digits, without an exponent."""
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:,.{digits}f}"


class Results:
    """The rows of one file by benchmark and title."""

    def __init__(self, path):
        self.file = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {"entries": []}
        self.rows = {(entry["bench"], entry["title"]): entry for entry in self.file["entries"] if "title" in entry}

    def growth(self):
        """The points of the growth curve, smallest world first."""
        points = [entry["point"] for entry in self.file["entries"] if entry.get("curve") == "growth"]
        return sorted(points, key=lambda point: point["templates"])

    def text(self, bench, title):
        """The median of a row with its unit, or a dash."""
        entry = self.rows.get((bench, title))
        if not entry:
            return "–"
        unit = {"x": " ×"}.get(entry["unit"], " " + entry["unit"] if entry["unit"] else "")
        return number(entry["median"]) + unit


def table(header, rows):
    lines = ["| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows]) + "\n"


# ---- blocks of sizing.md


def targets(results, before):
    """Each row that has a limit, with its value before."""
    rows = []
    for (bench, title), entry in results.rows.items():
        if entry["limit"] is None:
            continue
        spread = f" ({number(min(entry['runs']))}–{number(max(entry['runs']))})" if len(entry["runs"]) > 1 else ""
        limit = f"{entry['limit']:,g}"
        verdict = limit if entry["median"] <= entry["limit"] else f"{limit}, missed"
        rows.append([title, before.text(bench, title), results.text(bench, title) + spread, verdict, f"`BENCH={bench}`"])
    return table(["measurement", "before", "median (spread)", "limit", "command"], rows)


def comparison(results, _):
    measures = (("start to ready", "start to ready"), ("processor time of the start", "CPU of the start"),
                ("resident memory", "RSS"), ("peak of the resident memory", "peak RSS"), ("a scrape", "scrape"))
    rows = [[name] + [results.text("peers", f"{peer}: {title}") for peer in PEERS] for name, title in measures]
    return table(["measure", "this exporter", "kube-state-metrics", "client-go informers", "curl"], rows)


def growth(results, _):
    return table(["templates and bindings", "policies", "resident memory", "processor time to ready", "start to ready"],
                 [[f"{point['templates']:,}", f"{point['policies']:,}", f"{number(point['rss_mib'])} MiB",
                   f"{number(point['cpu_s'])} s", f"{number(point['ready_s'])} s"] for point in results.growth()])


def formula(points):
    """MiB of an empty exporter and MiB for 1,000 templates with bindings: a line that no measured point exceeds."""
    least = points[0]
    each = max((point["rss_mib"] - least["rss_mib"]) / (point["templates"] - least["templates"]) for point in points[1:])
    each = math.ceil(each * 1000 * 100) / 100
    return math.ceil(least["rss_mib"] - each * least["templates"] / 1000), each


def limit_of(mib):
    return max(LEAST_LIMIT_MIB, math.ceil(2 * mib / LIMIT_STEP_MIB) * LIMIT_STEP_MIB)


def memory(results, _):
    points = results.growth()
    if len(points) < 2:
        return "Not measured yet.\n"
    base, each = formula(points)
    enough = int((CHART_LIMIT_MIB / 2 - base) / each) // 10 * 10_000
    rows = []
    for templates in WORLDS:
        mib = base + each * templates / 1000
        measured = [point["rss_mib"] for point in points if point["templates"] == templates]
        rows.append([f"{templates:,}", f"{mib:,.0f} MiB", f"{number(measured[0])} MiB" if measured else "–",
                     f"{limit_of(mib):,} MiB"])
    return (f"- Resident memory: {base} MiB, plus {each:.2f} MiB for every 1,000 templates with a binding at an API server.\n"
            f"- Memory limit: twice the result, and at least {LEAST_LIMIT_MIB} MiB. The limit of the chart, "
            f"{CHART_LIMIT_MIB} MiB, is enough for {enough:,} templates.\n\n"
            + table(["templates with bindings", "formula", "measured", "limit"], rows))


BLOCKS = {"targets": targets, "comparison": comparison, "growth": growth, "memory": memory}


def page_of(results, before):
    """sizing.md with the figures of these results."""
    return BLOCK.sub(lambda found: found[1] + "\n" + BLOCKS[found[2]](results, before) + "\n" + found[3],
                     PAGE.read_text(encoding="utf-8"))


# ---- curves

WIDTH, HEIGHT, LEFT, TOP, GAP = 340, 220, 60, 40, 90
STYLE = """text{font:12px sans-serif;fill:#1f2328}.title{font-weight:bold}.grid{stroke:#d0d7de}.line,.before{fill:none;stroke:#0969da;stroke-width:2}
.before{stroke:#8c959f;stroke-dasharray:5 4}.dot{fill:#0969da}
@media(prefers-color-scheme:dark){text{fill:#e6edf3}.grid{stroke:#3d444d}.line{stroke:#58a6ff}.dot{fill:#58a6ff}}"""


def short(value):
    """10k, 1M, or the number itself."""
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def decades(values):
    return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))


def panel(points, before, fact, title, left):
    """One fact now and before, on logarithmic axes: a straight line of slope one is linear growth."""
    low_x, high_x = decades([point["templates"] for point in points + before])
    low_y, high_y = decades([point[fact] for point in points + before])

    def x(value):
        return left + WIDTH * (math.log10(value) - low_x) / (high_x - low_x)

    def y(value):
        return TOP + HEIGHT * (1 - (math.log10(value) - low_y) / (high_y - low_y))

    parts = [f'<text class="title" x="{left}" y="{TOP - 18}">{title}</text>']
    for decade in range(low_x, high_x + 1):
        at = x(10 ** decade)
        parts.append(f'<path class="grid" d="M{at:.1f} {TOP}V{TOP + HEIGHT}"/>'
                     f'<text x="{at:.1f}" y="{TOP + HEIGHT + 18}" text-anchor="middle">{short(10 ** decade)}</text>')
    for decade in range(low_y, high_y + 1):
        at = y(10 ** decade)
        parts.append(f'<path class="grid" d="M{left} {at:.1f}H{left + WIDTH}"/>'
                     f'<text x="{left - 6}" y="{at + 4:.1f}" text-anchor="end">{short(10 ** decade)}</text>')
    for name, drawn in (("before", before), ("line", points)):
        line = " ".join(f"{x(point['templates']):.1f},{y(point[fact]):.1f}" for point in drawn)
        parts.append(f'<polyline class="{name}" points="{line}"/>')
    for point in points:
        parts.append(f'<circle class="dot" cx="{x(point["templates"]):.1f}" cy="{y(point[fact]):.1f}" r="4"/>'
                     f'<text x="{x(point["templates"]) + 8:.1f}" y="{y(point[fact]) + 14:.1f}">{number(point[fact])}</text>')
    return parts


def curves(results, before):
    points, old = results.growth(), before.growth()
    width, height = 2 * (LEFT + WIDTH) + GAP - 20, TOP + HEIGHT + 50
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
             "<title>Resident memory and processor time of a start, by the number of templates</title>", f"<style>{STYLE}</style>"]
    if len(points) > 1:
        parts += panel(points, old, "rss_mib", "Resident memory, MiB", LEFT)
        parts += panel(points, old, "cpu_s", "Processor time from start to ready, s", LEFT + WIDTH + GAP)
        parts.append(f'<text x="{width / 2:g}" y="{height - 6}" text-anchor="middle">templates, with a binding each (dashed: before)</text>')
    return "\n".join(parts + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--check", action="store_true")
    arguments = parser.parse_args()
    if arguments.write and RESULTS.exists():
        BASELINE.write_text(RESULTS.read_text(encoding="utf-8"), encoding="utf-8")
    results, before = Results(BASELINE), Results(BEFORE)
    wanted = {PAGE: page_of(results, before), CURVES: curves(results, before)}
    different = [path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    for path in different:
        print(f"{path.relative_to(ROOT)} {'written' if arguments.write else 'does not have the figures of the baseline'}")
        if arguments.write:
            path.write_text(wanted[path], encoding="utf-8")
    sys.exit(1 if different and not arguments.write else 0)


if __name__ == "__main__":
    main()
