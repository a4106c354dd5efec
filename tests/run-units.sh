#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run-units.sh LABEL PROGRAM...: run cmocka programs from the root, JOBS at a time. One line for
# each that passes, all it printed for each that does not. A crash, a sanitizer's report, a
# time-out and a program that ran no test are failures.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh

label=$1
shift
if [ $# -eq 0 ]; then
    echo "no unit tests found in tests/unit"
    tally "unit $label" 0 1
    exit
fi

# There is a test of what happens without memory.
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:allocator_may_return_null=1
export UBSAN_OPTIONS=print_stacktrace=1
export TSAN_OPTIONS=halt_on_error=0:second_deadlock_stack=1:allocator_may_return_null=1
# The first call of a library's function through another library saves the vector registers on the
# stack, on some processors with a copy of a secret in them: test_secret would count it.
export LD_BIND_NOW=1
# The sanitizers' shadow memory can collide with a randomly placed one.
fixed=
if setarch -R true 2>/dev/null; then
    fixed='setarch -R'
fi

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# cmocka writes its lines to one stream and its summary to the other, so each is kept whole.
start() {
    $fixed timeout --kill-after=10 "${TEST_TIMEOUT:-600}" "$1" \
        >"$out/$2.out" 2>"$out/$2.err" </dev/null
    echo $? >"$out/$2.status"
}

# The numbers that follow or precede a mark in cmocka's summary, added up over the groups.
sum_of() {
    sed -n "s/$1/\1/p" "$2" | awk '{ n += $1 } END { print n + 0 }'
}

# Sets passed, failed, skipped and why from what the program `name` left in $out.
judge() {
    local status
    status=$(cat "$out/$1.status")
    passed=$(sum_of '^\[  PASSED  \] \([0-9]*\) test(s).*' "$out/$1.err")
    skipped=$(sum_of '^\[  SKIPPED \] \([0-9]*\) test(s).*' "$out/$1.err")
    failed=$(sum_of '^ *\([0-9]*\) FAILED TEST(S)$' "$out/$1.err")
    why=
    if [ "$status" = 124 ] || [ "$status" = 137 ]; then
        why="stopped after ${TEST_TIMEOUT:-600} s"
    elif ! grep -q '^\[  PASSED  \]' "$out/$1.err"; then
        why="ended early, exit status $status"
        passed=$(grep -c '^\[       OK \]' "$out/$1.out")
    elif grep -q 'GROUP \(SETUP\|TEARDOWN\)$' "$out/$1.err" "$out/$1.out"; then
        why='its group set-up failed'
    elif [ "$status" != 0 ] && [ "$failed" = 0 ]; then
        why="exit status $status after its tests"
    elif [ $((passed + failed + skipped)) = 0 ]; then
        why='it ran no test'
    fi
    if [ -n "$why" ]; then
        failed=$((failed + 1))
    fi
}

for program in "$@"; do
    while [ "$(jobs -rp | wc -l)" -ge "${JOBS:-2}" ]; do
        wait -n
    done
    start "$program" "${program##*/}" 2>/dev/null &
done
wait

all_passed=0 all_failed=0 all_skipped=0
for program in "$@"; do
    name=${program##*/}
    judge "$name"
    if [ "$failed" = 0 ]; then
        echo "ok    $name: $(counts "$passed" 0 "$skipped")"
    else
        cat "$out/$name.out" "$out/$name.err"
        echo "FAIL  $name: $(counts "$passed" "$failed" "$skipped")${why:+; $why}"
    fi
    all_passed=$((all_passed + passed))
    all_failed=$((all_failed + failed))
    all_skipped=$((all_skipped + skipped))
done
tally "unit $label" "$all_passed" "$all_failed" "$all_skipped"
