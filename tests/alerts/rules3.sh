#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# rules3.sh: check and test the rules with the promtool of Prometheus 3, where ranges leave out their
# left end, and have a Prometheus 3 scrape the exporter. Both are built from their Go module, once,
# which takes minutes; without Go that is told.
set -euo pipefail
cd "$(dirname "$0")/../.."

tools=$(tests/build-go.sh tests/alerts/prometheus3) || exit $?
"$tools/promtool" check rules --lint-fatal alerts/rules/*.yml >/dev/null
cd alerts/tests
out=$("$tools/promtool" test rules ./*.yml 2>&1) || { echo "$out"; exit 1; }
echo "$(ls ./*.yml | wc -l) alerts pass their tests with promtool of $(awk '/prometheus\/prometheus v/ { print $2 }' \
    ../../tests/alerts/prometheus3/go.mod)"
cd ../..
PATH=$tools:$PATH tests/alerts/variations.test
PATH=$tools:$PATH tests/e2e/prometheus.test
