#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modules.py: check names and sizes of modules.

    name      the base name of a module, and the name of a struct, occur once in metrics/ and exporter/
    small     a module below 200 lines whose header has one user is part of that user
    folder    a folder has at most 30 .c files
    test      a module X of metrics/ has a unit test test_X, or a row in tests/unit/INDEX.md

A module is X.c with X.h. A user is another module that includes the header. Exempt from `small` are
modules that a table lists (TABLES), that a fuzz target includes, and that metrics/ offers to exporter/.
"""
import collections
import fnmatch
import pathlib
import re
import sys

TREES = ("metrics", "exporter")
SMALL_LINES = 200
FOLDER_FILES = 30
UNIT = pathlib.Path("tests/unit")
INDEX_ROW = re.compile(r"^\| (\w+/\w+) \| (.*) \|$", re.M)
# Entries of tables: families, rules and kinds, pages and API endpoints, commands.
TABLES = ("metrics/expose/collect_*", "metrics/expose/exporter_families", "metrics/rules/rule_*",
          "exporter/web/api_*", "exporter/web/page_*", "exporter/cli/cmd_*")
INCLUDE = re.compile(r'^ *# *include *"([^"]+)"', re.M)
STRUCT = re.compile(r"^(?:typedef )?(?:struct|union) (\w+) \{", re.M)


def fits(module, patterns):
    return any(fnmatch.fnmatch(str(module), pattern) for pattern in patterns)


def read_modules():
    """Returns the texts of the files of each module."""
    modules = collections.defaultdict(dict)
    for tree in TREES:
        for path in sorted(pathlib.Path(tree).rglob("*.[ch]")):
            modules[path.with_suffix("")][path.suffix] = path.read_text()
    return modules


def users_of(modules):
    """Returns the modules that include the header of each module."""
    users = collections.defaultdict(set)
    for module, texts in modules.items():
        for text in texts.values():
            for name in INCLUDE.findall(text):
                to = pathlib.Path(name).with_suffix("")
                if to != module:
                    users[to].add(module)
    return users


def names_used_twice(modules):
    files, structs = collections.defaultdict(set), collections.defaultdict(set)
    for module, texts in modules.items():
        files[module.name].add(module)
        for text in texts.values():
            for name in STRUCT.findall(text):
                structs[name].add(module)
    for kind, found in (("file", files), ("struct", structs)):
        for name, places in found.items():
            if len(places) > 1:
                where = ", ".join(sorted(map(str, places)))
                yield f"{kind} {name} occurs in {where}: name one after its subject"


def small_modules(modules):
    users = users_of(modules)
    fuzzed = {name for path in pathlib.Path("tests/fuzz").glob("*.c")
              for name in INCLUDE.findall(path.read_text())}
    for module, texts in modules.items():
        lines = sum(text.count("\n") for text in texts.values())
        if lines >= SMALL_LINES or ".h" not in texts or len(users[module]) != 1:
            continue
        user = next(iter(users[module]))
        if fits(module, TABLES) or f"{module}.h" in fuzzed:
            continue
        if module.parts[0] == "metrics" and user.parts[0] == "exporter":
            continue
        yield (f"{module} has {lines} lines, and only {user} includes its header: "
               "make it part of that file")


def full_folders(modules):
    files = collections.Counter(module.parent for module, texts in modules.items() if ".c" in texts)
    for folder, count in files.items():
        if count > FOLDER_FILES:
            yield (f"{folder} has {count} .c files, the limit is {FOLDER_FILES}: "
                   "merge files, or make a folder for one subject")


def untested_modules(modules):
    rows = dict(INDEX_ROW.findall((UNIT / "INDEX.md").read_text()))
    for module, texts in modules.items():
        if module.parts[0] != "metrics" or ".c" not in texts:
            continue
        name = f"{module.parent.name}/{module.name}"
        indexed = name in rows
        missing = [test for test in rows.pop(name, "").split(", ")
                   if indexed and not (UNIT / f"{test}.c").exists()]
        if not indexed and not (UNIT / module.parent.name / f"test_{module.name}.c").exists():
            yield f"{module}.c has no test_{module.name}.c, and no row in INDEX.md"
        for test in missing:
            yield f"{UNIT}/INDEX.md: {name}: {test}.c does not exist"
    for name in rows:
        yield f"{UNIT}/INDEX.md: metrics/{name}.c does not exist"


def main():
    modules = read_modules()
    complaints = [*names_used_twice(modules), *small_modules(modules), *full_folders(modules),
                  *untested_modules(modules)]
    for complaint in sorted(complaints):
        print(complaint, file=sys.stderr)
    print(f"{len(modules)} modules")
    return len(complaints) > 0


sys.exit(main())
