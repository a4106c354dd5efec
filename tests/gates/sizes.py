#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sizes.py FILE...: check the length of files and functions.

The sources are formatted, so a function begins and ends at the left margin.
"""
import pathlib
import re
import sys

FILE_LINES = 1000
FUNCTION_LINES = 60

IGNORED = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)
FUNCTION = re.compile(r"^[a-zA-Z_][^;={}]*?\b(?P<name>\w+)\((?:[^()]|\([^()]*\))*\)\s*\n"
                      r"\{\n.*?^\}", re.S | re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def functions(text):
    """Yields the name and the number of lines of each function."""
    for match in FUNCTION.finditer(IGNORED.sub(blank, text)):
        yield match["name"], match.group().count("\n") + 1


def main():
    complaints, lengths = [], []
    for path in map(pathlib.Path, sys.argv[1:]):
        text = path.read_text()
        lines = text.count("\n")
        if lines > FILE_LINES:
            complaints.append(f"{path}: {lines} lines, the limit is {FILE_LINES}: "
                              "split the file by subject")
        for name, length in functions(text):
            lengths.append(length)
            if length > FUNCTION_LINES:
                complaints.append(f"{path}: {name} has {length} lines, the limit is "
                                  f"{FUNCTION_LINES}: split the function by subject")
    lengths.sort()
    print(f"{len(lengths)} functions: median {lengths[len(lengths) // 2]} lines, "
          f"p90 {lengths[len(lengths) * 9 // 10]}, max {lengths[-1]}")
    print("".join(f"{complaint}\n" for complaint in complaints), end="", file=sys.stderr)
    return bool(complaints)


sys.exit(main())
