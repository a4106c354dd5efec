#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# check.sh: check PATHS, annotate the lines of the pull request, append a report to the job summary, and write
# results.sarif and report.md to OUTPUT. The exit status is that of check. Lists have one item a line.
set -euo pipefail
name=karmada-policy-exporter

fail() {
    echo "::error title=$name::$*"
    exit 2
}

# Appends the lines of a text to an array, each with a prefix, without empty lines and surrounding blanks.
append() {
    local -n array=$1
    local line
    while read -r line; do
        [ -z "$line" ] || array+=("$2$line")
    done <<<"${3//$'\r'/}"
}

# Prints the commit of the target branch that GitHub has merged the pull request with. The usual checkout lacks it.
target_commit() {
    git rev-parse --verify --quiet "$GITHUB_SHA^1" || {
        git fetch --quiet --no-tags --depth=2 origin "$GITHUB_SHA"
        git rev-parse --verify --quiet "$GITHUB_SHA^1"
    }
}

flags=() manifests=()
append manifests '' "$PATHS"
append flags --exceptions= "$EXCEPTIONS"
append flags --environment= "$ENVIRONMENTS"
append flags '' "$ARGUMENTS"
[ ${#manifests[@]} -gt 0 ] || fail 'the input paths is empty'
case $FAIL_ON in
'') ;;
none) flags+=(--fail-on=) ;;
*) flags+=("--fail-on=$FAIL_ON") ;;
esac
case $BASELINE in
'') ;;
target)
    if [ "${GITHUB_EVENT_NAME:-}" = pull_request ]; then
        commit=$(target_commit) || fail 'the target branch cannot be fetched: check out the repository, with its credentials, before this action'
        flags+=("--baseline=git:$commit")
    else
        echo "::notice title=$name::The baseline \"target\" exists in pull requests only, so every problem counts here."
    fi
    ;;
*) flags+=("--baseline=$BASELINE") ;;
esac

folder=${OUTPUT:-${RUNNER_TEMP:-/tmp}/karmada-policy}
case $folder in *$'\n'*) fail 'the input output has several lines' ;; esac
mkdir -p -- "$folder"

status=0
rm -f -- "$folder/results.sarif" "$folder/report.md"
"$name" check "${flags[@]}" --output github --report "sarif=$folder/results.sarif" --report "markdown=$folder/report.md" \
    -- "${manifests[@]}" || status=$?
echo "status=$status" >>"$GITHUB_OUTPUT"
# A wrong flag ends check without reports.
if [ -e "$folder/report.md" ]; then
    printf '%s\n' "sarif=$folder/results.sarif" "markdown=$folder/report.md" >>"$GITHUB_OUTPUT"
    cat -- "$folder/report.md" >>"$GITHUB_STEP_SUMMARY"
fi
exit "$status"
