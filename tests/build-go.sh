#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build-go.sh FOLDER: build the Go programs of FOLDER, or the tools that its go.mod names, and print
# the folder that they are in. It is in the user's cache, under the hash of their sources, so that they
# are built once. Where Go or the modules are missing, the reason goes to standard error and the exit
# status is 77.
set -euo pipefail
cd "$(dirname "$0")/.."
# setup.sh unpacks Go if the installed one is too old.
PATH=$(realpath -m "${BUILD:-build}")/tools/go/bin:$PATH
cd "$1"

cache=${XDG_CACHE_HOME:-$HOME/.cache}/karmada-policy-exporter
hash=$(find . -name '*.go' -o -name 'go.*' | LC_ALL=C sort | xargs sha256sum | sha256sum)
built=$cache/$(basename "$1")-${hash:0:16}

skip() {
    echo "$*" >&2
    exit 77
}

if [ ! -d "$built" ]; then
    command -v go >/dev/null || skip "Go is missing: what is in $1 cannot be built"
    # Use the Go that is installed; do not let it download another one.
    export GOTOOLCHAIN=local
    wanted=$(awk '$1 == "go" { print $2 }' go.mod)
    has=$(go env GOVERSION) && has=${has#go}
    [ "$(printf '%s\n' "$wanted" "$has" | sort -V | head -n 1)" = "$wanted" ] ||
        skip "$1 needs Go $wanted, and this is $has"

    # A folder without sources of its own names the tools that it is there for in go.mod.
    packages=./...
    ! grep -q '^tool' go.mod || packages=tool

    mkdir -p "$cache"
    exec 9>"$cache/lock"
    flock 9
    if [ ! -d "$built" ]; then
        echo "building $1 into $built: once, and it may take minutes" >&2
        said=$(go list -deps "$packages" 2>&1 >/dev/null) ||
            skip "the Go modules of $1 cannot be had: ${said##*$'\n'}"
        half=$(mktemp -d "$cache/half-built.XXXXXX")
        trap 'rm -rf "$half"' EXIT
        go build -trimpath -ldflags='-s -w' -o "$half/" "$packages" >&2
        chmod 755 "$half"
        mv "$half" "$built"
    fi
fi
echo "$built"
