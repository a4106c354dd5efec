# SPDX-License-Identifier: Apache-2.0
"""Real servers for the tests of boards: exporters on the demo's stories, a Prometheus on them."""
import contextlib
import json
import pathlib
import re
import tempfile

from boards import all_values, filled
from exporter import wait_for
from plane import Plane, named
from servers import Exporter, Prometheus, bundled_rules, fetch, hurry, program

JOB = "karmada-policy-exporter"
# A template belongs to its label app here.
# A replica that reads between two writes of a step sees a problem that the other replica does not see. It then shows
# this problem as resolving until the delay has passed.
FLAGS = ("--rules.grace", "1s", "--metrics.opt-in", "--thresholds.pending-age", "1s", "--owner-key", "app",
         "--problems.resolve-delay", "1s")

# Two replicas of one exporter, and what a site may tell them apart by.
PODS = [{"pod": f"exporter-{n}", "node": f"node-{n}", "zone": f"zone-{n}", "endpoint": f"http-{n}",
         "pod_template_hash": f"hash-{n}", "container": f"exporter-{n}"} for n in (1, 2)]

# One more target of a Prometheus, which a test moves about: in this file.
MOVED = """  - job_name: moved
    honor_labels: true
    file_sd_configs: [{files: ['%s'], refresh_interval: 1s}]
"""


def config(targets, rules=()):
    """Prometheus's configuration: (address, labels) scraped each second."""
    lines = ["global: {scrape_interval: 1s, evaluation_interval: 1s}",
             f"rule_files: [{', '.join(map(str, rules))}]", "scrape_configs:"]
    jobs = {}
    for address, labels in targets:
        jobs.setdefault(labels.get("job", JOB), []).append((address, labels))
    for job, members in jobs.items():
        lines += [f"  - job_name: {job}", "    honor_labels: true", "    static_configs:"]
        for address, labels in members:
            rest = ", ".join(f"{k}: {v}" for k, v in labels.items() if k != "job")
            lines.append(f"      - {{targets: ['{address}'], labels: {{{rest}}}}}")
    return "\n".join(lines) + "\n"


class World(contextlib.ExitStack):
    """A folder, and what was started in it; all ends with the block."""

    def __enter__(self):
        super().__enter__()
        self.folder = pathlib.Path(self.enter_context(tempfile.TemporaryDirectory()))
        self.exporters = 0
        return self

    def plane(self, name):
        folder = self.folder / name
        folder.mkdir()
        return Plane(folder)

    def exporter(self, *arguments, **more):
        self.exporters += 1
        if arguments[-1] != "-":
            assets = arguments[-1].with_name(arguments[-1].name + ".assets.json")
            arguments += ("--configconnector.asset-file", assets)
        log = self.folder / f"exporter-{self.exporters}.log"
        return self.enter_context(Exporter(log, *arguments, *FLAGS, **more))

    def prometheus(self, targets, with_rules=False, flags=()):
        rules = []
        for path in bundled_rules() if with_rules else ():
            rules.append(self.folder / path.name)
            rules[-1].write_text(hurry(path.read_text(), 1e9))
        return self.enter_context(Prometheus(
            self.folder / "prometheus", config(targets, rules) + MOVED % (self.folder / "moved.json"),
            flags=flags))

    def move(self, exporter, **labels):
        """The job `moved` has this one target now."""
        path = self.folder / "moved.json"
        beside = path.with_name("moved")
        beside.write_text(json.dumps([{"targets": [exporter.address], "labels": labels}]))
        beside.rename(path)


# A policy in the text of a story, see dashboards/demo/stories.py.
WRITTEN_POLICY = re.compile(r"kind: PropagationPolicy\nmetadata: \{name: (\w+), namespace: (\w+)\}")


def followed(plane, *exporters):
    """Wait until each of them has seen what the policies say now: their histories become alike. That includes the
    policies of files which a story writes as text: the next step may break the file, whose last valid content stays."""
    written = "".join(path.read_text() for path in plane.folder.glob("drafts/*.yaml"))
    lines = {generation_line("PropagationPolicy", namespace, name, 0)
             for name, namespace in WRITTEN_POLICY.findall(written)}
    lines |= {generation_line(p["kind"], *named(p), p["metadata"]["generation"])
              for p in plane.objects.values() if p["kind"].endswith("PropagationPolicy")}

    def seen(exporter):
        return lines <= set(fetch(exporter.url + "/metrics")[1].splitlines())
    wait_for("the policies on the pages", lambda: all(map(seen, exporters)), 60)


def generation_line(kind, namespace, name, generation):
    return ('karmada_propagationpolicy_generation{policy_kind="%s",policy_namespace="%s",policy="%s"} %d'
            % (kind, namespace, name, generation))


def has_prometheus():
    return program("prometheus") is not None


def ask(prometheus, board, expr, gap="5m", **chosen):
    """The rows that a board's query gives, with some variables chosen and the others at All.

    `gap`: for how long the last numbers stand in where no exporter is ready.
    """
    values = {**all_values(board), "review": "3s", **chosen}
    return prometheus.query(filled(expr.replace("[5m]", f"[{gap}]"), values, interval="5s"))
