#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""demo.py: a control plane that changes by itself, an exporter, a Prometheus and an Alertmanager,
and a page of the alerts that fire.

Each step of a story is printed with the alerts that it causes. Ctrl-C, SIGTERM or the end of --seconds ends all processes
that were started here, and removes the folder.
"""
import argparse
import contextlib
import heapq
import pathlib
import re
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from alerts_page import AlertsPage  # noqa: E402
from plane import Plane  # noqa: E402
from servers import (ROOT, Alertmanager, Exporter, Prometheus, bundled_rules,  # noqa: E402
                     fetch, free_port, hurry, program)
from scene import set_up  # noqa: E402
from stories import ALERTS, ALWAYS, PEAK, STORIES  # noqa: E402

PROMETHEUS = """global:
  scrape_interval: 2s
  evaluation_interval: 2s
  external_labels: {{cluster: demo}}
rule_files: [{rules}]
{alerting}
scrape_configs:
  - job_name: karmada-policy-exporter
    honor_labels: true
    # Targets in the file ALSO may have self-signed certificates.
    tls_config: {{insecure_skip_verify: true}}
    file_sd_configs: [{{files: ['{also}'], refresh_interval: 1s}}]
    static_configs:
      - targets: ['{exporter}']
        labels: {{cluster: demo}}
"""
# File in the folder of the demo with more targets for Prometheus; make boards writes it.
ALSO = "targets.json"
# However long an alert waits by its rule, nobody watches a demo for that long.
MOST_S = 10
# Used where alerts/ has no example of its own.
ALERTMANAGER = """route: {receiver: nobody, group_by: [alertname, cluster], group_wait: 5s}
receivers: [{name: nobody}]
"""


def options(**chosen):
    """What the command line says, or, for other programs, what they choose."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--seconds", type=float, help="end after so many; without it on Ctrl-C")
    parser.add_argument("--alerts-hurry", type=float, default=60, metavar="TIMES",
                        help="let alerts wait only so small a part of their time, and ten seconds "
                             "at most (default 60; 1 leaves the rules as they are)")
    parser.add_argument("--any-port", action="store_true",
                        help="take free ports, not 19080, 19090, 19093 and 19180")
    if not chosen:
        return parser.parse_args()
    return argparse.Namespace(**{**vars(parser.parse_args([])), **chosen})


PORTS = {"exporter": 19180, "prometheus": 19090, "alertmanager": 19093, "alerts": 19080}


def start(stack, folder, wanted):
    """The servers; what of them there is no program for is left out with a word. The page of the
    alerts, None where there is none."""
    ports = {name: free_port() if wanted.any_port else port for name, port in PORTS.items()}
    exporter = stack.enter_context(Exporter(
        folder / "exporter.log", "--manifests", folder / "manifests",
        "--configconnector.asset-file", folder / "manifests.assets.json", "--rules.grace", "5s",
        "--problems.patience", patience(), "--problems.resolve-delay", "5s", "--metrics.opt-in",
        "--owner-key", "team",
        port=ports["exporter"]))
    print(f"exporter      {exporter.url}/   (open problems; metrics at /metrics)")
    alertmanager = None
    if program("prometheus-alertmanager") or program("alertmanager"):
        examples = sorted((ROOT / "alerts").glob("alertmanager*.y*ml"))
        config = examples[0].read_text() if examples else ALERTMANAGER
        alertmanager = stack.enter_context(Alertmanager(folder / "alertmanager", config,
                                                        ports["alertmanager"]))
        print(f"alertmanager  {alertmanager.url}/api/v2/alerts   (Debian's has no pages)")
    else:
        print("alertmanager  omitted: the program is missing (make setup installs it)")
    if not program("prometheus"):
        print("prometheus    omitted: the program is missing (make setup installs it)")
        return None
    rules = []
    for path in bundled_rules():
        rules.append(folder / path.name)
        rules[-1].write_text(hurried(path, wanted.alerts_hurry))
    prometheus = stack.enter_context(Prometheus(folder / "prometheus", PROMETHEUS.format(
        rules=", ".join(f"'{r}'" for r in rules), exporter=exporter.address, also=folder / ALSO,
        alerting="" if not alertmanager else
        f"alerting: {{alertmanagers: [{{static_configs: [{{targets: ['{alertmanager.address}']}}]}}]}}"),
        ports["prometheus"]))
    # Debian's has the old pages only, newer ones the new.
    page = next((page for page in ("/alerts", "/classic/alerts")
                 if fetch(prometheus.url + page)[0] == 200), "/api/v1/alerts")
    print(f"prometheus    {prometheus.url}{page}")
    if rules and wanted.alerts_hurry != 1:
        print(f"              alerts wait 1/{wanted.alerts_hurry:g} of their time, {MOST_S} s at "
              "most; see --alerts-hurry")
    shown = stack.enter_context(AlertsPage(prometheus, alertmanager, ports["alerts"]))
    print(f"alerts        {shown.url}/   (open this page first: firing alerts, and their causes)")
    print(f"boards        import dashboards/grafana/*.json into a Grafana, with {prometheus.url} "
          "as its data source")
    return shown


def hurried(path, times):
    """The rules of a file as the demo has them: short intervals, and short memory of missed scrapes."""
    rules = hurry(path.read_text(), times, MOST_S if times != 1 else float("inf"))
    return rules if times == 1 else rules.replace("[5m]", "[10s]")


def patience():
    """--problems.patience of every problem that the rules select: seconds in place of minutes and days."""
    names = {name for path in bundled_rules() for some in re.findall(r'problem=~?"([^"]+)"', path.read_text())
             for name in some.split("|")}
    # A rollout is under way for some seconds.
    return ",".join(f"{name}={'20s' if name == 'not_delivered' else '5s'}" for name in sorted(names))


def tell(plane, until, shown=None):
    """Let every story go round on a clock of its own; `shown` is the page that says so, too."""
    if shown:
        shown.told[-1] = "permanent: problems from before the demo", False, ALWAYS
    began = time.monotonic()
    due = [(0, number, 0) for number in range(len(STORIES))]
    while due[0][0] < until:
        at, number, index = heapq.heappop(due)
        time.sleep(max(0, at - (time.monotonic() - began)))
        steps = STORIES[number](plane)
        seconds, words, act = steps[index]
        act()
        at_peak, words = words.startswith(PEAK), words.removeprefix(PEAK)
        leads = ALERTS[STORIES[number]]
        if shown:
            shown.told[number] = words, at_peak, leads
        if at_peak and sys.stdout.isatty():
            words = f"\033[1m{words}\033[0m"
        print(f"{int(time.monotonic() - began):5} s  {words}"
              + (f"\n         -> {', '.join(leads)}" if at_peak and leads else ""), flush=True)
        heapq.heappush(due, (at + seconds, number, (index + 1) % len(steps)))
    time.sleep(max(0, until - (time.monotonic() - began)))


def main():
    wanted = options()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="karmada-")))
        (folder / "manifests").mkdir()
        plane = Plane(folder / "manifests")
        set_up(plane)
        try:
            shown = start(stack, folder, wanted)
            print(f"manifests     {folder / 'manifests'}   (the exporter follows edits here)")
            print("Until Ctrl-C:" if wanted.seconds is None else f"For {wanted.seconds:g} s:",
                  flush=True)
            tell(plane, wanted.seconds or float("inf"), shown)
        except KeyboardInterrupt:
            print()
        except RuntimeError as fault:
            print(f"demo: {fault}", file=sys.stderr)
            return 1
    print("All processes of the demo have ended.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
