# SPDX-License-Identifier: Apache-2.0
"""The lint of boards: what Grafana's own linter asks for, and what our boards promise besides.

What can be seen of a panel is in looks.py.
"""
import re

from boards import ABSENT, LABEL_VALUES, OF_PROMETHEUS, OF_TARGETS, named, queries
from looks import faults_of_looks

# The label that a label_replace makes: the first of its four strings; or a label_join.
MADE_LABEL = re.compile(r',\s*"(\w+)",\s*(?:"[^"]*",\s*"\w*",\s*"[^"]*"\)|"[ /]", )')


SINCE = "karmada_policy:problem_since_timestamp_seconds:min"


def faults(board, names, families, types):
    """Each fault of a board, in words. `names` are the uids of all boards."""
    yield from faults_of_frame(board, names)
    seen, titles = set(), set()
    for panel in board["panels"]:
        where = f"panel '{panel.get('title')}'"
        if panel["id"] in seen:
            yield f"{where}: the id {panel['id']} is taken"
        seen.add(panel["id"])
        if panel.get("title") in titles:
            yield f"{where}: another one is called so"
        titles.add(panel.get("title"))
        yield from (f"{where}: {fault}" for fault in faults_of_panel(panel))
        yield from (f"{where}: {fault}" for fault in faults_of_looks(panel))
        for target in panel.get("targets", []):
            yield from (f"{where} {target['refId']}: {fault}"
                        for fault in faults_of_query(target, types))
    yield from faults_of_grid(board)
    yield from faults_of_problems(board)
    for where, expr, legend in queries(board):
        yield from (f"{where}: {fault}" for fault in faults_of_names(expr, legend, families))
        yield from (f"{where}: {fault}" for fault in faults_of_absent_label(expr))
    for uid in re.findall(r'/d/([\w-]+)', str(board)):
        if uid not in names:
            yield f"a link leads to '{uid}', which is no board"


def faults_of_frame(board, names):
    if board.get("editable") is not False:
        yield "the board is editable"
    if board.get("schemaVersion") != 39:
        yield "schemaVersion is not 39"
    if board.get("id") is not None:
        yield "the board has an id: that is for the server to give"
    if names.count(board["uid"]) != 1 or not re.fullmatch(r"kpe-[a-z]+", board["uid"]):
        yield f"the uid '{board['uid']}' is taken or not readable"
    if "karmada-policy-mixin" not in board["tags"]:
        yield "the tag karmada-policy-mixin is missing"
    if not any(l["type"] == "dashboards" and l["includeVars"] and l["keepTime"]
               for l in board["links"]):
        yield "no link to the other boards that keeps variables and time"
    if not any("ALERTS" in a["expr"] for a in board["annotations"]["list"]):
        yield "no annotation layer of alerts"
    if not board.get("description"):
        yield "the board has no description"
    yield from faults_of_variables(board["templating"]["list"])


def faults_of_problems(board):
    """The problems of its subject come first, and every number links to a list."""
    first = board["panels"][0]
    if first["type"] != "table" or SINCE not in first["targets"][0]["expr"]:
        yield "the first panel is no table of problems"
    about_exporters = board["uid"] == "kpe-exporter"
    if not about_exporters and not any(
            v["name"] == "namespace" for v in board["templating"]["list"]):
        yield "no variable namespace"
    for panel in board["panels"]:
        if panel["type"] == "stat" and not about_exporters and not panel[
                "fieldConfig"]["defaults"]["links"]:
            yield f"panel '{panel['title']}': the number has no link to its list"


def faults_of_variables(variables):
    by_name = {v["name"]: v for v in variables}
    first = variables[0] if variables else {}
    if (first.get("type"), first.get("name"), first.get("query")) != (
            "datasource", "datasource", "prometheus"):
        yield "the first variable is not the data source"
    for name, all_value in (("cluster", ".*"), ("job", ".+")):
        if by_name.get(name, {}).get("allValue") != all_value:
            yield f"the variable '{name}' does not mean {all_value} by All"
    for v in variables:
        if not v.get("label"):
            yield f"the variable '{v['name']}' has no label"
        if v["type"] == "custom" and v["includeAll"] and v["allValue"] != ".*":
            yield f"the variable '{v['name']}' has no All"
        if v["type"] != "query":
            continue
        if v["refresh"] != 2:
            yield f"the variable '{v['name']}' is not read again when the time range changes"
        if not (v["includeAll"] and v["multi"] and v.get("allValue")):
            yield f"the variable '{v['name']}' has no All"
        if v["datasource"]["uid"] != "${datasource}":
            yield f"the variable '{v['name']}' has a data source of its own"


def faults_of_panel(panel):
    if not panel.get("title"):
        yield "no title"
    if panel["type"] == "row":
        return
    if len(panel.get("description", "")) < 20:
        yield "no description"
    if panel["type"] == "text":
        return
    defaults = panel["fieldConfig"]["defaults"]
    if not defaults.get("unit"):
        yield "no unit"
    if panel["datasource"]["uid"] != "${datasource}":
        yield "a data source of its own"
    if not panel["targets"]:
        yield "no query"
    if panel["type"] in ("stat", "table", "bargauge") and "noValue" not in defaults:
        yield "nothing is said about no value"
    for target in panel["targets"]:
        if target["datasource"]["uid"] != "${datasource}":
            yield f"query {target['refId']} has a data source of its own"
        if panel["type"] in ("table", "bargauge") and not target["instant"]:
            yield f"query {target['refId']} is not instant"


def faults_of_query(target, types):
    expr = target["expr"]
    for function, window in re.findall(r"\b(rate|increase|irate)\([^\[]*\[([^\]]*)\]", expr):
        if function == "irate":
            yield "irate shows what was by chance last"
        elif window not in ("$__rate_interval", "$__range"):
            yield f"{function} over [{window}]: only $__rate_interval is right at every zoom"
    for number, unit in re.findall(r"\[(\d+)([smhd])[\]:]", expr):
        if int(number) * {"s": 1, "m": 60, "h": 3600, "d": 86400}[unit] < 300:
            yield f"[{number}{unit}] has not always two scrapes, which may be two minutes apart"
    if re.search(r"\bwithout\s*\(", expr):
        yield "what is left out is for the site to say: aggregate by what is to stay"
    for family, labels in named(expr)[0]:
        if family == "ALERTS" and 'product="karmada-policy-exporter"' not in expr:
            yield "shows alerts of others, too"
        base = re.sub(r"_(bucket|sum|count)$", "", family)
        kind = types.get(family) or types.get(base)
        under_rate = re.search(rf"\b(rate|increase)\({re.escape(family)}\{{", expr)
        if kind in ("counter", "histogram") and not under_rate:
            yield f"{family} is a counter and not under rate or increase"
        if kind == "gauge" and under_rate:
            yield f"{family} is no counter, and under rate or increase"
        if not {"cluster", *(("job",) if family != "ALERTS" else ())} <= labels:
            yield f"{family} is not narrowed to the chosen cluster and job"


def faults_of_absent_label(expr):
    for matcher in re.findall(rf"\b{ABSENT}\s*[=!~]+[^,}}]*", expr):
        if not re.fullmatch(rf'{ABSENT}[=!]~"\$\w+"', matcher):
            yield f"{matcher} does not depend on a variable alone"


def faults_of_names(expr, legend, families):
    values = LABEL_VALUES.fullmatch(expr)
    known = {**families, **OF_PROMETHEUS}
    selectors, groups = named(values[1] if values else expr)
    if values:
        groups = groups | {values[2]}
    if not selectors:
        yield "no family is asked for"
    allowed = set(OF_TARGETS) | {"le"} | set(MADE_LABEL.findall(expr))
    for family, labels in selectors:
        if family not in known:
            yield f"there is no family {family}"
            continue
        allowed |= known[family]
        for label in labels - known[family] - OF_TARGETS - {ABSENT}:
            yield f"{family} has no label {label}"
    for label in groups - allowed:
        yield f"no family here has the label {label}"
    for label in set(re.findall(r"{{\s*(\w+)\s*}}", legend)) - allowed:
        yield f"the legend names {label}, which no family here has"


def faults_of_grid(board):
    taken = {}
    for panel in board["panels"]:
        grid = panel["gridPos"]
        if grid["x"] + grid["w"] > 24:
            yield f"panel '{panel['title']}' is wider than the board"
        for x in range(grid["x"], grid["x"] + grid["w"]):
            for y in range(grid["y"], grid["y"] + grid["h"]):
                if (x, y) in taken:
                    yield f"panel '{panel['title']}' lies on '{taken[x, y]}'"
                    return
                taken[x, y] = panel["title"]
