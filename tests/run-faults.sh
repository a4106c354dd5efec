#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-faults.sh FOLLOW [NAME]: run the simulation, the command SIM, if that is set and not empty;
# then play the scenarios of tests/faults/server (those whose name holds NAME) against the program
# FOLLOW. Where the server cannot be built those are one skip. NAME sim is the simulation alone.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh

name=${2:-}
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0

# Adds what a program printed, which ended with status $1: 1 if something failed, else 0.
add_up() {
    local ok bad
    ok=$(grep -c '^ok  ' "$log")
    bad=$(grep -c '^FAIL ' "$log")
    # One that ended early or played nothing is a failure.
    [ "$1" -le 1 ] && [ $((ok + bad)) -gt 0 ] || bad=$((bad + 1))
    passed=$((passed + ok)) failed=$((failed + bad))
}

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
if [ -n "${SIM:-}" ] && { [ -z "$name" ] || [ "$name" = sim ]; }; then
    $SIM --jobs="${JOBS:-2}" </dev/null | tee "$log"
    add_up "${PIPESTATUS[0]}"
fi
if [ "$name" = sim ]; then
    tally faults "$passed" "$failed"
    exit
fi

server=$(tests/build-go.sh tests/faults/server 2> >(tee "$log" >&2))
status=$?
if [ "$status" = 77 ]; then
    echo "skip  faults: $(tail -n 1 "$log")"
    tally faults "$passed" "$failed" 1
    exit
elif [ "$status" != 0 ]; then
    tally faults "$passed" $((failed + 1))
    exit
fi
timeout --kill-after=10 "${TEST_TIMEOUT:-900}" "$server/faults" "$1" "$name" </dev/null |
    tee "$log"
add_up "${PIPESTATUS[0]}"
tally faults "$passed" "$failed"
