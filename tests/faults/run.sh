#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# run.sh FOLLOW [NAME]: play the scenarios of server/ (those whose name holds NAME) against the
# program FOLLOW, built from follow.c. Exit status 77: there is no Go to build the server with.
set -euo pipefail
cd "$(dirname "$0")"

follow=$(realpath "$OLDPWD/$1" 2>/dev/null || realpath "$1")
if ! command -v go >/dev/null; then
    echo "Go is missing: the server of the fault tests cannot be built"
    exit 77
fi
server=$(mktemp -d)
trap 'rm -rf "$server"' EXIT
(cd server && go build -o "$server/faults" .)
"$server/faults" "$follow" "${2:-}"
