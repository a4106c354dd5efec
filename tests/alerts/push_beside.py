#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""push_beside.py [SECONDS]: the demo's stories up to where their findings are to be seen, told to an
exporter that tells an Alertmanager itself, and beside it to a Prometheus with the bundled rules as
they are that tells another. Every alert that fires at one of them fires at the other, with the same
labels, and begins there within the interval of its groups and a scrape: each looks at a moment of
its own. Nothing comes and goes meanwhile, for of that who looks once a minute sees what its moments
happen to hit. `make pushed` runs it: it takes 25 minutes."""
import contextlib
import datetime
import json
import pathlib
import re
import sys
import tempfile
import time

sys.dont_write_bytecode = True
import alerting  # noqa: E402,F401
from bundle import alerts, need  # noqa: E402
from plane import Plane  # noqa: E402
from scene import set_up  # noqa: E402
from stories import PEAK, STORIES  # noqa: E402
from servers import Alertmanager, Exporter, Prometheus, bundled_rules, fetch  # noqa: E402

ROUTES = "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n"
PROMETHEUS = """global: {{scrape_interval: {scrape}s, evaluation_interval: 1m}}
rule_files: [{rules}]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{alertmanager}']}}]}}]}}
scrape_configs:
  - job_name: karmada-policy-exporter
    honor_labels: true
    static_configs: [{{targets: ['{exporter}'], labels: {{cluster: demo}}}}]
"""
SCRAPE_S, EVERY_S = 15, 5


def apart_s(name):
    """How far apart the two may look at an alert, and a little more. What a Prometheus records is a
    group of its own, at a moment of its own."""
    _, group, rule = alerts()[name]
    amount, unit = re.fullmatch(r"(\d+)([smh])", group["interval"]).groups()
    looks = 2 if re.search(r"\w:\w+:\w", rule["expr"]) else 1
    return looks * int(amount) * {"s": 1, "m": 60, "h": 3600}[unit] + SCRAPE_S + 2 * EVERY_S


def look(url, seen):
    """Note each alert that an Alertmanager has, by its labels and when it began."""
    for one in json.loads(fetch(url + "/api/v2/alerts")[1] or "[]"):
        labels = {name: value for name, value in one["labels"].items() if name != "instance"}
        began = datetime.datetime.strptime(one["startsAt"][:19], "%Y-%m-%dT%H:%M:%S")
        seen.add((json.dumps(labels, sort_keys=True), began.replace(tzinfo=datetime.timezone.utc)))


def missing(here, there):
    """What is here and does not begin there at about the same time, as far as that has passed."""
    now = datetime.datetime.now(datetime.timezone.utc)
    for labels, began in here:
        apart = datetime.timedelta(seconds=apart_s(json.loads(labels)["alertname"]))
        others = [at for other, at in there if other == labels]
        if now - began > 2 * apart and all(abs(at - began) > apart for at in others):
            yield labels, began.isoformat(), [at.isoformat() for at in others]


def to_the_peaks(plane):
    for story in STORIES:
        for _, words, act in story(plane):
            act()
            if words.startswith(PEAK):
                break


def play(folder, seconds):
    with contextlib.ExitStack() as stack:
        one = stack.enter_context(Alertmanager(folder / "one", ROUTES))
        other = stack.enter_context(Alertmanager(folder / "other", ROUTES))
        plane = Plane(folder / "manifests")
        set_up(plane)
        exporter = stack.enter_context(Exporter(
            folder / "exporter.log", "--manifests", folder / "manifests",
            "--configconnector.asset-file", folder / "manifests.assets.json", "--rules.grace", "5s",
            "--thresholds.pending-age", "10s", "--thresholds.stale-age", "20s",
            "--thresholds.unbound-age", "10s", f"--alertmanager.url={one.url}",
            "--alertmanager.label=cluster=demo"))
        stack.enter_context(Prometheus(folder / "prometheus", PROMETHEUS.format(
            rules=", ".join(f"'{path}'" for path in bundled_rules()), exporter=exporter.address,
            alertmanager=other.address, scrape=SCRAPE_S)))
        pushed, ruled = set(), set()
        to_the_peaks(plane)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            look(one.url, pushed)
            look(other.url, ruled)
            time.sleep(EVERY_S)
        return pushed, ruled


def main():
    with tempfile.TemporaryDirectory(prefix="push-") as folder:
        pushed, ruled = play(pathlib.Path(folder), float((sys.argv + ["1500"])[1]))
    names = sorted({json.loads(labels)["alertname"] for labels, _ in ruled})
    print(f"{len(ruled)} alerts of the rules, {len(pushed)} of the exporter, of {len(names)} names: "
          f"{' '.join(names)}")
    faults = ([("only the rules say", *one) for one in missing(ruled, pushed)] +
              [("only the exporter says", *one) for one in missing(pushed, ruled)])
    for fault in faults:
        print(*fault)
    return 1 if faults or len(names) < 5 else 0


if __name__ == "__main__":
    need("prometheus", "prometheus-alertmanager")
    sys.exit(main())
