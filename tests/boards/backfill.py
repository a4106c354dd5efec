# SPDX-License-Identifier: Apache-2.0
"""Hours of scrapes at once: a page of an exporter, written as Prometheus would have scraped it."""
import json
import re
import subprocess
import time

from boards import program_families, types
from servers import program
from world import JOB, PODS

INTERVALS = (15, 30, 60, 120)
HOUR = 3600
# All in two blocks of two hours each, and the end just before a scrape, when numbers are oldest.
END = int(time.time()) // (2 * HOUR) * (2 * HOUR) - 1
START = END - 3 * HOUR
# Half way a pod moves, and for an hour in the middle an exporter is gone.
MOVE = START + 90 * 60
GONE, BACK = START + HOUR, START + 2 * HOUR

ROW = re.compile(r"([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$")
SUFFIX = re.compile(r"_(bucket|sum|count)$")
# Times that go on with the clock. Others, such as the end of a certificate (web_), stay.
CLOCK = re.compile(r"karmada_(policy_exporter|configconnector)_(?!web_)\w+_timestamp_seconds$")
# In so many seconds a counter grows by what it was on the page.
GROWTH_S = 600


class Page:
    """What an exporter says, of which series for hours can be made.

    What the story has no row of has a made-up one: `made_up` counts these families."""

    def __init__(self, text, now):
        kinds, self.rows, self.now = types(), [], now
        for match in map(ROW.match, text.splitlines()):
            if match:
                kind = kinds.get(match[1]) or kinds.get(SUFFIX.sub("", match[1]), "counter" if (
                    match[1].endswith("_total")) else "gauge")
                self.rows.append((match[1], match[2] or "", float(match[3]), kind))
        there = {SUFFIX.sub("", name) for name, *_ in self.rows} | {name for name, *_ in self.rows}
        missing = [f for f in program_families() if f["name"] not in there and f["type"] != "histogram"]
        self.made_up, self.families = len(missing), len(program_families())
        for family in missing:
            labels = ",".join('%s="%s"' % (label["name"], (label["values"] or ["made-up"])[0])
                              for label in family["labels"])
            value = now - 60 if family["name"].endswith("_timestamp_seconds") else 1
            self.rows.append((family["name"], labels, value, family["type"]))

    def scraped(self, labels, times, born, since):
        """The lines of all scrapes of a target of these labels, whose process was born then, and that
        sees what was so `since` then at the latest."""
        still, moving = [], []
        for name, own, value, kind in self.rows + [
                ("up", "", 1, "gauge"), ("scrape_duration_seconds", "", 0.01, "gauge"),
                ("scrape_samples_scraped", "", len(self.rows), "gauge")]:
            series = series_of(name, own, labels)
            if name == "process_start_time_seconds":
                still.append(f"{series} {born}")
            elif CLOCK.search(name):
                moving.append((series, value - self.now, 1))
            elif name.endswith("_timestamp_seconds"):
                still.append(f"{series} {since + min(value - self.now, 0)}")
            elif kind in ("counter", "histogram") and value:
                moving.append((series, -born * value / GROWTH_S, value / GROWTH_S))
            else:
                still.append(f"{series} {value}")
        still.append("")
        for now in times:
            stamp = f" {now}\n"
            yield stamp.join(still)
            yield "".join(f"{series} {base + now * times_now}{stamp}"
                          for series, base, times_now in moving)


def series_of(name, own, labels):
    """A series of a target; with honor_labels what is the exporter's own stays."""
    taken = set(re.findall(r'(\w+)="', own))
    rest = [f'{k}="{v}"' for k, v in labels.items() if k not in taken]
    return "%s{%s}" % (name, ",".join([own] * bool(own) + rest))


def steadily(name, labels, value, times):
    """The lines of one series that is always the same."""
    return "".join(f"{series_of(name, '', labels)} {value} {now}\n" for now in times)


def promtool(*arguments):
    done = subprocess.run([program("promtool"), "tsdb", "create-blocks-from", *map(str, arguments)],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]


def backfill(folder, parts):
    """A Prometheus's data of these lines."""
    path = folder / "backfill.om"
    with open(path, "w", encoding="utf-8") as file:
        for part in parts:
            file.writelines(part)
        file.write("# EOF\n")
    promtool("openmetrics", path, folder / "prometheus/data")
    path.unlink()


def by_rank(groups):
    """The groups as a list of lists: records of one list depend on those of the lists before it only."""
    ranks, rank_of = [], {}
    for group in groups:
        for rule in group["rules"]:
            needs = [rank_of[name] for name in re.findall(r"karmada_policy:[\w:]+", rule["expr"])]
            rank = rank_of[rule["record"]] = max(needs, default=-1) + 1
            while len(ranks) <= rank:
                ranks.append([])
            ranks[rank].append({**group, "name": f"{group['name']} {rule['record']}", "rules": [rule]})
    return ranks


def record(folder, url, groups, start, end):
    """Writes what these rules would have recorded into the data that they read."""
    path = folder / "records.yml"
    path.write_text(json.dumps({"groups": groups}))
    promtool("rules", f"--url={url}", f"--start={start}", f"--end={end}",
             f"--output-dir={folder / 'prometheus/data'}", path)


def scrapes(interval, start=START, end=END, phase=5.0):
    """When a target is scraped; the last time a little less than an interval before the end."""
    last = END - interval + phase
    return [t for t in (last - n * interval for n in range(int((END - START) / interval) + 1))
            if start <= t <= end][::-1]


def backfilled(page):
    """The lines of all worlds."""
    def target(plane, times, pod=PODS[0], host=1, born=START - HOUR):
        labels = {**plane, "job": JOB, "instance": f"10.0.0.{host}:19180", **pod}
        return page.scraped(labels, times, born, START)

    def alerts(plane):
        for severity in ("critical", "warning", "info"):
            yield steadily("ALERTS", {
                **plane, "job": JOB, "alertname": "KarmadaOf" + severity, "alertstate": "firing",
                "severity": severity, "product": JOB, "policy_namespace": "web",
                "policy": "web-policy"}, 1, range(START, END, 60))
    for interval in INTERVALS:
        yield target({"cluster": f"steady-{interval}"}, scrapes(interval))
        yield from alerts({"cluster": f"steady-{interval}"})
    for interval in (30, 120):
        plane = {"cluster": f"moved-{interval}"}
        yield target(plane, scrapes(interval, end=MOVE))
        # It is elsewhere, and up again, a scrape and a half after the last one.
        yield target(plane, scrapes(interval, start=MOVE + interval, phase=2.0 + interval / 2),
                     PODS[1], 2, MOVE)
        yield from alerts(plane)
    for plane in {"cluster": "pair"}, {"plane": "renamed"}:
        yield target(plane, scrapes(60))
        yield from alerts(plane)
    yield target({"cluster": "pair"}, scrapes(60, phase=31.0), PODS[1], 2, START - 2 * HOUR)
    gone = {"cluster": "gone"}
    yield target(gone, scrapes(60, end=GONE))
    yield steadily("up", {**gone, "job": JOB, "instance": "10.0.0.1:19180", **PODS[0]}, 0,
                   scrapes(60, GONE, BACK))
    yield target(gone, scrapes(60, start=BACK), born=BACK)
    yield from alerts(gone)
