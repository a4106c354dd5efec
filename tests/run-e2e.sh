#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-e2e.sh TEST...: run each executable from the root with EXPORTER set to the program under
# test. Exit status 0 passes, 77 skips and the last line it printed says why, anything else fails.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh

passed=0 failed=0 skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for test in "$@"; do
    if [ ! -x "$test" ]; then
        echo 'not executable' >"$log"
        status=126
    else
        timeout --kill-after=10 "${TEST_TIMEOUT:-900}" "$test" >"$log" 2>&1 </dev/null
        status=$?
    fi
    case $status in
    0)
        echo "ok    $test"
        passed=$((passed + 1))
        ;;
    77)
        echo "skip  $test: $(tail -n 1 "$log")"
        skipped=$((skipped + 1))
        ;;
    *)
        cat "$log"
        echo "FAIL  $test: exit status $status"
        failed=$((failed + 1))
        ;;
    esac
done
tally e2e $passed $failed $skipped
