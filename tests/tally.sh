# SPDX-License-Identifier: Apache-2.0
# Sourced by the runners. tally LABEL PASSED FAILED [SKIPPED] is a runner's last act: it prints the
# counts, adds them to the file TALLY where a larger run sums them, and fails if anything failed.

counts() {
    printf '%d passed, %d failed' "$1" "$2"
    [ "${3:-0}" -eq 0 ] || printf ', %d skipped' "$3"
    echo
}

tally() {
    if [ -n "${TALLY:-}" ]; then
        echo "$2 $3 ${4:-0}" >>"$TALLY"
        printf '%s: ' "$1"
    fi
    counts "$2" "$3" "${4:-0}"
    [ "$3" -eq 0 ]
}
