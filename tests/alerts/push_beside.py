#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""push_beside.py [SECONDS]: the demo's stories, told to an exporter that tells an Alertmanager itself,
and beside it to a Prometheus with the bundled rules as they are that tells another. Every alert that
fires at one of them for two minutes or longer has to fire at the other, with the same labels and
about the same text, from at most 100 s before or after: each looks once a minute, at a moment of its own, and
a Prometheus looks at what it scraped 15 s ago at most. `make pushed` runs it: it takes 25 minutes."""
import contextlib
import datetime
import json
import pathlib
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
import alerting  # noqa: E402,F401
from bundle import ALERTS, need  # noqa: E402
from demo import tell  # noqa: E402
from plane import Plane  # noqa: E402
from scene import set_up  # noqa: E402
from servers import Alertmanager, Exporter, Prometheus, bundled_rules, fetch  # noqa: E402

ROUTES = "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n"
PROMETHEUS = """global: {{scrape_interval: 15s, evaluation_interval: 1m}}
rule_files: [{rules}]
alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{alertmanager}']}}]}}]}}
scrape_configs:
  - job_name: karmada-policy-exporter
    honor_labels: true
    static_configs: [{{targets: ['{exporter}'], labels: {{cluster: demo}}}}]
"""
LONG_S, APART_S = 120, 100


class Seen:
    """What an Alertmanager had: of each alert when it began, and when it was there first and last."""

    def __init__(self, url):
        self.url, self.alerts = url, {}

    def look(self):
        for one in json.loads(fetch(self.url + "/api/v2/alerts")[1] or "[]"):
            labels = {name: value for name, value in one["labels"].items() if name != "instance"}
            began = datetime.datetime.strptime(one["startsAt"][:19], "%Y-%m-%dT%H:%M:%S")
            key = json.dumps(labels, sort_keys=True), began.isoformat()
            first, _ = self.alerts.get(key, (time.monotonic(), 0))
            self.alerts[key] = first, time.monotonic()

    def lasting(self):
        return {key: times for key, times in self.alerts.items() if times[1] - times[0] >= LONG_S}


def missing(here, there):
    """What lasts here and does not begin there at about the same time."""
    def near(labels, began):
        return any(other == labels and
                   abs((datetime.datetime.fromisoformat(at) - datetime.datetime.fromisoformat(began))
                       .total_seconds()) <= APART_S for other, at in there.alerts)
    return [(labels, began) for labels, began in here.lasting() if not near(labels, began)]


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
            alertmanager=other.address)))
        pushed, ruled = Seen(one.url), Seen(other.url)
        told = threading.Thread(target=tell, args=(plane, seconds))
        told.start()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            pushed.look()
            ruled.look()
            time.sleep(5)
        told.join()
        return pushed, ruled


def main():
    assert bundled_rules() and ALERTS.exists()
    with tempfile.TemporaryDirectory(prefix="push-") as folder:
        pushed, ruled = play(pathlib.Path(folder), float((sys.argv + ["1500"])[1]))
    names = sorted({json.loads(labels)["alertname"] for labels, _ in ruled.lasting()})
    print(f"{len(ruled.lasting())} alerts of rules, {len(pushed.lasting())} of the exporter, of "
          f"{len(names)} names: {' '.join(names)}")
    faults = ([("only the rules say", *one) for one in missing(ruled, pushed)] +
              [("only the exporter says", *one) for one in missing(pushed, ruled)])
    for fault in faults:
        print(*fault)
    return 1 if faults or len(names) < 5 else 0


if __name__ == "__main__":
    need("prometheus", "prometheus-alertmanager")
    sys.exit(main())
