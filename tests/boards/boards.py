# SPDX-License-Identifier: Apache-2.0
"""What the tests of boards share: the boards, their queries, and what the queries name."""
import functools
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
    "ALERTS": {"alertname", "alertstate", "severity", "product", "problem", "reason"},
}
POLICY = {"policy_kind", "policy_namespace", "policy"}
# Records of the bundled rules: once an hour for reviews, and once a minute.
RECORDED = {
    "karmada_policy:placement_drift_replicas:1h": {"member_cluster", "movement"},
    "karmada_policy:placement_drift_requests:1h": {
        "member_cluster", "resource", "unit", "movement"},
    "karmada_policy:member_cluster_free:1h": {"member_cluster", "resource", "unit"},
    "karmada_policy:templates_stale:1h": {"reason", "phase"},
    "karmada_policy:stale_age_seconds:1h": {"phase"},
    "karmada_policy:templates:1h": {"state"},
    "karmada_policy:replica_current:min": set(),
    "karmada_policy:namespace_problems:sum": {"namespace", "problem", "severity", "reason"},
    "karmada_policy:problem_since_timestamp_seconds:min": {
        "problem", "severity", "reason", "api_group", "kind", "namespace", "name", *POLICY, "owner",
        "actor"},
    "karmada_policy:problems:sum": {"problem", "severity"},
    "karmada_policy:owner_problems:count": {"owner"},
    "karmada_policy:namespace_rank:topk": {"namespace"},
    "karmada_policy:namespace_templates_not_healthy:topk": {"namespace"},
    "karmada_policy:policy_templates_stale:topk": {*POLICY, "phase"},
    "karmada_policy:policy_rollout_templates:topk": {*POLICY, "version"},
    "karmada_policy:policy_placement_drift_replicas:topk": {*POLICY, "movement"},
    "karmada_policy:namespace_placement_drift_requests:topk": {
        "namespace", "resource", "unit", "movement"},
    "karmada_policy:templates_stage:sum": {"stage", "reason"},
    "karmada_policy:templates_delivery:sum": {"stage", "reason"},
    "karmada_policy:member_cluster_free:max": {"member_cluster", "resource", "unit"},
    "karmada_policy:member_cluster_arriving:sum": {"member_cluster", "resource", "unit"},
}
# A label that no series has: matchers of it hold only if a variable is at All, or only if it is not.
ABSENT = "every"
# Labels of a target, on every series.
OF_TARGETS = {"cluster", "job", "shard", "instance", "pod"}


def boards():
    """Every board by its file name."""
    return {path.name: json.loads(path.read_text()) for path in sorted(BOARDS.glob("*.json"))}


@functools.lru_cache(None)
def program_families():
    """The program's own table of families."""
    done = subprocess.run([PROGRAM, "metrics", "--output", "json"], capture_output=True,
                          timeout=60, check=True)
    return json.loads(done.stdout)


def own_labels():
    """The labels of each family."""
    return {family["name"]: [label["name"] for label in family["labels"]]
            for family in program_families()}


def values_of_labels():
    """(family, label) -> the values that it may have, where they are known."""
    return {(family["name"], label["name"]): label["values"]
            for family in program_families() for label in family["labels"] if label["values"]}


def families():
    """Name -> labels of all that can be asked for: a histogram has four names, a counter two."""
    kinds, table = types(), {}
    for name, labels in own_labels().items():
        if kinds.get(name) == "histogram":
            for suffix in ("_bucket", "_sum", "_count", "_created"):
                table[name + suffix] = {*labels, *(("le",) if suffix == "_bucket" else ())}
        else:
            table[name] = set(labels)
        if kinds.get(name) == "counter":
            table[name.removesuffix("_total") + "_created"] = set(labels)
    return {**table, **RECORDED}


def types():
    return {family["name"]: family["type"] for family in program_families()}


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
    (?P<offset>\boffset\s+\$?\w+) |
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


def filled(expr, chosen, range_s=3600, interval="15s", rate_interval=None):
    """An expression as Grafana sends it, with the variables' values."""
    expr = re.sub(r"\$\{?__rate_interval\}?", rate_interval or interval, expr)
    expr = re.sub(r"\$\{?__interval\}?", interval, expr)
    expr = re.sub(r"\$\{?__range\}?", f"{range_s}s", expr)
    return re.sub(r"\$\{?(\w+)\}?", lambda m: chosen.get(m[1], m[0]), expr)


def all_values(board):
    """Every variable of a board at All."""
    return {v["name"]: v.get("allValue") or v["current"]["value"]
            for v in board["templating"]["list"]}


def domain_queries(all_boards):
    """The queries over what replicas show alike, that are not about time.

    What was recorded of reasons that no template has any more is one of those for some time."""
    for name, board in all_boards.items():
        for where, expr, _ in queries(board):
            if (where.startswith("panel") and name != "kpe-exporter.json"
                    and not re.search(
                        r"time\(\)|increase|rate\(|ALERTS|offset|avg\(|age_seconds|templates_stale:1h", expr)):
                yield name, where, board, expr


def rendered(**config):
    """The whole mixin as {boards, rules} where a site's _config says this."""
    made = subprocess.run(
        ["jsonnet", "-e", "local m = (import '%s/dashboards/mixin.libsonnet') + { _config+:: %s }; "
         "{ boards: m.grafanaDashboards, rules: m.prometheusRules }" % (ROOT, json.dumps(config))],
        capture_output=True, check=True, timeout=300)
    return json.loads(made.stdout)
