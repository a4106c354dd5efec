#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# headers.sh FLAGS HEADER...: each header compiles with nothing included before it.
set -uo pipefail
cd "$(dirname "$0")/../.."

flags=$1
shift
bad=0
for header in "$@"; do
    for compiler in gcc clang; do
        if ! echo "#include \"$header\"" | $compiler $flags -x c -fsyntax-only -; then
            echo "$header: does not compile alone with $compiler"
            bad=1
        fi
    done
done
exit $bad
