# SPDX-License-Identifier: Apache-2.0
"""comments.py FILE...: C files begin with the SPDX line and comment in blocks only."""
import re
import sys

SPDX = "/* SPDX-License-Identifier: Apache-2.0 */"
# Strings and block comments come first: a '//' inside them begins no comment.
TOKEN = re.compile(
    r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|(?P<line>//[^\n]*)|#\s*include\s*<[^>\n]*>',
    re.S,
)


def faults(path):
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.split("\n", 1)[0] != SPDX:
        yield f"{path}:1: the first line is not {SPDX}"
    for match in TOKEN.finditer(text):
        if match["line"]:
            line = text.count("\n", 0, match.start()) + 1
            yield f"{path}:{line}: a line comment: {match['line']}"


found = [fault for path in sys.argv[1:] for fault in faults(path)]
print("\n".join(found), end="\n" if found else "")
sys.exit(1 if found else 0)
