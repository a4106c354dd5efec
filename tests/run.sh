#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh gates|all: every gate, or set-up, gates and tests. A step that fails does not keep the
# others from running. The last line is `N passed, N failed`, with `, N skipped` where some were.
set -uo pipefail
cd "$(dirname "$0")/.."
. tests/tally.sh
exec </dev/null
# Each step starts a make of its own: the caller's flags are not for it, and ONLY would hide tests.
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES ONLY

TALLY=$(mktemp)
trap 'rm -f "$TALLY"' EXIT
run_make() {
    TALLY='' "${MAKE:-make}" -s -j"${JOBS:-2}" "$@"
}

# A gate is one test.
gate() {
    local begun_s=$SECONDS
    if run_make "$@"; then
        echo "ok    $* ($((SECONDS - begun_s)) s)"
        echo '1 0 0' >>"$TALLY"
    else
        echo "FAIL  $* ($((SECONDS - begun_s)) s)"
        echo '0 1 0' >>"$TALLY"
    fi
}

# A suite adds its own counts to TALLY. One that fails without a failure among them did not build.
suite() {
    local before after begun_s=$SECONDS
    echo "== $*"
    before=$(awk '{ n += $2 } END { print n + 0 }' "$TALLY")
    if ! TALLY=$TALLY "${MAKE:-make}" -s -j"${JOBS:-2}" "$@"; then
        after=$(awk '{ n += $2 } END { print n + 0 }' "$TALLY")
        [ "$after" -gt "$before" ] || echo '0 1 0' >>"$TALLY"
        echo "FAIL  $*"
    fi
    echo "      $((SECONDS - begun_s)) s"
}

gates() {
    gate all VARIANT=plain CC=gcc
    gate all VARIANT=plain CC=clang
    local name
    for name in format tidy layers headers sizes modules comments prose words; do
        gate "$name" VARIANT=plain CC=gcc
    done
}

suites() {
    suite unit VARIANT=plain CC=gcc
    suite unit VARIANT=asan CC=gcc
    suite unit VARIANT=tsan CC=gcc
    suite fuzz-replay
    # The unit tests have played the first seeds.
    suite faults VARIANT=asan CC=gcc SIM_SEEDS=501-750
    suite conformance VARIANT=plain CC=gcc
    suite e2e VARIANT=plain CC=gcc
}

case ${1:-} in
gates) gates ;;
all)
    if tests/setup.sh test; then
        gates
        suites
    else
        echo '0 1 0' >>"$TALLY"
    fi
    ;;
*)
    echo 'usage: run.sh gates|all' >&2
    exit 2
    ;;
esac

read -r passed failed skipped < <(awk '{ p += $1; f += $2; s += $3 }
    END { print p + 0, f + 0, s + 0 }' "$TALLY")
counts "$passed" "$failed" "$skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
