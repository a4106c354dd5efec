# SPDX-License-Identifier: Apache-2.0
"""Files in the repository that hold what programs print: compared with what they print now.

`make golden` runs the tests that compare with GOLDEN=write, which rewrites the files; what changed
is then read in `git diff`.
"""
import difflib
import os

from exporter import ROOT

WRITES = os.environ.get("GOLDEN") == "write"


def golden(path, text):
    """Fail with the difference unless the file is exactly the text. With GOLDEN=write, write it."""
    if WRITES:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    held = path.read_text() if path.exists() else ""
    if held == text:
        return
    name = str(path.relative_to(ROOT))
    difference = difflib.unified_diff(held.splitlines(), text.splitlines(), name, "now",
                                      lineterm="")
    raise AssertionError("\n".join(
        [f"{name} differs; if that is right, `make golden` rewrites it", *difference]))
