#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# cover.sh DIR SOURCE...: the line coverage that the run of the cover variant in DIR left behind.
set -euo pipefail
cd "$(dirname "$0")/.."

dir=$1
shift
for source in "$@"; do
    object=$dir/${source%.c}.o
    [ ! -e "${object%.o}.gcda" ] || gcov -n -o "$object" "$source" 2>/dev/null
done | awk -F"[':% ]+" '
    /^File/ { file = $2 }
    /^Lines executed/ && file ~ /^(metrics|exporter)\/.*\.c$/ {
        printf "%6.1f%%  %5d lines  %s\n", $3, $5, file
        all += $5; hit += $5 * $3 / 100; file = ""
    }
    END { if (all) printf "%6.1f%%  %5d lines  in all\n", 100 * hit / all, all }'
