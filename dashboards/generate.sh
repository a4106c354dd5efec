#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# generate.sh [FOLDER]: write the boards as JSON (grafana/), and as ConfigMaps with the label that
# the side-car of Grafana's Helm chart looks for (configmaps/), here or into another folder.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here}

mkdir -p "$out/grafana" "$out/configmaps"
rm -f "$out"/grafana/*.json "$out"/configmaps/*.yaml
jsonnet -m "$out/grafana" -e "(import '$here/mixin.libsonnet').grafanaDashboards" >/dev/null
folder=$(jsonnet -S -e "(import '$here/mixin.libsonnet')._config.folder")

for board in "$out"/grafana/*.json; do
    name=$(basename "$board" .json)
    {
        cat <<END
# Written by dashboards/generate.sh.
apiVersion: v1
kind: ConfigMap
metadata:
  name: karmada-policy-$name
  labels:
    app.kubernetes.io/name: karmada-policy-exporter
    grafana_dashboard: "1"
  annotations:
    grafana_folder: $folder
data:
  $name.json: |
END
        sed 's/^/    /' "$board"
    } >"$out/configmaps/$name.yaml"
done
