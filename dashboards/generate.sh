#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# generate.sh [FOLDER [CONFIG]]: write all that is committed of the mixin, here or into another folder:
#   FOLDER/dashboards/grafana, configmaps   the boards as JSON, and as ConfigMaps with the label that the
#                                           side-car of Grafana's Helm chart looks for; for kustomize, too
#   FOLDER/alerts/rules                     the rules for a plain Prometheus
#   FOLDER/alerts/prometheusrule.yml, servicemonitor.yml, scrapeconfig.yml   for the Prometheus operator
#   FOLDER/alerts/README.md                 the table of the alerts in it
# CONFIG is a file with a site's settings: { clusterLabel: 'plane', thresholds+: { capacityShare: 0.5 } }.
set -euo pipefail
home=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$home}

boards=$out/dashboards alerts=$out/alerts
mkdir -p "$boards/grafana" "$boards/configmaps" "$alerts/rules"
rm -f "$boards"/grafana/*.json "$boards"/configmaps/*.yaml "$alerts"/rules/*.yml

# Nothing of a site is in the source: what it sets is added to the mixin's _config.
mixin="(import '$home/dashboards/mixin.libsonnet')"
if [ $# -gt 1 ]; then
    mixin="($mixin + { _config+:: import '$(realpath "$2")' })"
fi

# ---- boards

jsonnet -m "$boards/grafana" -e "$mixin.grafanaDashboards" >/dev/null
folder=$(jsonnet -S -e "$mixin._config.folder")

for board in "$boards"/grafana/*.json; do
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
    } >"$boards/configmaps/$name.yaml"
done
{
    printf '%s\n' '# Written by dashboards/generate.sh.' 'resources:'
    find "$boards/configmaps" -name '*.yaml' -printf '  - %f\n' | LC_ALL=C sort
} >"$boards/configmaps/kustomization.yml"

# ---- rules

made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
mkdir "$made/rules"
jsonnet -S -m "$made" -e "(import '$home/alerts/source/files.libsonnet')($mixin._config)" >/dev/null
find "$made/rules" -name "*.yml" -exec cp {} "$alerts/rules/" \;
cp "$made/servicemonitor.yml" "$made/scrapeconfig.yml" "$alerts/"

# All groups in one object, indented as it needs.
{
    sed 's/groups: \[\]/groups:/' "$made/prometheusrule-head"
    while read -r file; do
        sed '1,/^groups:$/d; s/^/  /' "$made/$file"
    done <"$made/order"
} >"$alerts/prometheusrule.yml"

# The table stands in the text about it.
{
    sed '/^<!-- written by/q' "$home/alerts/README.md"
    cat "$made/table"
    sed -n '/^<!-- end -->/,$p' "$home/alerts/README.md"
} >"$made/README.md"
cp "$made/README.md" "$alerts/README.md"
