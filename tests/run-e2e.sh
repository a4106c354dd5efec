#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-e2e.sh TEST...: run each executable from the root with EXPORTER set to the program under
# test, JOBS and one more at a time, for they wait more than they work. Exit status 0 passes, 77
# skips and the last line it printed says why, anything else fails.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh

passed=0 failed=0 skipped=0
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# What it printed, then its exit status, are in files of its number.
start() {
    if [ -x "$1" ]; then
        timeout --kill-after=10 "${TEST_TIMEOUT:-900}" "$1" >"$out/$2.log" 2>&1 </dev/null
    else
        echo 'not executable' >"$out/$2.log"
        false
    fi
    echo $? $SECONDS >"$out/$2.end"
    mv "$out/$2.end" "$out/$2.ended"
}

report() {
    local test=$1 number=$2 status ended_s
    read -r status ended_s <"$out/$number.ended"
    case $status in
    0)
        echo "ok    $test ($((ended_s - begun_s[number])) s)"
        passed=$((passed + 1))
        ;;
    77)
        echo "skip  $test: $(tail -n 1 "$out/$number.log")"
        skipped=$((skipped + 1))
        ;;
    *)
        cat "$out/$number.log"
        echo "FAIL  $test: exit status $status"
        failed=$((failed + 1))
        ;;
    esac
}

# Tell of those that have ended since.
report_ended() {
    local number
    for number in "${!begun_s[@]}"; do
        if [ -e "$out/$number.ended" ]; then
            report "${tests[number]}" "$number"
            unset "begun_s[$number]"
        fi
    done
}

tests=("$@")
declare -a begun_s
for number in "${!tests[@]}"; do
    while [ "$(jobs -rp | wc -l)" -gt "${JOBS:-2}" ]; do
        wait -n
        report_ended
    done
    begun_s[$number]=$SECONDS
    start "${tests[number]}" "$number" &
done
wait
report_ended
tally e2e $passed $failed $skipped
