#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dist.sh: write the sources of the commit that is checked out to BUILD as a tar archive, the same
# bytes wherever and whenever: names in git's order, owner root, the commit's time, none in gzip's header.
set -euo pipefail
cd "$(dirname "$0")/../.."

read -r version _ < <(exporter/deploy/source.sh)
name=karmada-policy-exporter-$version
archive=${BUILD:-build}/$name.tar.gz

git diff --quiet HEAD -- || echo 'dist: what is not committed is not in the archive' >&2
mkdir -p "$(dirname "$archive")"
git -c tar.umask=0022 archive --format=tar --prefix="$name/" HEAD | gzip -9n >"$archive"
sha256sum "$archive"
