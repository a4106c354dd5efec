#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# install.sh install|uninstall PROGRAM: put the program and what belongs to it below DESTDIR/PREFIX, or
# remove just that. PREFIX is /usr/local unless it is set.
set -euo pipefail
cd "$(dirname "$0")/../.."

verb=${1:-} program=${2:-}
name=karmada-policy-exporter
prefix=${PREFIX:-/usr/local}
root=${DESTDIR:-}$prefix

# How it comes about (a function below), from what, and where it is below PREFIX.
files="
program  $program  bin/$name
link     $name     bin/kubectl-karmada_policy
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
# Removed if nothing is left in them; /usr/local of a fresh system has none of these.
folders="share/bash-completion/completions share/bash-completion share/man/man1 share/doc/$name share/doc lib/systemd/system lib/systemd"

program() {
    install -Dm755 "$1" "$2"
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

# The unit names the program by its path.
unit() {
    text "$1" "$2"
    sed "s|/usr/local/|$prefix/|g" "$1" >"$2"
}

case $verb in
install)
    while read -r how from to; do
        [ -z "$how" ] || "$how" "$from" "$root/$to"
    done <<<"$files"
    ;;
uninstall)
    while read -r how _ to; do
        [ -z "$how" ] || rm -f "$root/$to"
    done <<<"$files"
    for folder in $folders; do
        [ ! -d "$root/$folder" ] || rmdir --ignore-fail-on-non-empty "$root/$folder"
    done
    ;;
*)
    echo 'usage: install.sh install|uninstall PROGRAM' >&2
    exit 2
    ;;
esac
