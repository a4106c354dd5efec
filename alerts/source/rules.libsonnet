// All concerns in the order in which people look at them, as a site's configuration makes them.
function(config)
  local k = (import 'lib.libsonnet')(config);
  local concerns = [
    (import 'conflicts.libsonnet')(k, config),
    (import 'drift.libsonnet')(k, config),
    (import 'pending.libsonnet')(k, config),
    (import 'delivery.libsonnet')(k, config),
    (import 'capacity.libsonnet')(k, config),
    (import 'config-connector.libsonnet')(k, config),
    (import 'hygiene.libsonnet')(k, config),
    (import 'exporter.libsonnet')(k, config),
    (import 'review.libsonnet')(k, config),
    (import 'per-policy.libsonnet')(k, config),
  ];
  local unknown = std.setDiff(std.objectFields(config.groups), std.sort([c.name for c in concerns]));
  assert unknown == [] : '_config.groups: there are no rules called ' + unknown[0];
  local pages = [alert.page for c in concerns for group in c.alerts for alert in group.rules];
  local strange = [
    name
    for name in std.objectFields(config.severities) + std.objectFields(config.patience)
    if !std.member(pages, name)
  ];
  assert strange == [] : '_config: there is no alert called ' + strange[0];
  {
    concerns: concerns,
    on: [c for c in concerns if config.groups[c.name]],
    off: [c for c in concerns if !config.groups[c.name]],
  }
