#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# build.sh [ARCHITECTURE...]: build the image for each (amd64 and arm64 unless it is told) into
# BUILD/image: oci/, an OCI layout whose index has all of them, and a bill of materials (SPDX) for each.
#
# Everything but the compilers comes from Debian packages that apt fetches and checks, for both
# architectures in the same way: the program is compiled and linked against them, not against what this
# machine has. The same packages and the same commit give the same bytes: files carry the commit's
# time, and neither names of folders nor the clock reach the image.
#
# The program is linked dynamically. Statically it cannot be: libcurl needs Kerberos, of which Debian
# has no static libraries, and glibc would load its modules for looking up names all the same.
set -euo pipefail
umask 022
export LC_ALL=C
cd "$(dirname "$0")/../../.."

name=karmada-policy-exporter
read -r version revision epoch < <(exporter/deploy/source.sh)
read -r repository _ < <(exporter/deploy/address.sh)
revision=${revision:-unknown} epoch=${epoch:-0}
out=$(realpath -m "${BUILD:-build}")/image
[ $# -gt 0 ] || set -- amd64 arm64
if [ "$(id -u)" != 0 ]; then
    echo 'build.sh: only root can build an image; run it as root, or in `buildah unshare`' >&2
    exit 1
fi

# ---- Debian's packages ---------------------------------------------------------------------------

apt() {
    apt-get -qq -o APT::Architecture="$arch" -o APT::Architectures="$arch" \
        -o APT::Install-Recommends=false -o APT::Sandbox::User="$(id -un)" \
        -o Dir::State="$work/apt" -o Dir::State::status=/dev/null -o Dir::Cache="$work/apt" "$@"
}

fetch_packages() {
    mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial" "$work/debian"
    apt update
    apt install -y --download-only $(tests/setup.sh names | grep -e '-dev$') \
        ca-certificates base-files >/dev/null
    local package
    for package in "$work"/apt/archives/*.deb; do
        dpkg-deb -x "$package" "$work/debian"
    done
}

# ---- the program ---------------------------------------------------------------------------------

compile() {
    env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u MAKEOVERRIDES \
        make -s -j"${JOBS:-2}" VARIANT=plain BUILD="$work/build" CC="$triplet-gcc" \
        REVISION="$revision" CPPFLAGS= LDFLAGS= \
        CFLAGS="--sysroot=$work/debian -ffile-prefix-map=$PWD=." all
    install -D "$work/build/plain-$triplet-gcc/$name" "$work/root/usr/bin/$name"
    "$triplet-strip" "$work/root/usr/bin/$name"
}

# ---- what it needs to run ------------------------------------------------------------------------

# A file of the packages, at its own place; for a link what it points to as well.
add() {
    local target
    mkdir -p "$work/root$(dirname "$1")"
    cp -a "$work/debian$1" "$work/root$1"
    if [ -L "$work/debian$1" ]; then
        target=$(readlink "$work/debian$1")
        [ "${target:0:1}" = / ] || target=$(dirname "$1")/$target
        [ -e "$work/root$target" ] || add "$target"
    fi
}

# The library of a name, where the loader looks for it.
find_library() {
    local folder
    for folder in /lib/$triplet /usr/lib/$triplet; do
        if [ -e "$work/debian$folder/$1" ]; then
            echo "$folder/$1"
            return
        fi
    done
    echo "build.sh: no package has the library $1" >&2
    return 1
}

# The loader, and the libraries of a file and of those. What they would load later on is not there:
# plug-ins of Kerberos, SASL, PKCS 11 and OpenSSL, none of which the program asks for. Since 2.34
# glibc itself looks up names in files and by DNS.
add_libraries() {
    local library path
    for library in $(readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p'); do
        path=$(find_library "$library")
        if [ ! -e "$work/root$path" ]; then
            add "$path"
            add_libraries "$work/root$path"
        fi
    done
}

add_authorities() {
    local bundle=$work/root/etc/ssl/certs/ca-certificates.crt
    mkdir -p "$(dirname "$bundle")"
    cat "$work"/debian/usr/share/ca-certificates/mozilla/*.crt >"$bundle"
}

add_user() {
    echo 'nonroot:x:65532:65532:nonroot:/nonexistent:/usr/sbin/nologin' >"$work/root/etc/passwd"
    echo 'nonroot:x:65532:' >"$work/root/etc/group"
    echo 'hosts: files dns' >"$work/root/etc/nsswitch.conf"
}

# Licences ask for their texts to go with the programs.
add_licences() {
    local package
    mkdir -p "$work/root/usr/share/common-licenses"
    cp -a "$work"/debian/usr/share/common-licenses/. "$work/root/usr/share/common-licenses"
    install -Dm644 LICENSE "$work/root/usr/share/doc/$name/copyright"
    for package in $(exporter/deploy/image/sbom.py owners "$work/root" "$work/apt/archives"); do
        install -Dm644 "$work/debian/usr/share/doc/$package/copyright" \
            "$work/root/usr/share/doc/$package/copyright"
    done
}

make_root() {
    compile
    add "$(readelf -l "$work/root/usr/bin/$name" | sed -n 's/.*program interpreter: \(.*\)\]$/\1/p')"
    add_libraries "$work/root/usr/bin/$name"
    add_authorities
    add_user
    add_licences
    exporter/deploy/image/sbom.py document "$work/root" "$work/apt/archives" "$arch" "$version" \
        "$revision" "$epoch" >"$out/$name-$version-$arch.spdx.json"
}

# ---- the image -----------------------------------------------------------------------------------

builder() {
    BUILDAH_ISOLATION=chroot buildah --root "$out/storage" --runroot "$out/run" \
        --storage-driver vfs "$@"
}

commit_image() {
    local container label
    container=$(builder from --arch "$arch" scratch)
    builder copy --quiet --chown 0:0 "$container" "$work/root" / >/dev/null
    for label in title="$name" version="$version" revision="$revision" licenses=Apache-2.0 \
        source="$repository" \
        description='Shows where the resources of Karmada do not follow their propagation policies'; do
        builder config --label "org.opencontainers.image.$label" \
            --annotation "org.opencontainers.image.$label" "$container"
    done
    builder config --os linux --arch "$arch" --user 65532:65532 --port 19180/tcp --workingdir / \
        --entrypoint "[\"/usr/bin/$name\"]" --cmd '' "$container"
    builder commit --quiet --rm --format oci --timestamp "$epoch" --omit-history "$container" \
        "localhost/$name:$version-$arch" >/dev/null
    builder manifest add "$name:$version" "localhost/$name:$version-$arch" >/dev/null
}

rm -rf "$out"
mkdir -p "$out"
builder manifest create "$name:$version" >/dev/null
for arch; do
    case $arch in
    amd64) triplet=x86_64-linux-gnu ;;
    arm64) triplet=aarch64-linux-gnu ;;
    *)
        echo "build.sh: '$arch' is none of the architectures amd64 and arm64" >&2
        exit 2
        ;;
    esac
    work=$out/$arch
    fetch_packages
    make_root
    commit_image
done
builder manifest push --quiet --all "$name:$version" "oci:$out/oci:$version" >/dev/null
rm -rf "$out/storage" "$out/run"
