# SPDX-License-Identifier: Apache-2.0
"""What the tests of the alerts share: the rules and their tests as data, and promtool."""
import copy
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/e2e"))
from exporter import PROGRAM, main as main_of  # noqa: E402,F401

try:
    import yaml
except ImportError:
    print("there is no yaml module for python3: install the Debian package python3-yaml")
    sys.exit(77)

ALERTS = ROOT / "alerts"
# Labels that scraping adds, and those that tell control planes, shards and replicas apart.
TARGET_LABELS = {"cluster", "job", "shard", "instance", "pod"}
SORTS = ("fires", "quiet", "boundary")


def need(*programs):
    """Skip, visibly, where a program is missing."""
    for program in programs:
        if not shutil.which(program):
            print(f"there is no {program}: tests/setup.sh test unpacks it")
            sys.exit(77)


@functools.lru_cache(None)
def load(path):
    """What a file says; shared, so who changes it takes a copy."""
    return yaml.load(path.read_text(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))


def rule_files():
    """The rule files by name, each after the files whose records it reads."""
    found = {path.name: load(path) for path in sorted((ALERTS / "rules").glob("*.yml"))}
    first = [name for name in ("problems.yml", "exporter.yml") if name in found]
    return {name: found[name] for name in [*first, *sorted(set(found) - set(first))]}


@functools.lru_cache(None)
def problem_table():
    """The alerts over problems by name, each with its problems, as the tables of the program define them."""
    done = subprocess.run(["jsonnet", ALERTS / "source/problem_table.libsonnet"], capture_output=True,
                          text=True, timeout=60, check=True)
    return {alert["name"]: alert for alert in json.loads(done.stdout)["alerts"]}


@functools.lru_cache(None)
def rendered(site="{}"):
    """The rule files by name as the source makes them for a site: its settings in jsonnet."""
    program = f"""
        local mixin = (import '{ROOT}/dashboards/mixin.libsonnet') + {{ _config+:: {site} }};
        local rules = (import '{ALERTS}/source/rules.libsonnet')(mixin._config);
        {{ [c.name + '.yml']: {{ groups: c.records + c.alerts }} for c in rules.on }}"""
    done = subprocess.run(["jsonnet", "-e", program], capture_output=True, text=True, timeout=300,
                          check=False)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def impatient_rules(lookback="5m"):
    """The rule files, but that every alert fires within two seconds and ends without delay. `lookback`: the
    range of a gauge about problems, after which a row that ended does not count."""
    files = copy.deepcopy(list(rule_files().values()))
    for group in (group for file in files for group in file["groups"]):
        group["interval"] = "1s"
        for rule in group["rules"]:
            if "alert" in rule:
                if "for" in rule:
                    rule["for"] = "2s"
                rule.pop("keep_firing_for", None)
            elif group["name"] == "karmada-policy.problems.records":
                rule["expr"] = rule["expr"].replace("[5m]", f"[{lookback}]")
    return files


def rules():
    """Every rule with the file and the group it is in."""
    return [(name, group, rule) for name, content in rule_files().items()
            for group in content["groups"] for rule in group["rules"]]


def alerts():
    """The alerts by name: file, group, rule. No name is given twice."""
    found = {}
    for name, group, rule in rules():
        if "alert" in rule:
            assert rule["alert"] not in found, f"two rules are called {rule['alert']}"
            found[rule["alert"]] = (name, group, rule)
    return found


def tests():
    """The test files by the alert that they are named after."""
    return {path.stem: load(path) for path in sorted((ALERTS / "tests").glob("*.yml"))}


def functions_of(file):
    """The tests in a file of C or Python below tests/, by name."""
    (path,) = (ROOT / "tests").glob(f"**/{file}")
    pattern = r"^TEST\w*\((\w+)" if file.endswith(".c") else r"^def (test_\w+)\("
    return set(re.findall(pattern, path.read_text(), re.M))


def sort_of(case):
    return case["name"].split(":")[0]


def shown_families():
    """The domain families that every page has: the value of a row by the name, while no problem is open."""
    counts = re.findall(r"'(\w+)'", (ALERTS / "source/families.libsonnet").read_text())
    return {**dict.fromkeys(counts, 1), "karmada_policy_problems": 0}


def families():
    """The families of the program by name."""
    done = subprocess.run([PROGRAM, "metrics", "--output", "json"], capture_output=True,
                          timeout=60, check=True)
    return {family["name"]: family for family in json.loads(done.stdout)}


class Bench:
    """A folder with rule files and test files, changed as a check wants them."""

    def __init__(self):
        self.path = pathlib.Path(tempfile.mkdtemp(prefix="alerts-"))
        (self.path / "rules").mkdir()
        (self.path / "tests").mkdir()

    def put(self, where, content):
        (self.path / where).write_text(json.dumps(content))

    def put_rules(self, content, only=None, prefix=""):
        """Write rule files; of alerts `only` one, so that it is quick."""
        for name, file in content.items():
            if only is not None:
                file = copy.deepcopy(file)
                for group in file["groups"]:
                    group["rules"] = [rule for rule in group["rules"]
                                      if rule.get("alert", only) == only]
            self.put("rules/" + prefix + name, file)

    def failed(self, *names):
        """What promtool says of each of the test files that fails."""
        done = subprocess.run(
            ["promtool", "test", "rules", *[f"{name}.yml" for name in names]],
            cwd=self.path / "tests", stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            timeout=300, check=False)
        # Prometheus 2 names each file before its verdict, 3 does not; both keep the order.
        verdicts = dict(zip(names, re.findall(r"^  (?:SUCCESS|FAILED).*?(?=^  (?:SUCCESS|FAILED)|\Z)",
                                              done.stdout, re.M | re.S)))
        assert set(verdicts) == set(names), done.stdout
        bad = {name: text for name, text in verdicts.items() if "SUCCESS" not in text}
        for text in bad.values():
            # An error in the test file itself says nothing about the rule.
            assert re.search(r"FAILED:\n +(expr|name|alertname): ", text), text
        return bad

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path)


def workers():
    return min(2, os.cpu_count() or 1)
