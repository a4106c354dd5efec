#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""sentences.py [--all] [PATH...]: print the texts that users see, for a review as a whole.

Without PATH: the texts of the program (string literals of metrics and exporter with at least three
words), of the alerts and of the boards. Each line has file, line and text; a value that the program
inserts is "%". Fails if too many texts use words that hide their subject; prints those texts.
"""
import argparse
import pathlib
import re
import sys

from prose import BEGIN, PEOPLE

SOURCES = ("metrics", "exporter", "alerts/source", "dashboards/source")
# Not texts for people: the style sheet, PromQL and templates of alerts that are matched only.
SKIPPED = {"exporter/web/page_style.c"}
WORDS_MIN = 3
LIMITS_PERCENT = {"begin with a pronoun": 2.0, "contain who-words": 1.5, "contain 'what'": 1.5}

TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)
LIBSONNET = re.compile(r"/\*.*?\*/|//[^\n]*|\|\|\|\n(.*?)\|\|\||'((?:[^'\\\n]|\\.)*)'|\"((?:[^\"\\\n]|\\.)*)\"", re.S)
CONVERSION = re.compile(r"%[-+#0]*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|h|ll|l|z|j|t)?[a-zA-Z]")
MACRO = re.compile(r"\s*(?:PRI[a-z]+\d*|[A-Z][A-Z0-9_]*(?:\([^()]*\))?)?\s*")
WORD = re.compile(r"[A-Za-z][A-Za-z'-]+")


def literals_of_c(text):
    """Yields the position and the joined text of each group of adjacent string literals."""
    group, start, end = [], 0, 0
    for match in TOKEN.finditer(text):
        token = match.group()
        if token[0] != '"':
            continue
        between = text[end:match.start()]
        if group and not MACRO.fullmatch(re.sub(r"/\*.*?\*/|\\\n", " ", between)):
            yield start, "".join(group)
            group = []
        if not group:
            start = match.start()
        elif between.strip(" \\\n\t"):
            group.append("%")
        group.append(token[1:-1])
        end = match.end()
    if group:
        yield start, "".join(group)


def literals_of_libsonnet(text):
    for match in LIBSONNET.finditer(text):
        found = next((group for group in match.groups() if group is not None), None)
        if found is not None:
            yield match.start(), found


def plain(text):
    """Returns a literal as a user reads it: without escapes, tags and conversions."""
    text = re.sub(r"\\x[0-9A-Fa-f]{2}", "", text)
    text = text.replace("\\n", " ").replace('\\"', '"').replace("\\\\", "\\")
    text = re.sub(r"<[^<>]*>", " ", text)
    return re.sub(r"\s+", " ", CONVERSION.sub("%", text)).strip()


def is_text(path, text):
    words = WORD.findall(text)
    if len(words) < WORDS_MIN or "#include" in text:
        return False
    if path.suffix == ".libsonnet" and re.search(r"[{}()=]|_total|karmada_", text):
        return bool(re.search(r"[a-z] [a-z]+ [a-z]", re.sub(r"\{\{.*?\}\}", "", text))) and \
            not re.search(r"\b(sum|max|min|count|by|unless|offset) ?\(", text)
    # JSON, YAML and lists of identifiers are no sentences.
    return len(re.findall(r"[a-z] [a-zA-Z%]", text)) >= WORDS_MIN - 1 and not text.startswith(("{", "- "))


def sentences(paths):
    for name in paths:
        root = pathlib.Path(name)
        for path in [root] if root.is_file() else sorted(root.rglob("*")):
            if str(path) in SKIPPED or path.suffix not in {".c", ".h", ".libsonnet"}:
                continue
            text = path.read_text()
            read = literals_of_libsonnet if path.suffix == ".libsonnet" else literals_of_c
            for at, literal in read(text):
                shown = plain(literal)
                if is_text(path, shown):
                    yield path, text.count("\n", 0, at) + 1, shown


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--quiet", action="store_true", help="print only texts that hide their subject")
    args = parser.parse_args()
    found = list(sentences(args.paths or SOURCES))
    bad = {"begin with a pronoun": [s for s in found if re.split(r"[\s,:]+", s[2])[0] in BEGIN | {"it"}],
           "contain who-words": [s for s in found if PEOPLE.search(s[2])],
           "contain 'what'": [s for s in found if re.search(r"\bwhat\b", s[2], re.I)]}
    missed = False
    for path, line, text in () if args.quiet else found:
        print(f"{path}:{line}: {text}")
    for kind, limit in LIMITS_PERCENT.items():
        share = 100 * len(bad[kind]) / max(1, len(found))
        missed |= share > limit
        for path, line, text in bad[kind]:
            print(f"{path}:{line}: {kind}: {text}", file=sys.stderr)
        print(f"of {len(found)} texts {len(bad[kind])} {kind} ({share:.1f} % of {limit} %)",
              file=sys.stderr)
    if missed:
        print("too many texts hide their subject: name it", file=sys.stderr)
    return missed


sys.exit(main())
