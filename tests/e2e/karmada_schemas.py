# SPDX-License-Identifier: Apache-2.0
"""CustomResourceDefinitions of Karmada's kinds by release, from the table of their fields."""
from exporter import ROOT

FIELDS = ROOT / "tests/fixtures/crd-fields.tsv"


def definitions(release):
    """CustomResourceDefinitions of policies and bindings with the fields of a release such as v1.15.0."""
    order = FIELDS.read_text().splitlines()[1].split(": ")[1].split()
    schemas = {}
    for line in FIELDS.read_text().splitlines()[3:]:
        group, version, kind, path, *_, where = line.split("\t")
        first, _, last = where.partition("..")
        there = where == "all" or order.index(first) <= order.index(release) <= order.index(last or first)
        if there and (group, version) in (("policy.karmada.io", "v1alpha1"), ("work.karmada.io", "v1alpha2")):
            at = schemas.setdefault((group, version, kind), {})
            for name in path.replace("[]", ".[]").replace("{}", ".{}").strip(".").split("."):
                child = {"[]": "items", "{}": "additionalProperties"}.get(name)
                at = at.setdefault(child, {}) if child else at.setdefault("properties", {}).setdefault(name, {})
    return [{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
             "metadata": {"name": f"{kind.lower()}s.{group}"},
             "spec": {"group": group, "scope": "Namespaced", "names": {"kind": kind, "plural": f"{kind.lower()}s"},
                      "versions": [{"name": version, "served": True, "storage": True,
                                    "schema": {"openAPIV3Schema": {"type": "object", **schema}}}]}}
            for (group, version, kind), schema in schemas.items()]
