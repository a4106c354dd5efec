#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write what follows from the rules: prometheusrule.yml, and the table in README.md.

generate.py            write both
generate.py --check    fail if one of them is not what would be written
generate.py --site DIR [--runbooks URL] [--boards URL] [--job NAME]
                       write rules and PrometheusRule with a site's own addresses into DIR
"""
import argparse
import difflib
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
BEGIN, END = "<!-- written by generate.py -->\n", "<!-- end -->\n"
RUNBOOKS = "https://runbooks.example/karmada-policy-exporter"
BOARDS = "https://grafana.example"
JOB = "karmada-policy-exporter"

# What people look for first comes first.
ORDER = ["thresholds", "conflicts", "drift", "pending", "delivery", "capacity", "config-connector",
         "policy-hygiene", "exporter-health", "exporter-isolation", "exporter-watches"]

HEADER = """# SPDX-License-Identifier: Apache-2.0
# Written by generate.py from rules/*.yml: change those. For clusters with the Prometheus operator;
# add the labels that your Prometheus selects rules by.
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: karmada-policy-exporter
  labels:
    app.kubernetes.io/name: karmada-policy-exporter
    app.kubernetes.io/component: alerts
spec:
  groups:
"""


def rule_files():
    """The rule files as they are written, in order; each has its place in ORDER."""
    paths = sorted((HERE / "rules").glob("*.yml"), key=lambda path: ORDER.index(path.stem))
    return {path.name: path.read_text() for path in paths}


def prometheus_rule(files):
    """All groups in one object, indented as it needs; comments stay where they are."""
    text = HEADER
    for name, content in files.items():
        head, groups = content.split("groups:\n", 1)
        text += f"    # ---- {name}\n"
        for line in head.splitlines() + groups.splitlines():
            if line.startswith("# SPDX"):
                continue
            text += ("    " if line.startswith("#") else "  ") + line + "\n"
    return text


def alerts(files):
    """name, severity, component, for, keep, board of each alert in order of the files."""
    found = []
    for content in files.values():
        for part in re.split(r"^      - (?=alert: |record: )", content, flags=re.M):
            if not part.startswith("alert: "):
                continue
            name = part.split("\n", 1)[0].removeprefix("alert: ")
            severity, component = re.search(
                r"labels: {severity: (\S+), component: (\S+)}", part).groups()
            keep = re.search(r"keep_firing_for: (\S+)", part)
            found.append((name, severity, component, re.search(r"\bfor: (\S+)", part).group(1),
                          keep.group(1) if keep else "", re.search(r"/d/([\w-]+)", part).group(1)))
    return found


def table(files):
    """One row an alert: what it is, and where its test, page and board are."""
    rows = ["| alert | severity | component | for | keeps firing | test | runbook | board |",
            "|---|---|---|---|---|---|---|---|"]
    for name, severity, component, patience, keep, board in alerts(files):
        tests = (HERE / "tests" / f"{name}.yml").read_text().count("\n  - name: ")
        rows.append(f"| {name} | {severity} | {component} | {patience} | {keep} "
                    f"| [{tests} cases](tests/{name}.yml) | [page](runbooks/{name}.md) | {board} |")
    return "\n".join(rows) + "\n"


def readme(files):
    before, rest = (HERE / "README.md").read_text().split(BEGIN)
    return before + BEGIN + table(files) + END + rest.split(END)[1]


def for_site(options):
    """The same rules with other addresses, and another name of the job."""
    files = {}
    for name, text in rule_files().items():
        text = text.replace(RUNBOOKS, options.runbooks.rstrip("/"))
        text = text.replace(BOARDS, options.boards.rstrip("/"))
        files[name] = text.replace(f'job="{JOB}"', f'job="{options.job}"')
    folder = pathlib.Path(options.site)
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(text)
    (folder / "prometheusrule.yml").write_text(prometheus_rule(files))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--site", metavar="DIR")
    parser.add_argument("--runbooks", metavar="URL", default=RUNBOOKS)
    parser.add_argument("--boards", metavar="URL", default=BOARDS)
    parser.add_argument("--job", metavar="NAME", default=JOB)
    options = parser.parse_args()
    if options.site:
        for_site(options)
        return 0
    files = rule_files()
    stale = False
    for name, text in (("prometheusrule.yml", prometheus_rule(files)), ("README.md", readme(files))):
        path = HERE / name
        held = path.read_text() if path.exists() else ""
        if held == text:
            continue
        stale = True
        if options.check:
            print(f"alerts/{name} is not what the rules say; alerts/generate.py rewrites it")
            print(*difflib.unified_diff(held.splitlines(), text.splitlines(), f"alerts/{name}",
                                        "now", lineterm=""), sep="\n")
        else:
            path.write_text(text)
    return 1 if stale and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
