#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""modules.py: check names and sizes of modules.

    name      the base name of a module, and the name of a struct, occur once in metrics/ and exporter/
    small     a module below 200 lines whose header has one user is part of that user
    folder    a folder has at most 30 .c files

A module is X.c with X.h. A user is another module that includes the header. modules.allow lists the
remaining exceptions; an entry that is no longer needed fails, so the list only becomes shorter.
Exempt from `small` are modules that a table lists (TABLES), that a fuzz target includes, and that
metrics/ offers to exporter/. With --shorten the entries that are no longer needed are removed.
"""
import collections
import fnmatch
import pathlib
import re
import sys

TREES = ("metrics", "exporter")
SMALL_LINES = 200
FOLDER_FILES = 30
ALLOW = pathlib.Path("tests/gates/modules.allow")
# The folder is replaced as a whole.
UNTOUCHED = "exporter/serve/alerting/*"
# Entries of tables: families, rules and kinds, pages and API endpoints, commands.
TABLES = ("metrics/expose/collect_*", "metrics/rules/rule_*",
          "exporter/web/api_*", "exporter/web/page_*", "exporter/web/*_page", "exporter/cli/cmd_*")
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
        if fits(module, [UNTOUCHED]):
            continue
        files[module.name].add(module)
        for text in texts.values():
            for name in STRUCT.findall(text):
                structs[name].add(module)
    for kind, found in (("file", files), ("struct", structs)):
        for name, places in found.items():
            if len(places) > 1:
                where = ", ".join(sorted(map(str, places)))
                yield f"{kind} {name}", f"{kind} {name} occurs in {where}: name one after its subject"


def small_modules(modules):
    users = users_of(modules)
    fuzzed = {name for path in pathlib.Path("tests/fuzz").glob("*.c")
              for name in INCLUDE.findall(path.read_text())}
    for module, texts in modules.items():
        lines = sum(text.count("\n") for text in texts.values())
        if lines >= SMALL_LINES or ".h" not in texts or len(users[module]) != 1:
            continue
        user = next(iter(users[module]))
        if fits(module, [UNTOUCHED, *TABLES]) or f"{module}.h" in fuzzed:
            continue
        if module.parts[0] == "metrics" and user.parts[0] == "exporter":
            continue
        yield (f"small {module}", f"{module} has {lines} lines, and only {user} includes its header: "
               "make it part of that file")


def full_folders(modules):
    files = collections.Counter(module.parent for module, texts in modules.items() if ".c" in texts)
    for folder, count in files.items():
        if count > FOLDER_FILES:
            yield (f"folder {folder}", f"{folder} has {count} .c files, the limit is {FOLDER_FILES}: "
                   "merge files, or make a folder for one subject")


def main():
    modules = read_modules()
    found = dict(entry for check in (names_used_twice, small_modules, full_folders)
                 for entry in check(modules))
    allowed = set(ALLOW.read_text().splitlines())
    if "--shorten" in sys.argv[1:]:
        allowed &= set(found)
        ALLOW.write_text("".join(f"{key}\n" for key in sorted(allowed)))
    for key, complaint in sorted(found.items()):
        if key not in allowed:
            print(complaint, file=sys.stderr)
    for key in sorted(allowed - set(found)):
        print(f"{ALLOW}: `{key}` is no longer needed: delete the line", file=sys.stderr)
    print(f"{len(modules)} modules, {len(allowed)} exceptions left")
    return allowed != set(found)


sys.exit(main())
