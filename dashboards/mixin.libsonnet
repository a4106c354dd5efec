// The mixin: { grafanaDashboards: { 'kpe-overview.json': {...}, ... },
// prometheusAlerts: { groups: [...] }, prometheusRules: { groups: [...] } }.
(import 'config.libsonnet') + {
  local config = $._config,
  local kit = {
    config: config,
    q: (import 'lib/promql.libsonnet')(config),
    p: (import 'lib/panels.libsonnet')(config),
    b: (import 'lib/board.libsonnet')(config),
  },
  local boards = [
    (import 'boards/overview.libsonnet')(kit),
    (import 'boards/capacity.libsonnet')(kit),
    (import 'boards/drift.libsonnet')(kit),
    (import 'boards/delivery.libsonnet')(kit),
    (import 'boards/conflicts.libsonnet')(kit),
    (import 'boards/leases.libsonnet')(kit),
    (import 'boards/exporter.libsonnet')(kit),
  ],
  grafanaDashboards+:: { [board.uid + '.json']: board for board in boards },

  local rules = (import '../alerts/source/rules.libsonnet')(config),
  prometheusAlerts+:: { groups+: std.flattenArrays([concern.alerts for concern in rules.on]) },
  prometheusRules+:: { groups+: std.flattenArrays([concern.records for concern in rules.on]) },
}
