#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-fuzz.sh TARGET...: with FUZZ_SECONDS=0 feed each libFuzzer program the empty input and its
# corpus in tests/fuzz/corpus/<name>, once; else fuzz from there for that long. What fuzzing finds
# goes to BUILD/fuzz/<name>, never into the tree. Each target is one test.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh

export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
seconds=${FUZZ_SECONDS:-0}
passed=0 failed=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for program in "$@"; do
    name=${program##*/fuzz_}
    corpus=tests/fuzz/corpus/$name
    found=${BUILD:-build}/fuzz/$name
    mkdir -p "$found"
    if [ "$seconds" -gt 0 ]; then
        budget=-max_total_time=$seconds
        folders=$found
    else
        budget=-runs=0
        folders=
    fi
    [ ! -d "$corpus" ] || folders="$folders $corpus"
    [ ! -f "tests/fuzz/$name.dict" ] || budget="$budget -dict=tests/fuzz/$name.dict"
    if "$program" $budget -timeout=20 -artifact_prefix="$found/" $folders >"$log" 2>&1 </dev/null
    then
        echo "ok    fuzz_$name: $(find "$corpus" -type f 2>/dev/null | wc -l) inputs in the corpus," \
            "$(grep -o 'DONE.*' "$log" | tail -n 1)"
        passed=$((passed + 1))
    else
        cat "$log"
        echo "FAIL  fuzz_$name: the input that did it is in $found"
        failed=$((failed + 1))
    fi
done
tally fuzz $passed $failed
