#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stands in for kubectl where commands of runbooks run: see runbook_pages.py.

`kubectl exec … -- /karmada-policy-exporter` runs the exporter's program. Other calls do nothing. A
verb or a flag that kubectl does not have makes the exit status 2.
"""
import os
import re
import subprocess
import sys

# Verbs and flags that runbooks may use, as kubectl 1.20 and later has them. A test compares them
# with a real kubectl. Each of the common flags has a value.
COMMON = {"-n", "--context"}
VERBS = {
    "annotate": {"--overwrite"}, "describe": {"-l"}, "edit": set(), "exec": set(),
    "get": {"-A", "-l", "-o", "--field-selector", "--show-labels", "--show-managed-fields"},
    "logs": {"--previous", "--tail", "--since"}, "port-forward": set(), "rollout": set(),
}


def fault_of(arguments):
    """The reason for which kubectl refuses the arguments; None if it accepts them."""
    rest = list(arguments)
    while any(one in COMMON for one in rest):
        at = next(i for i, one in enumerate(rest) if one in COMMON)
        if not rest[at + 1:at + 2] or not rest[at + 1]:
            return f"{rest[at]} has no value"
        del rest[at:at + 2]
    verb = rest[0] if rest else None
    if verb not in VERBS:
        return f"there is no verb {verb}"
    for one in rest:
        flag = one.split("=")[0]
        if re.match(r"--?[a-zA-Z]", one) and flag not in VERBS[verb]:
            return f"{verb} has no flag {flag}"
    if any(one == "" or "$" in one for one in arguments):
        return f"an argument of {verb} is empty: {arguments}"
    return None


def run(arguments):
    """Returns the exit status."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    command = arguments[end + 1:]
    fault = fault_of(arguments[:end])
    if not fault and command and os.path.basename(command[0]) != "karmada-policy-exporter":
        fault = f"the image has no {command[0]}"
    if fault:
        print(f"kubectl: {fault}", file=sys.stderr)
        return 2
    if not command:
        return 0
    return subprocess.run([os.environ["PROGRAM"], *command[1:]], check=False).returncode


def main():
    status = run(sys.argv[1:])
    with open(os.environ["CALLS"], "a", encoding="utf-8") as calls:
        calls.write(f"{status} kubectl {' '.join(sys.argv[1:])}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
