#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# address.sh: print the address of the public repository and the registry with its image and its chart. The chart
# is the only place that states them: `home` in Chart.yaml, and `image.repository` in values.yaml.
set -euo pipefail
cd "$(dirname "$0")/chart"

repository=$(sed -n 's/^home: *//p' Chart.yaml)
image=$(sed -n 's/^  repository: *//p' values.yaml)
echo "$repository" "${image%/*}"
