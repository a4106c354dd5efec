# SPDX-License-Identifier: Apache-2.0
"""Stories told on a real API server: each step is written there and read back from the metrics of
an exporter that watches it, one for each design."""
import atexit
import time

from exporter import PATIENCE_S, Serving
from page import Page
from written import Written

DESIGNS = ("preemption", "static")
# A page that is as it should be has to stay so for this long: no late change may follow.
SETTLED_S = 0.2


class Watching(Serving):
    """An exporter that watches an API server."""

    def __init__(self, server, *arguments, kubeconfig=None):
        self.server = server
        self.process = None
        atexit.register(self.__exit__)
        super().__init__("--kubeconfig", kubeconfig or server.kubeconfig(), *arguments)

    def __exit__(self, *_):
        if self.process:
            super().__exit__()

    def page(self):
        return Page(self.metrics())

    def become(self, facts_of, wanted, what, patience_s=PATIENCE_S):
        """Wait until facts_of(page) is what is wanted; seconds that it took."""
        start = time.monotonic()
        while True:
            page = self.page()
            facts = facts_of(page) if page.up else "not up"
            if facts == wanted:
                return time.monotonic() - start
            if time.monotonic() - start > patience_s:
                self.read_log(0)
                requests = "\n".join(self.server.request_log().splitlines()[-60:])
                raise AssertionError(f"{what}:\n  expected: {wanted}\n  said:     {facts}\n"
                                     f"log:\n{self.log[-3000:]}\nlast requests:\n{requests}")
            time.sleep(0.01)

    def become_and_stay(self, facts_of, wanted, what):
        self.become(facts_of, wanted, what)
        time.sleep(SETTLED_S)
        self.become(facts_of, wanted, f"{what}, and then", patience_s=0)

    def wait_until_ready(self):
        self.become(lambda page: page.up, True, "being up")
        return self


class Stage:
    """An API server with an exporter of each design, and what has been written."""

    def __init__(self, server):
        self.server = server
        self.written = Written(server.admin)
        self.exporters = {design: Watching(server, "--rules.takeover", design)
                          for design in DESIGNS}
        for exporter in self.exporters.values():
            exporter.wait_until_ready()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for exporter in self.exporters.values():
            exporter.__exit__()


# ---- the stories' words as numbers on a page


def state_of(words, kind="Deployment"):
    """What the page says of one template, if its state is in these words."""
    state, *more = words.split()
    if "kind_not_selected" in more:
        # No policy selects its kind and no binding is of it: it is not looked at.
        return {"states": {}, "stale": {}, "fields": {}, "pending": {}}
    fields = more[2].split("+") if len(more) > 2 else []
    return {"states": {(kind, state): 1},
            "stale": {tuple(more[:2]): 1} if state == "stale" else {},
            "fields": {field: 1 for field in fields},
            "pending": {more[0]: 1} if state == "pending" else {}}


def state_on(page):
    return {"states": page.by("karmada_templates", "kind", "state"),
            "stale": page.by("karmada_templates_stale", "reason", "phase"),
            "fields": page.by("karmada_templates_stale_field", "field"),
            "pending": page.by("karmada_templates_pending", "reason")}


def claims_on(page):
    return page.by("karmada_propagationpolicy_templates", "policy", relation="claimed")


def conflicts_on(page):
    """{(dependency, field): what it results in}"""
    return {(labels["name"], labels["field"]): labels["resolved"]
            for labels, value in page.rows("karmada_dependency_conflict_info") if value}


def wants_on(page):
    """Which policy wants what, of the fields in conflict."""
    return page.by("karmada_propagationpolicy_dependency_conflicts", "policy", "field", "value")


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else value
