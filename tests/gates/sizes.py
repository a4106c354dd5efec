#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sizes.py FILE...: how long files and functions are, and how many functions have one caller only.

A long function hides several thoughts; a function that exists only to be short sends the reader
to another place for each. Both are counted, and both have a limit. The sources are formatted,
so that a function begins and ends at the left margin.
"""
import pathlib
import re
import sys

FILE_LINES = 400
FUNCTION_LINES = 50
FUNCTION_LINES_P90 = 30
SINGLE_CALLER_SHARE = 0.45  # Of the static functions.

IGNORED = re.compile(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', re.S)
FUNCTION = re.compile(r"^(?P<head>[a-zA-Z_][^;={}]*?)\b(?P<name>\w+)\((?:[^()]|\([^()]*\))*\)\s*\n"
                      r"\{\n.*?^\}", re.S | re.M)


def blank(match):
    return re.sub(r"[^\n]", " ", match.group())


def functions(path):
    """Each function: its name, its lines, and whether it is static and called in one place only."""
    text = IGNORED.sub(blank, path.read_text())
    for match in FUNCTION.finditer(text):
        name = match["name"]
        static = re.search(r"\bstatic\b", match["head"]) and "inline" not in match["head"]
        declared = len(re.findall(rf"^static[^;{{}}=()]*\b{name}\([^{{}};]*\);", text, re.M))
        uses = len(re.findall(rf"\b{name}\b", text)) - 1 - declared
        calls = len(re.findall(rf"\b{name}\(", text)) - 1 - declared
        yield name, match.group().count("\n") + 1, bool(static), uses == calls == 1


def main():
    complaints, lengths, static, single = [], [], 0, 0
    for path in map(pathlib.Path, sys.argv[1:]):
        lines = path.read_text().count("\n")
        if lines > FILE_LINES:
            complaints.append(f"{path}: {lines} lines, {FILE_LINES} are allowed: "
                              "split it by meaning")
        for name, length, is_static, is_single in functions(path):
            lengths.append(length)
            static += is_static
            single += is_static and is_single
            if length > FUNCTION_LINES:
                complaints.append(f"{path}: {name} has {length} lines, {FUNCTION_LINES} are "
                                  "allowed: split it by meaning")
    lengths.sort()
    p90 = lengths[len(lengths) * 9 // 10]
    share = single / static
    if p90 > FUNCTION_LINES_P90:
        complaints.append(f"a tenth of the functions has more than {p90} lines, "
                          f"{FUNCTION_LINES_P90} are allowed")
    if share > SINGLE_CALLER_SHARE:
        complaints.append(f"{share:.1%} of the static functions have one caller, "
                          f"{SINGLE_CALLER_SHARE:.0%} are allowed: fold those back that exist "
                          "only to be short")
    print(f"{len(lengths)} functions: median {lengths[len(lengths) // 2]} lines, p90 {p90}, "
          f"max {lengths[-1]}; {share:.1%} of {static} static ones have one caller")
    print("".join(f"{complaint}\n" for complaint in complaints), end="", file=sys.stderr)
    return bool(complaints)


sys.exit(main())
