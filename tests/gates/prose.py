#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""prose.py [--show N] [PATH...]: count comments that hide their subject.

Prints, for the C comments below each PATH, the share that begins with a pronoun or "Of", and the
share that contains who-words; for Markdown, such words per 1,000. --show N lists N of each kind.
Without PATH: COUNTED. Fails if a limit is missed. The files in UNFINISHED are counted on their own, and
cannot fail; a folder is counted without them.
"""
import argparse
import pathlib
import random
import re
import sys

COUNTED = (*(str(path) for tree in ("metrics", "exporter")
             for path in sorted(pathlib.Path(tree).iterdir()) if path.is_dir()),
           "exporter/evaluation.h", "exporter/evaluation.c", "exporter/main.c", "tests",
           "alerts", "dashboards", "README.md", "SECURITY.md", "CONTRIBUTING.md")
UNFINISHED = ()
SKIPPED = {"fixtures", "build", "node_modules"}

COMMENT = re.compile(r"/\*.*?\*/", re.S)
BEGIN = {"Of", "That", "What", "Who", "Whose", "Whoever", "Whatever", "None", "It", "Its", "They",
         "There", "Those", "Neither", "Nobody", "Where", "As", "So"}
PEOPLE = re.compile(r"\b(who|whom|whose|whoever|whatever|nobody|none)\b", re.I)
LIMITS_PERCENT = {"begin with a pronoun": 2.0, "contain who-words": 1.5}
WORDS = {"what": (re.compile(r"\bwhat\b", re.I), 1.5),
         "nobody, none, neither, nothing":
             (re.compile(r"\b(nobody|none|neither|nothing)\b", re.I), 0.5),
         "who, whose, whom, whoever": (re.compile(r"\b(who|whose|whom|whoever)\b", re.I), 0.5)}


def files(path, endings):
    path = pathlib.Path(path)
    found = [path] if path.is_file() else sorted(path.rglob("*"))
    return [p for p in found if p.suffix in endings and p.is_file() and not SKIPPED & set(p.parts)]


def comments(path):
    """Yields the file, the line and the text of each comment below `path`."""
    for source in files(path, {".c", ".h"}):
        text = source.read_text(errors="replace")
        for match in COMMENT.finditer(text):
            body = re.sub(r"\s*\n\s*\*?\s*", " ", match.group()[2:-2]).strip(" *-=")
            if len(body) >= 8 and "SPDX" not in body:
                yield source, text.count("\n", 0, match.start()) + 1, body


def counted_comments(path, show):
    """Prints both shares below `path`; true if a limit is missed."""
    everything = list(comments(path))
    bad = {"begin with a pronoun": [c for c in everything if re.split(r"[\s,]+", c[2])[0] in BEGIN],
           "contain who-words": [c for c in everything if PEOPLE.search(c[2])]}
    missed, parts = False, []
    for kind, limit in LIMITS_PERCENT.items():
        share = 100 * len(bad[kind]) / max(1, len(everything))
        missed |= share > limit
        parts.append(f"{len(bad[kind])} {kind} ({share:.1f} % of {limit} %)")
    if everything:
        print(f"{path}: of {len(everything)} comments {', '.join(parts)}")
    for kind, found in bad.items():
        for source, line, body in random.sample(found, min(show, len(found))):
            print(f"  {source}:{line}: {body[:150]}")
    return missed


def counted_words(path):
    """Prints the words per 1,000 in the Markdown below `path`; true if a limit is missed."""
    text = "\n".join(re.sub(r"```.*?```", "", source.read_text(), flags=re.S)
                     for source in files(path, {".md"}) if source.name != "CHANGELOG.md"
                     and (str(source) == path or str(source) not in UNFINISHED))
    words = len(re.findall(r"[A-Za-z']+", text))
    missed = False
    for name, (pattern, limit) in WORDS.items() if words else ():
        rate = 1000 * len(pattern.findall(text)) / words
        missed |= rate > limit
        print(f"{path}: {rate:.2f} {name} per 1,000 of {words} words (limit {limit})")
    return missed


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("paths", nargs="*")
    parser.add_argument("--show", type=int, default=0)
    args = parser.parse_args()
    bad = False
    for path in args.paths or (*COUNTED, *UNFINISHED):
        missed = counted_comments(path, args.show)
        missed |= counted_words(path) and path not in UNFINISHED
        if missed:
            print(f"{path}: too many: name the subject of each sentence", file=sys.stderr)
            bad = True
    return bad


if __name__ == "__main__":
    sys.exit(main())
