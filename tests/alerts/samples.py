# SPDX-License-Identifier: Apache-2.0
"""Series as promtool's tests write them, and what becomes of them where the world is otherwise."""
import re

# What differs between two replicas beside instance and pod, and between a pod and the one after it.
MORE = ("node", "endpoint", "pod_template_hash", "zone", "container")
COUNTER = re.compile(r"\w+_(total|bucket){")


def minutes(time):
    """How many minutes a time of promtool is."""
    return sum(int(number) * {"m": 1, "h": 60}[unit] for number, unit in re.findall(r"(\d+)(\w)", time))


def samples(values):
    """The values of a series one by one, as promtool reads the short form."""
    found = []
    for part in values.split():
        short = re.fullmatch(r"(_|-?[\d.]+)(?:([+-][\d.]+))?x(\d+)", part)
        if not short:
            found.append(part)
            continue
        start, step, count = short.groups()
        if start == "_":
            found += ["_"] * int(count)
            continue
        for i in range(int(count) + 1):
            found.append(f"{float(start) + i * float(step or 0):.10g}")
    return found


def is_number(value):
    return value not in ("_", "stale")


def made(series, change):
    """The series with their values changed by a function of them, one by one."""
    return [{"series": one["series"], "values": " ".join(change(one["series"], samples(one["values"])))}
            for one in series]


def copied(series, label, values):
    """The series with another value of a label, for each of the values."""
    return [{"series": re.sub(rf'\b{label}="[^"]*"', f'{label}="{value}"', one["series"]),
             "values": one["values"]} for one in series for value in values]


def renamed(series, label, other):
    return [{**one, "series": re.sub(rf"\b{label}=", f"{other}=", one["series"])} for one in series]


def placed(series, place):
    """The series with labels of a place that a pod runs at."""
    more = "".join(f'{label}="{label}-{place}", ' for label in MORE)
    return [{**one, "series": one["series"].replace("{", "{" + more, 1)} for one in series]


def as_pod(series, suffix):
    return [{**one, "series": re.sub(r'\b(instance|pod)="(\w+)"', rf'\1="\2{suffix}"', one["series"])}
            for one in series]


def replicas(series):
    """Each replica twice, with five more labels each: an aggregation must not double anything."""
    return placed(series, "x") + placed(as_pod(series, "-2"), "y")


def without_some_scrapes(series, every):
    """Every so often nothing was scraped, as Prometheus notes it: a stale marker. No scrape of
    the first minutes is missed, since rates begin there."""
    return made(series, lambda _, values: [
        "stale" if i > 2 and i % every == 0 and value != "_" else value
        for i, value in enumerate(values)])


def at_interval(series, seconds):
    """The same values as another interval sees them: what was there at that moment."""
    def change(_, values):
        seen = [values[i * seconds // 60] if i * seconds % 60 == 0 or is_number(values[i * seconds // 60])
                else "_" for i in range(len(values) * 60 // seconds)]
        return seen + ["stale"] if values[-1] == "stale" else seen
    return made(series, change)


def begun_anew(name, values, before):
    """Values of a process that starts now, after those of one before it: its counters begin at 0."""
    if not COUNTER.match(name):
        return values
    seen = [float(value) for value in before if is_number(value)]
    zero = seen[-1] if seen else 0
    return [f"{float(value) - zero:.10g}" if is_number(value) else value for value in values]


def moved(series, at):
    """A pod that ends on one node at that minute, and begins on another with the next scrape."""
    ended = made(series, lambda _, values: values[:at] + ["stale"])
    begun = made(series, lambda name, values:
                 ["_"] * (at + 1) + begun_anew(name, values[at + 1:], values[:at + 1]))
    return placed(ended, "old") + placed(as_pod(begun, "-2"), "new")


def extended(series, to):
    """The series going on as they did, up to that minute at least."""
    def change(_, values):
        while len(values) <= to:
            before, last = ([None, None] + [v for v in values if is_number(v)])[-2:]
            step = float(last) - float(before) if before is not None and is_number(values[-1]) else 0
            values = values + [f"{float(values[-1]) + step:.10g}" if is_number(values[-1]) else values[-1]]
        return values
    return made(series, change)


def and_back(series, gone, back, end):
    """An exporter that is gone from one minute to another, and then tells what it did at first; what
    it says of times is true again."""
    def change(name, values):
        again = begun_anew(name, extended([{"series": name, "values": " ".join(values)}], end)[0]
                           ["values"].split()[:end - back + 1], [])
        if "timestamp_seconds" in name:
            again = [f"{float(v) + back * 60:.10g}" if is_number(v) else v for v in again]
        return values[:gone + 1] + ["stale"] + ["_"] * (back - gone - 2) + again
    return made(series, change)
