# SPDX-License-Identifier: Apache-2.0
"""What the tests of boards share: the boards, their queries, and what the queries name."""
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PROGRAM = str(ROOT / os.environ.get("EXPORTER", "build/karmada-policy-exporter"))
BOARDS = ROOT / "dashboards/grafana"
sys.path.insert(0, str(ROOT / "dashboards/demo"))
sys.path.insert(0, str(ROOT / "tests/e2e"))

# Families that Prometheus makes itself, with the labels that ours are asked for.
OF_PROMETHEUS = {
    "up": set(),
    "scrape_duration_seconds": set(),
    "scrape_samples_scraped": set(),
    "ALERTS": {"alertname", "alertstate", "severity", "component"},
}
# Labels of a target, on every series.
OF_TARGETS = {"cluster", "job", "instance", "pod"}


def boards():
    """Every board by its file name."""
    return {path.name: json.loads(path.read_text()) for path in sorted(BOARDS.glob("*.json"))}


def families():
    """The family table: name -> labels, with the names under which a histogram is asked for."""
    done = subprocess.run([PROGRAM, "metrics", "--output", "json"], capture_output=True,
                          timeout=60, check=True)
    table = {}
    for family in json.loads(done.stdout):
        labels = {label["name"] for label in family["labels"]}
        if family["type"] == "histogram":
            for suffix in ("_bucket", "_sum", "_count"):
                table[family["name"] + suffix] = labels | ({"le"} if suffix == "_bucket" else set())
        else:
            table[family["name"]] = labels
    return table


def types():
    done = subprocess.run([PROGRAM, "metrics", "--output", "json"], capture_output=True,
                          timeout=60, check=True)
    return {family["name"]: family["type"] for family in json.loads(done.stdout)}


def queries(board):
    """(where, expression, legend) of every panel, annotation and variable of a board."""
    for panel in board["panels"]:
        for target in panel.get("targets", []):
            yield f"panel '{panel['title']}' {target['refId']}", target["expr"], target.get(
                "legendFormat", "")
    for annotation in board["annotations"]["list"]:
        yield (f"annotation '{annotation['name']}'", annotation["expr"],
               annotation["titleFormat"] + annotation["textFormat"])
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield f"variable '{variable['name']}'", variable["query"]["query"], ""


LABEL_VALUES = re.compile(r"label_values\((.*), (\w+)\)", re.S)
TOKEN = re.compile(r"""
    (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*') |
    (?P<duration>\[[^\]]*\]) |
    (?P<grouping>\b(?:by|without|on|ignoring|group_left|group_right)\s*\((?P<group>[^)]*)\)) |
    (?P<selector>(?P<family>[a-zA-Z_:][\w:]*)\s*\{(?P<matchers>(?:[^{}"']|"(?:\\.|[^"\\])*")*)\}) |
    (?P<call>[a-zA-Z_]\w*)\s*\( |
    (?P<offset>\boffset\s+\w+) |
    (?P<word>[a-zA-Z_:][\w:]*) |
    (?P<other>.)
    """, re.X | re.S)
MATCHER = re.compile(r'\s*(\w+)\s*(?:=~|!~|!=|=)\s*"(?:\\.|[^"\\])*"\s*(?:,|$)')
OPERATORS = {"and", "or", "unless", "bool", "inf", "nan",
             "sum", "min", "max", "avg", "count", "topk", "bottomk", "group"}


def named(expr):
    """What an expression names: [(family, labels matched)], and the labels it groups by."""
    selectors, groups = [], set()
    for token in TOKEN.finditer(expr):
        if token["selector"]:
            labels = MATCHER.findall(token["matchers"])
            rest = MATCHER.sub("", token["matchers"]).strip()
            assert not rest, f"cannot read the matchers {{{token['matchers']}}}"
            selectors.append((token["family"], set(labels)))
        elif token["grouping"]:
            groups |= {label.strip() for label in token["group"].split(",") if label.strip()}
        elif token["word"] and token["word"].lower() not in OPERATORS:
            if not re.fullmatch(r"\d.*|e", token["word"]):
                selectors.append((token["word"], set()))
    return selectors, groups


def filled(expr, chosen, range_s=3600, interval="15s"):
    """An expression as Grafana sends it, with the variables' values."""
    expr = re.sub(r"\$\{?__rate_interval\}?", interval, expr)
    expr = re.sub(r"\$\{?__interval\}?", interval, expr)
    expr = re.sub(r"\$\{?__range\}?", f"{range_s}s", expr)
    return re.sub(r"\$\{?(\w+)\}?", lambda m: chosen.get(m[1], m[0]), expr)


def all_values(board):
    """Every variable of a board at All."""
    return {v["name"]: v.get("allValue") or v["current"]["value"]
            for v in board["templating"]["list"]}
