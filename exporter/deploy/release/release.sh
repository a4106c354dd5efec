#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# release.sh check TAG | files | login USER | push | verify | publish: the steps of a release.
#
#   check    compares TAG, the version of the program, the chart and the changelog
#   files    writes archives, bills of materials, the chart, the krew manifest and their checksums to BUILD/release
#   login    stores a password from standard input for the registry
#   push     pushes image, chart and metadata for Artifact Hub to REGISTRY, and signs them
#   verify   verifies the signatures and attestations of image and chart in REGISTRY, and of the checksums
#   publish  creates the release of the public repository with the files
#
# KEY is the file of a private key for push, and of its public key for verify. Without KEY the signatures are keyless:
# push gets a certificate for the identity of the workflow, and verify compares that identity.
set -euo pipefail
umask 022
export LC_ALL=C
cd "$(dirname "$0")/../../.."

name=karmada-policy-exporter
read -r version revision epoch < <(exporter/deploy/source.sh)
read -r repository public < <(exporter/deploy/address.sh)
epoch=${epoch:-0}
registry=${REGISTRY:-$public}
build=$(realpath -m "${BUILD:-build}")
out=$build/release
image=$registry/$name
chart=$registry/charts/$name

fail() {
    echo "release.sh: $*" >&2
    exit 1
}

# An archive of a folder: the same files and the same commit give the same bytes.
pack() {
    tar -C "$1" --sort=name --format=gnu --mtime="@$epoch" --owner=0 --group=0 --numeric-owner \
        --mode=u+w,go-w,a+rX -cf - "$2" | gzip -9n >"$3"
}

# ---- check ---------------------------------------------------------------------------------------

check_versions() {
    [ "$1" = "v$version" ] || fail "the tag is $1, and the program has version $version"
    grep -qx "version: $version" exporter/deploy/chart/Chart.yaml || fail "Chart.yaml has another version"
    grep -qE "^## \[?$version\]? " CHANGELOG.md || fail "CHANGELOG.md has no section $version"
}

# ---- files ---------------------------------------------------------------------------------------

architectures() {
    for archive in "$build/image/$name-$version"-*.spdx.json; do
        [ -e "$archive" ] || fail "no image of version $version in $build/image: run make image"
        archive=${archive##*-}
        echo "${archive%.spdx.json}"
    done
}

# The program for any Linux with the C library of Debian 12 or a later one: all other libraries are beside it.
write_binary() {
    local arch=$1 root=$build/image/$1/root folder=$name-$version-linux-$1 library soname
    mkdir -p "$work/$folder/lib" "$work/$folder/licences"
    install -m755 "$root/usr/bin/$name" "$work/$folder/$name"
    patchelf --force-rpath --set-rpath '$ORIGIN/lib' "$work/$folder/$name"
    for library in $(cd "$root" && find lib usr/lib -name '*.so.*' 2>/dev/null); do
        case $(basename "$library") in
        ld-linux* | libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | libresolv.so.* | librt.so.*) continue ;;
        esac
        # The loader asks for the name inside the library, which a link beside the library often has.
        soname=$(readelf -d "$root/$library" | sed -n 's/.*(SONAME).*\[\(.*\)\]$/\1/p')
        [ "$soname" != "$(basename "$library")" ] || install -m644 "$root/$library" "$work/$folder/lib/"
    done
    for library in "$root"/usr/share/doc/*/copyright; do
        install -m644 "$library" "$work/$folder/licences/$(basename "$(dirname "$library")")"
    done
    install -m644 LICENSE "$work/$folder/"
    pack "$work" "$folder" "$out/$folder.tar.gz"
}

# The chart with a README whose links lead to the public repository, for Artifact Hub.
write_chart() {
    local helm
    helm=$(tests/build-go.sh tests/deploy/helm)/helm
    cp -rL exporter/deploy/chart "$work/chart"
    sed -i '/^README.md$/d' "$work/chart/.helmignore"
    sed -i -E "s|\]\(\.\./\.\./\.\./|]($repository/blob/v$version/|g
        s|\]\(\.\./\.\./|]($repository/blob/v$version/exporter/|g
        s|\]\(\.\./|]($repository/blob/v$version/exporter/deploy/|g" "$work/chart/README.md"
    "$helm" package "$work/chart" --destination "$work/package" >/dev/null
    mkdir "$work/unpacked"
    tar -C "$work/unpacked" --warning=no-timestamp -xzf "$work/package/$name-$version.tgz"
    pack "$work/unpacked" "$name" "$out/$name-chart-$version.tgz"
}

write_krew_manifest() {
    local arch sum script="s|@VERSION@|$version|g; s|@REPOSITORY@|$repository|g"
    for arch; do
        sum=$(sha256sum "$out/$name-$version-linux-$arch.tar.gz")
        script+="; s|@SHA256_${arch^^}@|${sum%% *}|g"
    done
    sed "$script" exporter/deploy/release/krew.yaml >"$out/karmada-policy.yaml"
    ! grep -n '@[A-Z0-9_]*@' "$out/karmada-policy.yaml" || fail "the krew manifest needs both architectures"
}

write_files() {
    local arch all
    all=$(architectures)
    rm -rf "$out"
    mkdir -p "$out"
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
    BUILD=$build exporter/deploy/dist.sh >/dev/null
    cp "$build/$name-$version.tar.gz" "$out/"
    cp "$build/image/$name-$version"-*.spdx.json "$out/"
    for arch in $all; do
        write_binary "$arch"
    done
    write_chart
    write_krew_manifest $all
    (cd "$out" && sha256sum -- *."tar.gz" *.tgz *.json *.yaml >SHA256SUMS)
    cat "$out/SHA256SUMS"
}

# ---- push and verify -----------------------------------------------------------------------------

use_tools() {
    tools=$(tests/build-go.sh exporter/deploy/release)
    helm=$(tests/build-go.sh tests/deploy/helm)/helm
}

cosign() {
    "$tools/cosign" "$@"
}

# Options of cosign: a signature with a key has no entry in the public log.
signing=(--yes)
verifying=(--certificate-oidc-issuer https://token.actions.githubusercontent.com
    --certificate-identity "$repository/.github/workflows/release.yml@refs/tags/v$version")
if [ -n "${KEY:-}" ]; then
    signing+=(--key "$KEY" --tlog-upload=false)
    verifying=(--key "$KEY" --insecure-ignore-tlog)
fi

# The digest of the platform of an image.
digest_of() {
    "$tools/oras" resolve --platform "linux/$1" "$image:$version"
}

push_all() {
    local arch digest
    use_tools
    # The smallest first: without a login this fails at once.
    (cd exporter/deploy/release && "$tools/oras" push --no-tty "$chart:artifacthub.io" \
        --config /dev/null:application/vnd.cncf.artifacthub.config.v1+yaml \
        artifacthub-repo.yml:application/vnd.cncf.artifacthub.repository-metadata.layer.v1.yaml)

    # One at a time: oras 1.3.6 hangs after an error of one among several.
    "$tools/oras" cp --no-tty --concurrency 1 --from-oci-layout "$build/image/oci:$version" "$image:$version"
    digest=$("$tools/oras" resolve "$image:$version")
    cosign sign "${signing[@]}" --recursive "$image@$digest"
    for arch in $(architectures); do
        cosign attest "${signing[@]}" --type spdxjson --predicate "$out/$name-$version-$arch.spdx.json" \
            "$image@$(digest_of "$arch")"
    done

    "$helm" push "$out/$name-chart-$version.tgz" "oci://$registry/charts"
    digest=$("$tools/oras" resolve "$chart:$version")
    cosign sign "${signing[@]}" "$chart@$digest"
    cosign sign-blob "${signing[@]}" --bundle "$out/SHA256SUMS.bundle" "$out/SHA256SUMS" >/dev/null
}

verify_all() {
    local arch
    use_tools
    cosign verify "${verifying[@]}" "$image:$version" >/dev/null
    cosign verify "${verifying[@]}" "$chart:$version" >/dev/null
    for arch in $(architectures); do
        cosign verify "${verifying[@]}" "$image@$(digest_of "$arch")" >/dev/null
        cosign verify-attestation "${verifying[@]}" --type spdxjson "$image@$(digest_of "$arch")" >/dev/null
    done
    cosign verify-blob "${verifying[@]}" --bundle "$out/SHA256SUMS.bundle" "$out/SHA256SUMS"
    (cd "$out" && sha256sum --quiet --check SHA256SUMS)
    echo "release.sh: the signatures of $image:$version and $chart:$version are valid"
}

case ${1:-} in
check) check_versions "${2:?the tag}" ;;
files) write_files ;;
login)
    use_tools
    "$tools/oras" login --username "${2:?the user}" --password-stdin "${registry%%/*}"
    ;;
push) push_all ;;
verify) verify_all ;;
publish) gh release create "v$version" --title "$version" --notes-file <(
    sed -n "/^## \[\?$version\]\? /,/^## /{/^## /!p}" CHANGELOG.md
) "$out"/* ;;
*)
    echo 'usage: release.sh check TAG | files | login USER | push | verify | publish' >&2
    exit 2
    ;;
esac
