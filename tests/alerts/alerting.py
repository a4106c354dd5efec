# SPDX-License-Identifier: Apache-2.0
"""Prometheus and Alertmanager as the tests of the alerts have them: with a folder of their own that
goes with them."""
import json
import pathlib
import sys
import tempfile

from bundle import ROOT
sys.path.insert(0, str(ROOT / "dashboards/demo"))
import servers  # noqa: E402


class Prometheus(servers.Prometheus):
    """It scrapes one exporter, evaluates the rules, and notifies an Alertmanager if it has one."""

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
        """What went wrong with the last evaluation of any rule."""
        return [(rule["name"], rule.get("lastError")) for group in self.rules()
                for rule in group["rules"] if rule["health"] == "err"]


class Alertmanager(servers.Alertmanager):
    def __init__(self, config):
        self.home = tempfile.TemporaryDirectory(prefix="alerts-")
        super().__init__(self.home.name, config)

    def __exit__(self, *_):
        super().__exit__()
        self.home.cleanup()
