#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# No unfinished work and no path of one person's machine, in any file but test data, which stays as
# it was recorded.
set -uo pipefail
cd "$(dirname "$0")/../.."

if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
    list() { git ls-files -z --cached --others --exclude-standard; }
else
    list() { find . -name "build*" -prune -o -type f -printf '%P\0'; }
fi
files=()
while IFS= read -r -d '' file; do
    case $file in
    tests/fixtures/* | tests/stories/*/* | tests/fuzz/corpus/* | LICENSE | tests/gates/words.sh) ;;
    *) [ ! -f "$file" ] || files+=("$file") ;;
    esac
done < <(list)

bad=0
look_for() {
    if grep -nIE "$1" -- "${files[@]}"; then
        echo "words: $2"
        bad=1
    fi
}
look_for '\b(TODO|FIXME|XXX)\b' 'finish it, or open an issue'
look_for "(^|[[:space:]\"'\`=(:,<])/(home|root|Users|work|workspace)(/|\$)" \
    'a path of one machine: write it relative, or take it from the environment'
exit $bad
