# SPDX-License-Identifier: Apache-2.0
"""What the lint asks of the looks of a panel: colours, steps, order, what is not drawn."""
import re

from boards import named, values_of_labels

# Green says that all is as it should be.
GOOD = {"current", "attached", "healthy", "held", "in force"}
ZEROS_HIDDEN = {"id": "byValue", "options": {"reducer": "allIsZero", "op": "gte", "value": 0}}


def faults_of_looks(panel):
    if "fieldConfig" not in panel:
        return
    yield from faults_of_colours(panel)
    if panel["type"] == "table":
        yield from faults_of_order(panel)
        yield from faults_of_policies(panel)
    if panel["type"] == "timeseries":
        yield from faults_of_lines(panel)


def fixed_colours(panel):
    """name -> colour of what has one of its own."""
    return {o["matcher"]["options"]: p["value"]["fixedColor"]
            for o in panel["fieldConfig"]["overrides"] if o["matcher"]["id"] == "byName"
            for p in o["properties"] if p["id"] == "color"}


def steps_of(panel):
    yield panel["fieldConfig"]["defaults"]["thresholds"]
    for override in panel["fieldConfig"]["overrides"]:
        for prop in override["properties"]:
            if prop["id"] == "thresholds":
                yield prop["value"]


def faults_of_colours(panel):
    drawn = str([panel["options"], panel["fieldConfig"]])
    if re.search(r"continuous-|gradient|'lcd'|palette-classic-by-name|color-background", drawn):
        yield "a ramp of colours, or colours by chance: steps and names tell more"
    for thresholds in steps_of(panel):
        colours = [step["color"] for step in thresholds["steps"]]
        if thresholds["mode"] != "absolute" or colours == ["green"]:
            yield "green whatever the number is"
    for name, colour in fixed_colours(panel).items():
        if "green" in colour and name not in GOOD:
            yield f"'{name}' is green, and not good"


def faults_of_order(panel):
    organised = next(t["options"] for t in panel["transformations"] if t["id"] == "organize")
    shown = {header for name, header in organised["renameByName"].items()
             if not organised["excludeByName"].get(name)}
    by = [sort["displayName"] for sort in panel["options"].get("sortBy", [])]
    if not by or not set(by) <= shown:
        yield f"the rows are in no order: sorted by {by}, of {sorted(shown)}"


def faults_of_policies(panel):
    named_so = [t["options"]["renameByName"].get("policy") for t in panel["transformations"]
                if t["id"] == "organize"]
    for header in filter(None, named_so):
        if not any(o["matcher"]["options"] == header and "all others" in str(o["properties"])
                   for o in panel["fieldConfig"]["overrides"]):
            yield "policies beyond the exporter's limit have no name"


def words_of(target):
    """The names that its lines can have, as far as they are known."""
    label = re.fullmatch(r"{{(\w+)}}(.*)", target["legendFormat"])
    if not label:
        return [target["legendFormat"]] if "{{" not in target["legendFormat"] else []
    known = values_of_labels()
    return [value + label[2] for family, _ in named(target["expr"])[0]
            for value in known.get((family, label[1]), [])]


def faults_of_lines(panel):
    if panel["fieldConfig"]["overrides"][:1] != [{
            "matcher": ZEROS_HIDDEN, "properties": [{"id": "custom.hideFrom", "value": {
                "legend": True, "tooltip": True, "viz": True}}]}]:
        yield "what is 0 all the time is drawn"
    colours = fixed_colours(panel)
    for target in panel["targets"]:
        without = sorted({w for w in words_of(target) if w not in colours})
        if without:
            yield f"no colour of their own: {without}"
    custom = panel["fieldConfig"]["defaults"]["custom"]
    if custom["spanNulls"] not in (False, 300000):
        yield "a line goes on where nothing is known"
