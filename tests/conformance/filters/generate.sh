#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# generate.sh [RELEASE...]: write tests/fixtures/vectors/by-release/filters.RELEASE.jsonl.gz with the filter plugins of
# Karmada, for each release of conformance.c or for the given ones. Karmada is its Go module or, with KARMADA_GIT, the
# commit of that release in a local repository. Where Go or a release is missing, the file of that release stays as it
# is, and the reason is printed.
set -uo pipefail
cd "$(dirname "$0")"
folder=../../fixtures/vectors/by-release
releases=${*:-v1.13.10 v1.14.10 v1.15.9 v1.16.8 v1.17.5 v1.18.2 v1.19.0-rc.0 f8fdd02d}
skipped=0

skip() {
    echo "SKIP  filters $1: $2" >&2
    skipped=$((skipped + 1))
}

# build_with_module RELEASE FOLDER: build FOLDER/filters with Karmada's Go module.
build_with_module() {
    cp main.go "$2/"
    cd "$2" && go mod init filters && go get "github.com/karmada-io/karmada@$1" && go mod tidy &&
        go build -o filters .
}

# build_in_repository RELEASE FOLDER: build FOLDER/filters in Karmada's own tree, which vendors its modules.
build_in_repository() {
    mkdir -p "$2/karmada/cmd/filters"
    git --git-dir="$KARMADA_GIT" archive "$1" go.mod go.sum pkg vendor third_party >"$2/archive" ||
        git --git-dir="$KARMADA_GIT" archive "$1" go.mod go.sum pkg vendor >"$2/archive" || return 1
    tar -xf "$2/archive" -C "$2/karmada"
    cp main.go "$2/karmada/cmd/filters/"
    cd "$2/karmada" && go build -mod=vendor -o ../filters ./cmd/filters
}

# write_vectors RELEASE: build main.go with a release of Karmada in a folder of its own, and run it.
write_vectors() {
    local build
    local how=build_with_module

    [ -z "${KARMADA_GIT:-}" ] || how=build_in_repository
    build=$(mktemp -d) || return 1
    if (export GOTOOLCHAIN=local && "$how" "$1" "$build") >"$build/log" 2>&1 &&
        "$build/filters" 2>"$build/log" >"$build/vectors"; then
        gzip -9n <"$build/vectors" >"$folder/filters.$1.jsonl.gz"
        echo "filters $1: $(wc -l <"$build/vectors") cases"
    else
        skip "$1" "$(tail -n 1 "$build/log")"
    fi
    rm -rf "$build"
}

if ! command -v go >/dev/null; then
    skip "$releases" "Go is missing"
else
    for release in $releases; do
        write_vectors "$release"
    done
fi
[ "$skipped" -eq 0 ]
