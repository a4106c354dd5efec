#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh: put release VERSION into the PATH of the later steps. A program of this version in PATH is used; else the
# archive is downloaded from RELEASES and compared with its checksum.
set -euo pipefail
name=karmada-policy-exporter

fail() {
    echo "::error title=$name::$*"
    exit 2
}

[[ $VERSION =~ ^[0-9][0-9A-Za-z.+-]*$ ]] || fail 'the input version is not a version such as 0.1.0'
[ "${RUNNER_OS:-Linux}" = Linux ] || fail 'releases exist for Linux only: use a Linux runner'
if present=$("$name" version 2>/dev/null | sed -n "s/^$name, version \([^ ]*\).*/\1/p") && [ "$present" = "$VERSION" ]; then
    echo "Using $name $VERSION of PATH."
    exit
fi

case $(uname -m) in
x86_64) archive=$name-$VERSION-linux-amd64 ;;
aarch64) archive=$name-$VERSION-linux-arm64 ;;
*) fail "there is no release for $(uname -m)" ;;
esac
folder=$(mktemp -d "${RUNNER_TEMP:-/tmp}/$name.XXXXXX")
cd "$folder"
curl -fsSL --retry 3 --remote-name-all "$RELEASES/v$VERSION/$archive.tar.gz" "$RELEASES/v$VERSION/SHA256SUMS" ||
    fail "version $VERSION cannot be downloaded${present:+, and the program in PATH has version $present}"
sha256sum --check --ignore-missing SHA256SUMS || fail "the checksum of $archive.tar.gz differs from SHA256SUMS"
tar -xzf "$archive.tar.gz"
echo "$folder/$archive" >>"$GITHUB_PATH"
