#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-faults.sh FOLLOW [NAME]: play the scenarios of tests/faults/server (those whose name holds
# NAME) against the program FOLLOW. Where the server cannot be built all of it is one skip.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh

log=$(mktemp)
trap 'rm -f "$log"' EXIT
server=$(tests/build-go.sh tests/faults/server 2> >(tee "$log" >&2))
status=$?
if [ "$status" = 77 ]; then
    echo "skip  faults: $(tail -n 1 "$log")"
    tally faults 0 0 1
    exit
elif [ "$status" != 0 ]; then
    tally faults 0 1
    exit
fi

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
timeout --kill-after=10 "${TEST_TIMEOUT:-900}" "$server/faults" "$1" "${2:-}" </dev/null |
    tee "$log"
status=${PIPESTATUS[0]}
passed=$(grep -c '^ok  ' "$log")
failed=$(grep -c '^FAIL ' "$log")
# A server that ended early or played no scenario is a failure.
[ "$status" -le 1 ] && [ $((passed + failed)) -gt 0 ] || failed=$((failed + 1))
tally faults "$passed" "$failed"
