#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# layers.sh OBJECT...: dependencies point one way, and metrics/ touches nothing of the world.
#
#   exporter -> metrics, and inside metrics: explain -> expose -> simulate -> rules -> model -> base
#   metrics calls only itself and what layers.allow lists                        (symbols)
#   no variable but const tables lives outside a function, anywhere              (sections)
set -uo pipefail
cd "$(dirname "$0")/../.."

allow=tests/gates/layers.allow
bad=0
complain() {
    sed "s|^|$1: |"
    bad=1
}

includes=$(find metrics -name '*.[ch]' -exec grep -Hno '^ *# *include *"[^"]*"' {} + | sort)
wrong=$(awk -F'["]' '
    BEGIN { rank["base"] = 1; rank["model"] = 2; rank["rules"] = 3
            rank["simulate"] = 4; rank["expose"] = 5; rank["explain"] = 6 }
    {
        split($1, place, ":"); split(place[1], from, "/"); split($2, to, "/")
        where = place[1] ":" place[2] ": includes \"" $2 "\""
        if (to[1] != "metrics")
            print where ", which is not in metrics/"
        else if (!(from[2] in rank) || !(to[2] in rank))
            print where ", and one of the two is in no layer"
        else if (rank[to[2]] > rank[from[2]])
            print where ", a layer above its own"
    }' <<<"$includes")
[ -z "$wrong" ] || complain include <<<"$wrong"

pure=() all=("$@")
for object in "$@"; do
    case $object in */metrics/*) pure+=("$object") ;; esac
done

if [ ${#pure[@]} -gt 0 ]; then
    allowed=$(sed 's/ *#.*//; /^$/d' $allow)
    own=$(nm --defined-only -g "${pure[@]}" | awk 'NF == 3 { print $3 }')
    wrong=$(nm -A -u "${pure[@]}" | awk '{ sub(/:.*/, "", $1); print $NF, $1 }' | sort -u |
        awk -v allowed="$allowed" -v own="$own" '
            BEGIN {
                count = split(allowed, pattern, "\n")
                split(own, name, "\n"); for (i in name) mine[name[i]]
            }
            {
                ok = $1 in mine
                for (i = 1; i <= count && !ok; i++)
                    ok = $1 ~ ("^(" pattern[i] ")$")
                if (!ok)
                    print $2 ": calls " $1 ", which tests/gates/layers.allow does not list"
            }')
    [ -z "$wrong" ] || complain impure <<<"$wrong"
fi

if [ ${#all[@]} -gt 0 ]; then
    wrong=$(nm -A -f sysv "${all[@]}" | tr -d ' ' | awk -F'|' '
        $7 ~ /^(\.data|\.bss|\.tdata|\.tbss|\*COM\*)/ && $7 !~ /^\.data\.rel\.ro/ {
            split($1, place, ":")
            if (place[2] != "strbuf_empty" && place[2] !~ /^__gcov/)
                print place[1] ": " place[2] " is a variable outside any function"
        }')
    [ -z "$wrong" ] || complain global <<<"$wrong"
fi
exit $bad
