#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh install PROGRAM | uninstall: put the program and what belongs to it below DESTDIR/PREFIX, or
# remove just that. PREFIX is /usr/local unless it is set.
set -euo pipefail
cd "$(dirname "$0")/../.."

verb=${1:-} program=${2:-}
name=karmada-policy-exporter
prefix=${PREFIX:-/usr/local}
prefix=${prefix%/}
destination=${DESTDIR:-}
destination=${destination%/}
root=$destination$prefix
# The folders that install creates, one a line, below DESTDIR: uninstall removes those that are empty.
record=$root/share/doc/$name/folders

# How it comes about (a function below), from what ("-": the program), and where it is below PREFIX.
files="
program    -     bin/$name
link       $name  bin/kubectl-karmada_policy
completer  bash  bin/kubectl_complete-karmada_policy
completion bash  share/bash-completion/completions/$name
manual     -     share/man/man1/$name.1
unit     exporter/deploy/systemd/$name.service  lib/systemd/system/$name.service
text     exporter/deploy/systemd/$name.env  share/doc/$name/$name.env
text     LICENSE                            share/doc/$name/copyright
text     README.md                          share/doc/$name/README.md
text     CHANGELOG.md                       share/doc/$name/CHANGELOG.md
text     metrics/METRICS.md                 share/doc/$name/METRICS.md
"

# Prints the folders of a file that do not exist, the deepest first.
missing_folders() {
    local folder=$1

    while folder=$(dirname "$folder") && [ "$folder" != "$destination" ] && [ ! -e "$folder" ]; do
        printf '%s\n' "${folder#"$destination"}"
    done
}

# A second installation adds to the record of the first.
record_folders() {
    local folders

    folders=$(
        [ ! -f "$record" ] || cat "$record"
        missing_folders "$record"
        while read -r how _ to; do
            [ -z "$how" ] || missing_folders "$root/$to"
        done <<<"$files"
    )
    mkdir -p "$(dirname "$record")"
    sort -u <<<"$folders" >"$record"
    chmod 644 "$record"
}

# In reverse order a folder comes after everything that is in it.
remove_folders() {
    while read -r folder; do
        [ -z "$folder" ] || [ ! -d "$destination$folder" ] ||
            rmdir --ignore-fail-on-non-empty "$destination$folder"
    done < <(sort -r <<<"$1")
}

program() {
    install -Dm755 "$program" "$2"
}

text() {
    install -Dm644 "$1" "$2"
}

link() {
    mkdir -p "$(dirname "$2")"
    ln -sfn "$1" "$2"
}

# kubectl runs it to complete the plugin's command lines.
completer() {
    completion "$1" "$2"
    chmod 755 "$2"
}

completion() {
    mkdir -p "$(dirname "$2")"
    "$program" completion "$1" >"$2"
    chmod 644 "$2"
}

manual() {
    mkdir -p "$(dirname "$2")"
    "$program" man >"$2"
    chmod 644 "$2"
}

# The unit names the program by its path, as systemd reads it.
unit() {
    local content path=${prefix//\\/\\\\}

    path=${path//%/%%}
    path=${path// /\\x20}
    content=$(<"$1")
    text "$1" "$2"
    printf '%s\n' "${content//"/usr/local/"/"$path/"}" >"$2"
}

case $verb in
install)
    record_folders
    while read -r how from to; do
        [ -z "$how" ] || "$how" "$from" "$root/$to"
    done <<<"$files"
    ;;
uninstall)
    folders=$([ ! -f "$record" ] || cat "$record")
    while read -r how _ to; do
        [ -z "$how" ] || rm -f "$root/$to"
    done <<<"$files"
    rm -f "$record"
    remove_folders "$folders"
    ;;
*)
    echo 'usage: install.sh install PROGRAM | uninstall' >&2
    exit 2
    ;;
esac
