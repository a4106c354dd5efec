// The groups of rules, in the order of the files, with the configuration of a site.
function(config)
  local k = (import 'lib.libsonnet')(config);
  local concerns = [
    (import 'problems.libsonnet')(k, config),
    (import 'exporter.libsonnet')(k, config),
    (import 'boards.libsonnet')(k, config),
    (import 'review.libsonnet')(k, config),
  ];
  local unknown = std.setDiff(std.objectFields(config.groups), std.sort([c.name for c in concerns]));
  assert unknown == [] : '_config.groups: there are no rules called ' + unknown[0];
  // Severity and patience of a problem are settings of the exporter.
  local own = [alert.page for c in concerns for group in c.alerts for alert in group.rules if alert.own];
  local strange = [
    name
    for name in std.objectFields(config.severities) + std.objectFields(config.patience)
    if !std.member(own, name)
  ];
  assert strange == [] : '_config.severities and patience: no alert about the exporter is called %s; for problems set --problems.severity and --problems.patience' % strange[0];
  {
    concerns: concerns,
    // Other rules and the boards read the records of concerns that have alerts.
    on: [
      c { alerts: if config.groups[c.name] then c.alerts else [] }
      for c in concerns
      if config.groups[c.name] || c.alerts != []
    ],
  }
