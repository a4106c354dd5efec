# SPDX-License-Identifier: Apache-2.0
"""What the tests of the Helm chart share with `make chart`: where it is, what came of it, and the texts
in it that are written by machine."""
import copy
import hashlib
import json
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/e2e"))
import yaml  # noqa: E402
from exporter import PROGRAM  # noqa: E402
from golden import golden  # noqa: E402

DEPLOY = ROOT / "exporter/deploy"
CHART, KUSTOMIZE = DEPLOY / "chart", DEPLOY / "kustomize"
FIXTURES = ROOT / "tests/fixtures/deploy"
VALUES, RENDERED, HASH = FIXTURES / "values", FIXTURES / "rendered", FIXTURES / "rendered.sha256"
OVERLAYS = sorted(path.parent for folder in (KUSTOMIZE, FIXTURES)
                  for path in (folder / "overlays").glob("*/kustomization.yaml"))
# Where rules and boards look for the exporter's pages until a site says otherwise.
PAGE = "http://127.0.0.1:19180"
BOARDS, RULES = ROOT / "dashboards/grafana", ROOT / "alerts/prometheusrule.yml"
SCHEMA, README = CHART / "values.schema.json", CHART / "README.md"

# Flags of serve that other values of the chart set, or that are for files and people.
OWN_FLAGS = {"kubeconfig", "context", "web.listen-address", "web.config.file", "karmada.works",
             "web.probes-without-auth", "shard", "total-shards", "events.emit", "alertmanager.url",
             "alertmanager.label", "manifests", "namespace", "version", "help"}


def documents(text):
    return [obj for obj in yaml.safe_load_all(text) if obj]


def rendered(path):
    """The objects of a file, complete."""
    return [put_back(obj) for obj in documents(path.read_text())]


# ---- rules and boards, which are written elsewhere


def is_board(obj):
    return obj["kind"] == "ConfigMap" and "grafana_dashboard" in obj["metadata"].get("labels", {})


def take_out(obj, page):
    """The object without rules and boards: where they are from, and what the address of the
    exporter's pages is in them."""
    obj = copy.deepcopy(obj)
    if obj["kind"] == "PrometheusRule":
        obj["spec"] = {"from": str(RULES.relative_to(ROOT)), "page": page}
    if is_board(obj):
        obj["data"] = {"from": [f"{BOARDS.relative_to(ROOT)}/{name}" for name in obj["data"]],
                       "page": page}
    return obj


def put_back(obj):
    obj = copy.deepcopy(obj)
    held = obj.get("spec" if obj["kind"] == "PrometheusRule" else "data", {})
    if "from" not in held:
        return obj

    def source(name):
        return (ROOT / name).read_text().replace(PAGE, held["page"])

    if obj["kind"] == "PrometheusRule":
        obj["spec"] = yaml.safe_load(source(held["from"]))["spec"]
    else:
        obj["data"] = {pathlib.Path(name).name: source(name) for name in held["from"]}
    return obj


def comparable(obj):
    """A board is the same whatever blanks it has."""
    if is_board(obj):
        obj = {**obj, "data": {name: json.loads(text) for name, text in obj["data"].items()}}
    return obj


# ---- of which chart it came


def schema_text(flags):
    schema = json.loads(SCHEMA.read_text())
    schema["properties"]["options"]["properties"] = flags
    return json.dumps(schema, indent=2) + "\n"


def rendered_hash():
    """Of the chart, the values, and what came of them. A flag, an alert or a board that changes
    needs no new rendering."""
    inputs = [path for folder in (CHART, KUSTOMIZE, VALUES, RENDERED)
              for path in folder.rglob("*") if path.is_file() and path not in (SCHEMA, README)]
    inputs += [CHART / "mixin/servicemonitor.yml", CHART / "mixin/scrapeconfig.yml"]
    lines = [f"{path.relative_to(ROOT)} {hashlib.sha256(path.read_bytes()).hexdigest()}"
             for path in inputs if path != CHART / "mixin/prometheusrule.yml"]
    lines += [f"board {path.name}" for path in BOARDS.glob("*.json")]
    lines.append(schema_text({}))
    return hashlib.sha256("\n".join(sorted(set(lines))).encode()).hexdigest() + "\n"


# ---- texts that are written by machine


def serve_flags():
    """{flag: what the schema says of it} of the flags of serve that are no values of their own."""
    text = subprocess.run([PROGRAM, "serve", "--help"], capture_output=True, text=True,
                          check=True).stdout
    flags = re.findall(r"^ {2}(?:-\w, |    )--([a-z.-]+)( [A-Z]+)?", text, re.M)
    assert len(flags) > 20, text
    return {name: {"type": ["string", "number"] if value else "boolean"}
            for name, value in flags if name not in OWN_FLAGS}


def values_of(schema, values, prefix=""):
    """The rows of the table: a value, its default, what it is for."""
    for name, entry in schema["properties"].items():
        if name == "global":
            continue
        if entry.get("properties") and "description" not in entry:
            yield from values_of(entry, values[name], f"{prefix}{name}.")
            continue
        choices = ": " + ", ".join(f"`{word}`" for word in entry["enum"]) if "enum" in entry else ""
        default = json.dumps(values[name])
        yield (f"| `{prefix}{name}` | {'in `values.yaml`' if len(default) > 60 else f'`{default}`'} "
               f"| {entry['description']}{choices if '`' in choices and ':' not in entry['description'] else ''} |")


def readme_text():
    """The chart's README with the table of values as they are."""
    head, rest = README.read_text().split("<!-- values -->\n", 1)
    tail = rest.split("<!-- end -->\n", 1)[1]
    rows = values_of(json.loads(SCHEMA.read_text()), yaml.safe_load((CHART / "values.yaml").read_text()))
    table = "\n".join(["| value | default | for |", "|---|---|---|", *rows])
    return f"{head}<!-- values -->\n{table}\n<!-- end -->\n{tail}"


def hold_texts():
    golden(SCHEMA, schema_text(serve_flags()))
    golden(README, readme_text())
