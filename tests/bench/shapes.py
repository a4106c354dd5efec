# SPDX-License-Identifier: Apache-2.0
"""The world of tests/bench/shapes, as generate.c and replay/world.go make it: see README.md there."""
import functools
import json
import pathlib
import re

FOLDER = pathlib.Path(__file__).resolve().parent / "shapes"
SPREAD_FIRST, SPREAD, APPLIED_EVERY = 10, 20, 3
# A JSON string, which stays as it is, or white space between tokens, which goes.
TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|[ \n]+')
PLACEHOLDER = re.compile(r"\{\{([a-z-]+)(?::(\d+))?\}\}")
CONDITION = re.compile(r"\{\{#([a-z]+)\}\}(.*?)\{\{/\1\}\}")


@functools.lru_cache
def shape(name):
    text = (FOLDER / f"{name}.json").read_text(encoding="utf-8")
    return TOKEN.sub(lambda token: token[1] or "", text)


def expand(name, values):
    """The JSON text of a shape. `values` has a number, a text or, for conditions, a boolean by name."""
    def value(found):
        key, width = found.groups()
        if key in values:
            return str(values[key]).zfill(int(width or 0))
        if key.endswith("-text"):
            return json.dumps(expand(key.removesuffix("-text"), values), ensure_ascii=False)[1:-1]
        return expand(key, values)

    kept = CONDITION.sub(lambda found: found[2] if values.get(found[1]) else "", shape(name))
    return PLACEHOLDER.sub(value, kept)


class World:
    """Deployments with a binding each, and policies: all in `namespaces`."""

    def __init__(self, templates, policies=1000, namespaces=500):
        self.templates, self.policies, self.namespaces = templates, policies, namespaces

    def values(self, policy, number=0, **more):
        return {"number": number, "namespace": policy % self.namespaces, "policy": policy,
                "group": policy // self.namespaces, "spread": SPREAD_FIRST + policy % SPREAD, "generation": 2,
                "version": 1, "kind": "Deployment", "lower-kind": "deployment", "api-version": "apps/v1",
                "cluster": "member1", "bound": True, "applied": number % APPLIED_EVERY == 0, **more}

    def policy_of(self, number):
        within = number // self.namespaces % (self.policies // self.namespaces)
        return within * self.namespaces + number % self.namespaces

    def policy(self, number):
        return json.loads(expand("policy", self.values(number, generation=1)))

    def template(self, number):
        return json.loads(expand("deployment", self.values(self.policy_of(number), number)))

    def binding(self, number):
        return json.loads(expand("binding", self.values(self.policy_of(number), number)))
