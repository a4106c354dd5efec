#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# oss-fuzz.sh: what a build.sh of OSS-Fuzz runs inside the repository. It honours CC, CXX, CFLAGS,
# CXXFLAGS, LIB_FUZZING_ENGINE, OUT and WORK, which name the compiler, the sanitizer's and the
# coverage's flags, the engine to link, and where results and objects go; and puts into OUT each
# target of tests/fuzz with its seed corpus (<target>_seed_corpus.zip) and dictionary
# (<target>.dict). Outside of OSS-Fuzz:
#     OUT=/tmp/out tests/fuzz/oss-fuzz.sh
set -euo pipefail
cd "$(dirname "$0")/../.."

: "${OUT:?says where the targets go}"
: "${WORK:=$OUT/work}"
: "${CC:=clang}" "${CXX:=clang++}"
: "${LIB_FUZZING_ENGINE:=-fsanitize=fuzzer}"
: "${CFLAGS=-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined,fuzzer-no-link}"
: "${CXXFLAGS=$CFLAGS}"
mkdir -p "$OUT" "$WORK"

language="-std=gnu17 -D_GNU_SOURCE -I."
libraries="-lmicrohttpd -lcurl -lcjson -lyaml -lz -lcrypt -lgnutls -lseccomp -lpthread -lm -lcmocka"
support="tests/unit/page.c tests/unit/random_object.c tests/unit/world.c"

# compile SOURCE: its object in WORK. $CFLAGS are several words.
compile() {
    mkdir -p "$WORK/$(dirname "$1")"
    # shellcheck disable=SC2086
    $CC $language $CFLAGS -c "$1" -o "$WORK/${1%.c}.o"
}
export -f compile
export CC CFLAGS WORK language

sources=$(find metrics exporter -name '*.c' ! -path exporter/main.c)
targets=$(echo tests/fuzz/fuzz_*.c)
printf '%s\n' $sources $support $targets |
    xargs -P "$(nproc 2>/dev/null || echo 2)" -I '{}' bash -c 'compile {}' _

rm -f "$WORK/libfuzzed.a"
objects=()
for source in $sources $support; do objects+=("$WORK/${source%.c}.o"); done
ar rcs "$WORK/libfuzzed.a" "${objects[@]}"

for source in $targets; do
    target=$(basename "$source" .c)
    name=${target#fuzz_}
    # The engine may be written in C++.
    # shellcheck disable=SC2086
    $CXX $CXXFLAGS "$WORK/${source%.c}.o" "$WORK/libfuzzed.a" $LIB_FUZZING_ENGINE $libraries \
        -o "$OUT/$target"
    rm -f "$OUT/${target}_seed_corpus.zip"
    python3 -m zipfile -c "$OUT/${target}_seed_corpus.zip" "tests/fuzz/corpus/$name"/*
    [ ! -f "tests/fuzz/$name.dict" ] || cp "tests/fuzz/$name.dict" "$OUT/$target.dict"
done
echo "$(echo $targets | wc -w) targets in $OUT"
