# SPDX-License-Identifier: Apache-2.0
"""Prometheus and Alertmanager for the tests of alerts, each with a temporary folder, and a receiver of the alerts
that the exporter sends itself."""
import datetime
import http.server
import json
import pathlib
import sys
import tempfile
import threading
import urllib.request

from bundle import ALERTS, ROOT, load, yaml
from exporter import equal, fetch
sys.path.insert(0, str(ROOT / "dashboards/demo"))
import servers  # noqa: E402


class Prometheus(servers.Prometheus):
    """Scrapes one exporter, evaluates the rules, and notifies an Alertmanager if it has one."""

    def __init__(self, exporter, rules, alertmanager, scrape_s=1):
        self.home = tempfile.TemporaryDirectory(prefix="alerts-")
        for number, content in enumerate(rules):
            (pathlib.Path(self.home.name) / f"rules-{number}.yml").write_text(json.dumps(content))
        config = {
            "global": {"scrape_interval": f"{scrape_s}s", "evaluation_interval": "1s"},
            "rule_files": ["rules-*.yml"],
            "alerting": {"alertmanagers": [
                {"static_configs": [{"targets": [alertmanager]}]}] if alertmanager else []},
            "scrape_configs": [{"job_name": "karmada-policy-exporter", "static_configs": [
                {"targets": [exporter], "labels": {"cluster": "lab"}}]}],
        }
        super().__init__(self.home.name, json.dumps(config), flags=["--rules.alert.resend-delay=2s"])

    def __exit__(self, *_):
        super().__exit__()
        self.home.cleanup()

    def rules(self):
        return self.ask("rules")["groups"]

    def unhealthy_rules(self):
        """Rules whose last evaluation failed, each with its error."""
        return [(rule["name"], rule.get("lastError")) for group in self.rules()
                for rule in group["rules"] if rule["health"] == "err"]

    def firing(self):
        """The labels of each alert over problems that fires."""
        rows = self.query('ALERTS{alertstate="firing", alertname!~"KarmadaPolicyExporter.*"}')
        return [{name: value for name, value in labels.items() if name not in ("__name__", "alertstate")}
                for labels, _ in rows]


class LoopbackServer:
    """Serves HTTP on a free port of loopback, in a thread; ends with its block."""

    def __init__(self, handler):
        handler.log_message = lambda *_: None
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self.address = f"127.0.0.1:{self.server.server_address[1]}"
        self.url = f"http://{self.address}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


class Sink(LoopbackServer):
    """Receives alerts at the API of Alertmanager, and keeps the labels of those over problems."""

    def __init__(self):
        sink, self.sent = self, []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                alerts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                sink.sent = [alert["labels"] for alert in alerts
                             if not alert["labels"]["alertname"].startswith("KarmadaPolicyExporter")]
                self.answer(b"")

            def do_GET(self):
                self.answer(b"[]")

            def answer(self, text):
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(text)))
                self.end_headers()
                self.wfile.write(text)

        super().__init__(Handler)
        # Labels as Prometheus has them from its configuration.
        self.flags = ("--alertmanager.url", self.url, "--alertmanager.label=cluster=lab")


def by_labels(alerts):
    return sorted(alerts, key=lambda labels: sorted(labels.items()))


class Alertmanager(servers.Alertmanager):
    def __init__(self, config):
        self.home = tempfile.TemporaryDirectory(prefix="alerts-")
        super().__init__(self.home.name, config)

    def __exit__(self, *_):
        super().__exit__()
        self.home.cleanup()


EXAMPLE = ALERTS / "alertmanager.example.yml"


class Receiver(LoopbackServer):
    """A webhook that keeps each message of Alertmanager."""

    def __init__(self):
        groups = self.groups = []

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                size = int(self.headers["Content-Length"])
                groups.append(json.loads(self.rfile.read(size)))
                self.send_response(200)
                self.end_headers()

        super().__init__(Handler)


class ExampleAlertmanager(Alertmanager):
    """Has the routes and the inhibition of the example; a webhook of the test is each receiver.

    Without `minute_s` a group waits 1 s, and 2 s between messages. Else the times of the example are scaled: a minute
    takes so many seconds.
    """

    def __init__(self, receiver, minute_s=None):
        config = json.loads(json.dumps(load(EXAMPLE)))
        self.set_times(config["route"], minute_s)
        for one in config["receivers"]:
            one["webhook_configs"] = [{"url": f"{receiver.url}/{one['name']}", "send_resolved": False}]
        super().__init__(yaml.safe_dump(config))

    def set_times(self, route, minute_s):
        units = {"s": 1 / 60, "m": 1, "h": 60}
        for name, short in (("group_wait", "1s"), ("group_interval", "2s")):
            if minute_s and name in route:
                number, unit = int(route[name][:-1]), route[name][-1]
                route[name] = f"{max(1, round(number * units[unit] * minute_s * 1000))}ms"
            elif not minute_s and "receiver" in route:
                route[name] = short
        for below in route.get("routes", []):
            self.set_times(below, minute_s)

    def send(self, *labels, **members):
        body = json.dumps([{"labels": one, "annotations": {}, **members} for one in labels]).encode()
        request = urllib.request.Request(self.url + "/api/v2/alerts", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            equal(answer.status, 200)

    def resolve(self, *labels):
        self.send(*labels, endsAt=datetime.datetime.now(datetime.timezone.utc).isoformat())

    def silence(self, **labels):
        """Silence the alerts with these labels for an hour."""
        starts = datetime.datetime.now(datetime.timezone.utc)
        body = json.dumps({
            "matchers": [{"name": name, "value": value, "isRegex": False} for name, value in labels.items()],
            "startsAt": starts.isoformat(), "endsAt": (starts + datetime.timedelta(hours=1)).isoformat(),
            "createdBy": "test", "comment": "test"}).encode()
        request = urllib.request.Request(self.url + "/api/v2/silences", body,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=20) as answer:
            equal(answer.status, 200)

    def states(self):
        """active or suppressed, by all labels."""
        return {key(a["labels"]): a["status"]["state"]
                for a in json.loads(fetch(self.url + "/api/v2/alerts")[1])}

    def state(self):
        """active or suppressed, by alert name and cluster."""
        return {(a["labels"]["alertname"], a["labels"].get("cluster", "")): a["status"]["state"]
                for a in json.loads(fetch(self.url + "/api/v2/alerts")[1])}


def key(labels):
    return tuple(sorted(labels.items()))
