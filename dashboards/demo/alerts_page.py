# SPDX-License-Identifier: Apache-2.0
"""A page of the alerts that fire in the demo, for people: the pages of Debian's Prometheus need
packages that are not unpacked, and its Alertmanager has none. No script, nothing from elsewhere."""
import datetime
import html
import http.server
import json
import pathlib
import re
import threading

from servers import ROOT, fetch

SEVERITIES = {"critical": "page somebody", "warning": "open a ticket", "info": "weekly review"}
# Labels that are the same for every alert here, or told elsewhere on its card.
UNTOLD = {"alertname", "severity", "product", "cluster", "job", "shard"}
RUNBOOKS = ROOT / "alerts/runbooks"
STYLE = (pathlib.Path(__file__).parent / "alerts_page.css").read_text()


def text(value):
    return html.escape(str(value), quote=True)


def title(name):
    """A name that may be broken between its words."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "<wbr>", text(name))


def lasting(seconds):
    """For how long: 12 s, 3 min, 2 h."""
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{int(seconds / size)} {unit}"
    return f"{int(max(seconds, 0))} s"


def seconds_since(stamp):
    """Prometheus writes nanoseconds, which Python does not read."""
    when = datetime.datetime.fromisoformat(re.sub(r"(\.\d{6})?\d*Z$", r"\1+00:00", stamp))
    return (datetime.datetime.now(datetime.timezone.utc) - when).total_seconds()


def links(name, annotations):
    """To the runbook that is here, else to the one of the annotation; and which board shows it."""
    found = []
    if (RUNBOOKS / f"{name}.md").is_file():
        found.append(f'<a href="/runbooks/{text(name)}">Runbook</a>')
    elif re.match(r"https?://", annotations.get("runbook_url", "")):
        found.append(f'<a href="{text(annotations["runbook_url"])}">Runbook</a>')
    board = re.search(r"/d/([\w-]+)", annotations.get("dashboard_url", ""))
    return found + ([f"board {text(board[1])}"] if board else [])


def card(alert, muted, is_first):
    """One alert: its name, since when, what it says, and where to read on. The first of a name is
    where the links of the stories lead to."""
    labels, annotations = alert["labels"], alert["annotations"]
    name = labels["alertname"]
    chips = "".join(f"<li>{text(key)}=<b>{text(value)}</b></li>"
                    for key, value in sorted(labels.items()) if key not in UNTOLD and value)
    state = "firing" if alert["state"] == "firing" else "waiting"
    anchor = f' id="{text(name)}"' if is_first else ""
    return (f'<article class="{severity_of(alert)} {state}"{anchor}><h3>{title(name)}</h3>'
            f'<p class="since">{state} for {lasting(seconds_since(alert["activeAt"]))}'
            f'{f", {text(muted)}" if muted else ""}</p>'
            f'<p class="summary">{text(annotations.get("summary", ""))}</p>'
            f'<p>{text(annotations.get("description", ""))}</p>'
            f'<ul class="labels">{chips}</ul>'
            f'<p class="links">{" · ".join(links(name, annotations))}</p></article>')


def severity_of(alert):
    """The first of the alert's severity that there is a part of the page for."""
    named = alert["labels"].get("severity")
    return named if named in SEVERITIES else "info"


def part(severity, alerts, muted_by):
    """The alerts of a severity, those that fire first, the latest of them on top."""
    rows = sorted((a for a in alerts if severity_of(a) == severity),
                  key=lambda a: (a["state"] != "firing", seconds_since(a["activeAt"])))
    named = [a["labels"]["alertname"] for a in rows]
    cards = "".join(card(a, muted_by(a), a["labels"]["alertname"] not in named[:i])
                    for i, a in enumerate(rows)) or '<p class="none">None.</p>'
    fires = sum(a["state"] == "firing" for a in rows)
    return (f'<section><h2 class="{severity}">{severity} <span>{fires} firing'
            f'{f", {len(rows) - fires} waiting" if len(rows) > fires else ""}</span> '
            f'<small>{SEVERITIES[severity]}</small></h2><div class="cards">{cards}</div></section>')


def story_rows(told, firing):
    """What each story says now, and which alerts it leads to."""
    for words, at_peak, alerts in told:
        leads = " ".join(
            f'<a class="{"on" if name in firing else "off"}" href="#{text(name)}">{title(name)}</a>'
            for name in alerts) or "nothing: it is in order"
        yield (f'<tr{" class=peak" if at_peak else ""}><td>{text(words)}</td><td>{leads}</td></tr>')


def page(alerts, muted_by, told):
    firing = {a["labels"]["alertname"] for a in alerts if a["state"] == "firing"}
    counts = ", ".join(
        f"{sum(a['state'] == 'firing' and severity_of(a) == s for a in alerts)} {s}"
        for s in SEVERITIES)
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta http-equiv="refresh" content="5">'
            f"<title>{len(firing)} alerts fire</title><style>{STYLE}</style></head><body><main>"
            f"<h1>Alerts of the demo</h1><p>{counts} firing. This page is loaded anew every five "
            "seconds; alerts come and go as the stories at its end go round.</p>"
            + "".join(part(severity, alerts, muted_by) for severity in SEVERITIES)
            + "<section><h2>Stories <small>what happens, and which alerts it leads to</small></h2>"
            "<table><thead><tr><th>Now</th><th>Leads to</th></tr></thead><tbody>"
            + "".join(story_rows(told, firing)) + "</tbody></table></section></main></body></html>")


def runbook(name):
    """A runbook as it is written; None if there is no such page."""
    path = RUNBOOKS / f"{name}.md"
    if not re.fullmatch(r"\w+", name) or not path.is_file():
        return None
    return ('<!doctype html><html lang="en"><head><meta charset="utf-8">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>{text(name)}</title><style>{STYLE}</style></head><body><main>"
            f'<p><a href="/">All alerts</a></p><pre>{text(path.read_text())}</pre>'
            "</main></body></html>")


def muting(alertmanager):
    """A function: what keeps Alertmanager from notifying about an alert of Prometheus."""
    answer = fetch(alertmanager.url + "/api/v2/alerts")[1] if alertmanager else ""
    known = [(one["labels"], one["status"]) for one in json.loads(answer or "[]")]

    def muted_by(alert):
        status = next((status for labels, status in known
                       if alert["labels"].items() <= labels.items()), {})
        return ("silenced" if status.get("silencedBy")
                else "muted by another alert" if status.get("inhibitedBy") else "")
    return muted_by


class AlertsPage:
    """The page, served on loopback. `told` are (words, whether at its peak, alerts) by story."""

    def __init__(self, prometheus, alertmanager, port):
        told = self.told = {}
        self.prometheus, self.alertmanager = prometheus, alertmanager

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/":
                    self.answer(self.alerts())
                elif self.path.startswith("/runbooks/"):
                    self.answer(runbook(self.path[len("/runbooks/"):]))
                else:
                    self.answer(None)

            @staticmethod
            def alerts():
                """None while Prometheus does not answer: it is the first that ends."""
                try:
                    alerts = prometheus.ask("alerts")["alerts"]
                except RuntimeError:
                    return None
                return page(alerts, muting(alertmanager), list(told.values()))

            def answer(self, content):
                self.send_response(200 if content else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Security-Policy",
                                 "default-src 'none'; style-src 'unsafe-inline'")
                self.end_headers()
                self.wfile.write((content or "There is nothing here.").encode())

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
