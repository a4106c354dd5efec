#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-conformance.sh PROGRAM [RULE [RELEASE]]: compare the rules with the answers of Karmada's
# functions, JOBS rules at a time. Each rule and release is one test.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh

program=$1
rules=${2:-affinity division filters schedule schedule-after-change dependency admission admission-features overrides}
release=${3:-}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

for rule in $rules; do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-2}" ]; do
        wait -n
    done
    timeout "${TEST_TIMEOUT:-300}" "$program" "$rule" $release >"$out/$rule.out" 2>"$out/$rule.err" \
        </dev/null || echo $? >"$out/$rule.failed" &
done
wait

passed=0 failed=0
for rule in $rules; do
    cat "$out/$rule.out" "$out/$rule.err"
    right=$(grep -c ' 0 wrong$' "$out/$rule.out")
    wrong=$(grep -c '[1-9][0-9]* wrong$' "$out/$rule.out")
    # A crash, a time-out or an unreadable file leaves lines out.
    if [ -e "$out/$rule.failed" ] && [ "$wrong" -eq 0 ]; then
        echo "FAIL  $rule: exit status $(cat "$out/$rule.failed")"
        wrong=1
    fi
    passed=$((passed + right))
    failed=$((failed + wrong))
done
tally conformance $passed $failed
