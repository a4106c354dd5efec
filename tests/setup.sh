#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# setup.sh build|image|release|packages|demo|boards|test: print which Debian packages are missing that building
# (or the image, a release, testing packages, the demo, drawing boards, testing) needs, and install just those with
# apt-get. Prometheus, Alertmanager and a newer Go are unpacked into BUILD/tools. Nothing else is changed.
# setup.sh names: print those that building needs.
#
# A package counts as missing when dpkg does not have it and what it is for is not found either,
# so that a compiler or library from elsewhere is left alone.
set -euo pipefail
cd "$(dirname "$0")/.."

# package, and how to find what it is for: a command, a header, or a function below
build_packages='
gcc                   gcc
make                  make
libc6-dev             stdio.h
libmicrohttpd-dev     microhttpd.h
libgnutls28-dev       gnutls/gnutls.h
libcurl4-openssl-dev  curl/curl.h
libcjson-dev          cjson/cJSON.h
libyaml-dev           yaml.h
zlib1g-dev            zlib.h
libxxhash-dev         xxhash.h
libcrypt-dev          crypt.h
libseccomp-dev        seccomp.h
'
demo_packages='
python3               python3
'
# render.py fetches npm packages; build-go.sh fetches Go modules.
boards_packages='
python3               python3
nodejs                node
npm                   npm
chromium              chromium
pngquant              pngquant
openssl               openssl
ca-certificates       has_certificates
golang-go             go
'
test_packages='
libcmocka-dev         cmocka.h
clang                 clang
clang-format          clang-format
clang-tidy            clang-tidy
libclang-rt-14-dev    has_fuzzer
python3               python3
python3-yaml          has_python_yaml
python3-jsonschema    has_python_jsonschema
python3-prometheus-client  has_prometheus_client
python3-venv          has_python_venv
git                   git
shellcheck            shellcheck
groff-base            groff
mandoc                mandoc
man-db                man
jq                    jq
openssl               openssl
curl                  curl
jsonnet               jsonnet
nodejs                node
npm                   npm
chromium              chromium
faketime              faketime
systemd               systemd-analyze
'
# What `make image` needs beside: apt fetches the libraries, of each architecture, for it alone.
image_packages='
buildah                buildah
python3                python3
gcc-x86-64-linux-gnu   x86_64-linux-gnu-gcc
gcc-aarch64-linux-gnu  aarch64-linux-gnu-gcc
'
release_packages='
patchelf               patchelf
python3                python3
'
packages_packages='
mmdebstrap             mmdebstrap
qemu-user-static       qemu-aarch64-static
systemd-container      systemd-nspawn
python3-venv           has_python_venv
faketime               faketime
'
# Daemons whose package would start a service, add a user and open a port. Only the program is
# wanted, so the package is fetched and unpacked into BUILD/tools, where the Makefile's PATH looks.
unpacked_packages='
prometheus               has_prometheus
prometheus-alertmanager  has_alertmanager
'
# tests/build-go.sh builds an API server with Go. Debian's Go may be too old for it.
unpacked_go='
go                       has_new_go
'
tools=${BUILD:-build}/tools

has_certificates() {
    [ -e /etc/ssl/certs/ca-certificates.crt ]
}

go_wanted() {
    awk '$1 == "go" { print $2 }' tests/e2e/apiserver/go.mod
}

has_new_go() {
    local go=$tools/go/bin/go has
    [ -x "$go" ] || go=$(command -v go) || return
    has=$(GOTOOLCHAIN=local "$go" env GOVERSION) &&
        [ "$(printf '%s\n' "$(go_wanted)" "${has#go}" | sort -V | head -n 1)" = "$(go_wanted)" ]
}

has_fuzzer() {
    [ -e "$(clang -print-file-name="libclang_rt.fuzzer-$(uname -m).a" 2>/dev/null)" ]
}

has_prometheus() {
    local path=$PATH:$tools/usr/bin
    PATH=$path command -v prometheus >/dev/null && PATH=$path command -v promtool >/dev/null
}

has_alertmanager() {
    local path=$PATH:$tools/usr/bin
    PATH=$path command -v amtool >/dev/null && PATH=$path command -v prometheus-alertmanager >/dev/null
}

has_python_yaml() {
    python3 -c 'import yaml' 2>/dev/null
}

has_python_jsonschema() {
    python3 -c 'from jsonschema import Draft202012Validator' 2>/dev/null
}

has_python_venv() {
    python3 -c 'import ensurepip' 2>/dev/null
}

has_prometheus_client() {
    python3 -c 'import prometheus_client' 2>/dev/null
}

found() {
    case $1 in
    has_*) "$1" ;;
    *.h) compgen -G "/usr/include/$1" || compgen -G "/usr/include/*-linux-gnu/$1" ||
        compgen -G "/usr/local/include/$1" ;;
    *) command -v "$1" ;;
    esac >/dev/null
}

# The packages of a list that neither dpkg nor their probe knows.
missing_of() {
    local installed='' package probe
    if command -v dpkg-query >/dev/null; then
        installed=$(dpkg-query -W -f '${Package} ${db:Status-Status}\n' \
            $(awk '{ print $1 }' <<<"$1") 2>/dev/null || true)
    fi
    while read -r package probe; do
        if [ -n "$package" ] && ! grep -qx "$package installed" <<<"$installed" &&
            ! found "$probe"; then
            echo "$package"
        fi
    done <<<"$1"
}

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        echo "setup: this needs root, and there is no sudo; run as root: $*" >&2
        return 1
    fi
}

unpack() {
    rm -rf "$tools/archive"
    mkdir -p "$tools/archive"
    (cd "$tools/archive" && apt-get -qq -o APT::Sandbox::User=root download "$1")
    dpkg-deb -x "$tools/archive/$1"_*.deb "$tools"
    rm -rf "$tools/archive"
}

why_unpacked() {
    case $1 in
    go) echo "Debian's is too old" ;;
    *) echo 'its package would start a service' ;;
    esac
}

# The toolchain as a Go module, which the installed Go checks against Go's checksum database.
unpack_go() {
    local module
    module=golang.org/toolchain@v0.0.1-go$(go_wanted).linux-$(dpkg --print-architecture)
    rm -rf "$tools/go" "$tools/archive"
    mkdir -p "$tools/archive"
    GOFLAGS=-modcacherw GOMODCACHE=$(realpath "$tools/archive") go mod download "$module"
    mv "$tools/archive/$module" "$tools/go"
    rm -rf "$tools/archive"
    # A module cannot have a go.mod in a subfolder, or files that are executable.
    find "$tools/go" -name _go.mod -execdir mv {} go.mod \;
    chmod +x "$tools"/go/bin/* "$tools"/go/pkg/tool/*/*
}

case ${1:-} in
names)
    awk 'NF { print $1 }' <<<"$build_packages"
    exit
    ;;
build) wanted=$build_packages unpacked='' ;;
image) wanted=$build_packages$image_packages unpacked='' ;;
release) wanted=$release_packages unpacked='' ;;
packages) wanted=$build_packages$image_packages$release_packages$packages_packages unpacked='' ;;
demo) wanted=$build_packages$demo_packages unpacked=$unpacked_packages ;;
boards) wanted=$build_packages$boards_packages unpacked=$unpacked_packages$unpacked_go ;;
test) wanted=$build_packages$test_packages unpacked=$unpacked_packages ;;
*)
    echo 'usage: setup.sh build|image|release|packages|demo|boards|test|names' >&2
    exit 2
    ;;
esac

to_install=$(missing_of "$wanted" | xargs)
to_unpack=$(missing_of "$unpacked" | xargs)
[ -n "$to_install$to_unpack" ] || exit 0

echo "setup: missing: $(xargs <<<"$to_install $to_unpack")"
if ! command -v apt-get >/dev/null; then
    echo 'setup: there is no apt-get here; install these, or what your system calls them, and run again' >&2
    exit 1
fi
as_root apt-get -qq update
if [ -n "$to_install" ]; then
    echo "setup: apt-get install $to_install"
    as_root apt-get -qq install -y --no-install-recommends $to_install
fi
for package in $to_unpack; do
    echo "setup: unpacking $package into $tools (not installed: $(why_unpacked "$package"))"
    case $package in go) unpack_go ;; *) unpack "$package" ;; esac
done
still=$({ missing_of "$wanted"; missing_of "$unpacked"; } | xargs)
[ -z "$still" ] || {
    echo "setup: still missing: $still" >&2
    exit 1
}
