# SPDX-License-Identifier: Apache-2.0
"""The JSON Schemas of what the program prints, and what they say of a document."""
import json

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match

from exporter import ROOT

FOLDER = ROOT / "exporter/docs"
BESIDE = "report.schema.json#/"


def bundled(name):
    """A schema, with what it refers to in the one beside it among its own definitions."""
    text = (FOLDER / f"{name}.schema.json").read_text()
    schema, beside = json.loads(text.replace(BESIDE, "#/")), {}
    if BESIDE in text:
        beside = json.loads((FOLDER / "report.schema.json").read_text())["$defs"]
    common = {word: (beside[word], schema["$defs"][word]) for word in beside.keys() & schema["$defs"]}
    assert not common, f"{name}: defined twice: {sorted(common)}"
    return {**schema, "$defs": {**beside, **schema["$defs"]}}


class Schema:
    def __init__(self, name):
        self.tree = bundled(name)
        Draft202012Validator.check_schema(self.tree)
        self.validator = Draft202012Validator(self.tree)

    def refuses(self, document):
        return not self.validator.is_valid(document)

    def holds(self, document, what):
        """Fail with what is wrong, and where, unless the document is as the schema says."""
        error = best_match(self.validator.iter_errors(document))
        assert error is None, f"{what}: {error.json_path}: {error.message[:500]}"

    def resolved(self, node):
        while isinstance(node, dict) and "$ref" in node:
            node = self.tree["$defs"][node["$ref"].rsplit("/", 1)[1]]
        return node

    def members(self, node=None, path=""):
        """The paths of all members that a document may have, those of lists' elements without index."""
        node = self.resolved(self.tree if node is None else node)
        if not isinstance(node, dict):
            return
        for keyword in ("anyOf", "oneOf", "allOf"):
            for part in node.get(keyword, ()):
                yield from self.members(part, path)
        if "items" in node:
            yield from self.members(node["items"], path)
        for name, member in node.get("properties", {}).items():
            if member is not False:
                yield f"{path}/{name}"
                yield from self.members(member, f"{path}/{name}")


def members_of(document, path=""):
    """The paths of the members that a document has, as Schema.members() writes them."""
    if isinstance(document, list):
        for item in document:
            yield from members_of(item, path)
    elif isinstance(document, dict):
        for name, member in document.items():
            yield f"{path}/{name}"
            yield from members_of(member, f"{path}/{name}")
