#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for karmada-policy-exporter, kubectl or karmadactl, as it is called, where commands of
runbooks are run: see runbook_pages.py.

The exporter gets what the story needs at its end. `kubectl exec … -- COMMAND` runs the command.
Else a verb or a flag that the tool does not have ends it with 2, and what is asked is not done.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

# The verbs and flags that runbooks may use, as the tools have them: kubectl 1.20 and later,
# karmadactl 1.11 and later (--operation-scope). A test holds them against a kubectl that is there.
COMMON = {"-n", "--namespace", "--kubeconfig", "--context"}
VERBS = {
    "kubectl": {
        "annotate": {"--overwrite"}, "api-resources": {"--api-group", "-o"}, "delete": set(),
        "describe": {"-l"}, "edit": set(), "exec": {"-i", "-c"},
        "get": {"-A", "-l", "-o", "--raw", "--field-selector", "--sort-by", "--show-labels",
                "--show-managed-fields"},
        "label": {"--overwrite"}, "logs": {"--previous", "--tail", "--since", "-l", "--prefix"},
        "port-forward": set(), "rollout": set(), "scale": {"--replicas"}, "patch": {"--type", "-p"},
        "top": set(), "auth": {"--as"},
    },
    "karmadactl": {
        "get": {"-C", "--clusters", "--operation-scope", "-o", "-A", "-l"},
        "describe": {"-C", "--cluster", "--operation-scope"},
        "logs": {"-C", "--cluster", "--tail"}, "taint": set(), "uncordon": set(),
        "annotate": {"--overwrite"}, "edit": set(), "interpret": {"-f"},
    },
}


def is_exporter(command):
    return bool(command) and os.path.basename(command[0]) == "karmada-policy-exporter"


def run_exporter(arguments):
    """Its exit status. Only the verbs that evaluate objects take where these are."""
    evaluates = arguments[:1] and arguments[0] in ("check", "explain", "plan", "reconcile")
    more = os.environ["STORY"].split("\n") if evaluates else []
    return subprocess.run([os.environ["PROGRAM"], *arguments, *filter(None, more)],
                          check=False).returncode


def complaint(tool, arguments):
    """What the tool would not understand; None if it understands."""
    rest = list(arguments)
    while any(one in COMMON for one in rest):  # Each of these has a value behind it.
        at = next(i for i, one in enumerate(rest) if one in COMMON)
        if not rest[at + 1:at + 2] or not rest[at + 1]:
            return f"{tool}: nothing behind {rest[at]}"
        del rest[at:at + 2]
    verb = rest[0] if rest else None
    if verb not in VERBS[tool]:
        return f"{tool} has no verb {verb}"
    for one in rest:
        flag = one.split("=")[0]
        if re.match(r"--?[a-zA-Z]", one) and flag not in VERBS[tool][verb]:
            return f"{tool} {verb} has no flag {flag}"
    if any(one == "" or "$" in one for one in arguments):
        return f"an argument of {tool} {verb} is empty: {arguments}"
    return None


def use(tool, arguments):
    """The exit status of calling the tool."""
    if tool == "karmada-policy-exporter":
        return run_exporter(arguments)
    end = arguments.index("--") if "--" in arguments else len(arguments)
    command = arguments[end + 1:]
    wrong = complaint(tool, arguments[:end])
    if not wrong and command and not is_exporter(command):
        wrong = f"the image has nothing but the exporter: {command}"
    if wrong:
        print(wrong, file=sys.stderr)
        return 2
    if arguments[:1] == ["get"] and arguments[2:] == ["-A", "-o", "json"]:
        print(json.dumps({"kind": "List", "items": list(objects(arguments[1]))}))
    return run_exporter(command[1:]) if command else 0


def objects(resource):
    """What the story's files have of a resource, written as kubectl takes it: resourcebindings."""
    for path in pathlib.Path(os.environ["STORY"].split("\n")[-1]).glob("*.json"):
        for item in json.loads(path.read_text())["items"]:
            if item["kind"].lower() + "s" == resource:
                yield item


def main():
    tool, arguments = os.path.basename(sys.argv[0]), sys.argv[1:]
    status = use(tool, arguments)
    with open(os.environ["CALLS"], "a", encoding="utf-8") as calls:
        calls.write(f"{status} {tool} {' '.join(arguments)}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
