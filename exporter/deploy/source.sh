#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# source.sh: print the version of these sources, and if it is known the commit that they are and its
# time in seconds since 1970: of a clone git says it, in an archive of it git wrote it into `commit`.
set -euo pipefail
cd "$(dirname "$0")"

version=$(sed -n 's/^#define EXPORTER_VERSION *"\(.*\)"/\1/p' ../version.h)
if git ls-files --error-unmatch source.sh >/dev/null 2>&1; then
    commit=$(git log -1 --format='%H %ct')
else
    commit=$(grep -E '^[0-9a-f]{40,64} [0-9]+$' commit || true)
fi
echo "$version" $commit
