# SPDX-License-Identifier: Apache-2.0
"""An exporter of objects of many kinds, in all states."""
import json

from exporter import ROOT, Folder, Serving

ASSORTED = "assorted.json"


class Assorted(Serving):
    def __init__(self, *flags, more=()):
        self.folder = Folder()
        items = json.loads((ROOT / "tests/fixtures/golden" / ASSORTED).read_text())
        self.folder.write(ASSORTED, json.dumps(
            {"apiVersion": "v1", "kind": "List", "items": [*items, *more]}))
        self.path = str(self.folder.path)
        super().__init__("--manifests", self.path, *flags)
        self.wait_until_ready()

    def __exit__(self, *reason):
        super().__exit__(*reason)
        self.folder.__exit__(*reason)
