// What is committed beside this folder, by its path in alerts/: written by dashboards/generate.sh.
function(config)
  local rules = (import 'rules.libsonnet')(config);
  local yaml = import 'yaml.libsonnet';
  local written = '# SPDX-License-Identifier: Apache-2.0\n# Written by dashboards/generate.sh from alerts/source: change those.\n';
  local file(concern) = written + '# %s\n' % concern.about + yaml.value({ groups: concern.records + concern.alerts });

  local row(concern, rule) = '| %s | %s | %s | %s | %s | [cases](tests/%s.yml) | [page](runbooks/%s.md) | %s |' % [
    rule.alert,
    rule.labels.severity,
    rule.cause,
    rule['for'],
    if config.groups[concern.name] then rule.pushed else 'no: off by default',
    rule.page,
    rule.page,
    rule.board,
  ];
  local table = [
    '| alert | severity | cause | for | [pushed](#without-prometheus) | test | runbook | board |',
    '|---|---|---|---|---|---|---|---|',
  ] + [row(concern, rule) for concern in rules.concerns for group in concern.alerts for rule in group.rules];

  // The same rules for the exporter itself, which evaluates them where no Prometheus does.
  local seconds(text) =
    local unit = { s: 1, m: 60, h: 3600, d: 86400 }[text[std.length(text) - 1]];
    unit * std.parseInt(std.substr(text, 0, std.length(text) - 1));
  // With strReplace, for std.escapeStringJson takes seconds for all of them.
  local c(text) =
    '"' + std.strReplace(std.strReplace(std.strReplace(text, '\n', ' '), '\\', '\\\\'), '"', '\\"') + '"';
  local alert(group, rule) = '    ALERT(%s, %s, %d, %d, %d, %s,\n          %s,\n          %s, %s,\n          %s,\n          %s, %s)' % [
    c(rule.alert),
    c(rule.labels.severity),
    seconds(group.interval),
    seconds(rule['for']),
    seconds(std.get(rule, 'keep_firing_for', '0s')),
    c(rule.annotations.runbook_url),
    c(rule.expr),
    c(rule.annotations.summary),
    c(rule.annotations.dashboard_url),
    c(rule.annotations.description),
    c(config.pageUrl),
    c(std.strReplace(rule.annotations.page_url, config.pageUrl, '')),
  ];
  local record(group, rule) = '    RECORD(%s, %d,\n           %s)' % [c(rule.record), seconds(group.interval), c(rule.expr)];
  local rows = [
    if std.objectHas(rule, 'record') then record(group, rule) else alert(group, rule)
    for concern in rules.on
    for group in concern.records + concern.alerts
    for rule in group.rules
    // What is recorded by the hour is for boards.
    if group.interval != '1h'
  ];

  local product = { 'app.kubernetes.io/name': 'karmada-policy-exporter' };
  local document(about, value) =
    written + std.join('', ['# %s\n' % line for line in about]) + yaml.value(value);
  // What tells control planes apart has to be on the exporters' own objects; the operator adds it here.
  local plane = {
    sourceLabels: ['__meta_kubernetes_service_label_karmada_control_plane'],
    targetLabel: config.clusterLabel,
    action: 'replace',
    regex: '(.+)',
  };

  { ['rules/%s.yml' % concern.name]: file(concern) for concern in rules.on }
  + { ['optional/%s.yml' % concern.name]: file(concern) for concern in rules.off }
  + {
    table: std.join('\n', table),
    'alert_table.h': std.join('\n', [
      '/* SPDX-License-Identifier: Apache-2.0 */',
      '/* clang-format off */',
      '/*',
      ' * Written by dashboards/generate.sh from alerts/source: change those. RECORD(name, interval,',
      ' * expression) and ALERT(name, severity, interval, for, keep, runbook, expression, summary, board,',
      ' * description, origin of the page, the rest of its address); times are in seconds.',
      ' */',
      '#pragma once',
      '',
      '#define ALERT_PRODUCT %s' % c(config.product),
      '#define ALERT_JOB %s' % c(config.jobName),
      '#define ALERT_PLANE %s' % std.join(', ', [c(label) for label in [config.clusterLabel] + config.keepLabels]),
      '#define ALERT_TABLE(RECORD, ALERT) \\',
      std.join(' \\\n', [std.strReplace(row, '\n', ' \\\n') for row in rows]),
    ]),
    order: std.join('\n', ['rules/%s.yml' % concern.name for concern in rules.on]),
    'prometheusrule-head': document([
      'For clusters with the Prometheus operator; add the labels that your Prometheus selects rules by, as',
      'kube-prometheus-stack does by that of its release.',
    ], {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: {
        name: 'karmada-policy-exporter',
        labels: product { 'app.kubernetes.io/component': 'alerts', release: 'kube-prometheus-stack' },
      },
      spec: { groups: [] },
    }),
    'servicemonitor.yml': document([
      'For clusters with the Prometheus operator: it scrapes the Services with this name. The label release is',
      'what kube-prometheus-stack selects by; put that of your own release.',
      'Several control planes: the Service of each exporter has the label karmada-control-plane with its name,',
      'which becomes the label %s of all its series and alerts. With one control plane it may be missing.' % config.clusterLabel,
      'Keep honorLabels: without it the label namespace of an object is that of the exporter.',
    ], {
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'ServiceMonitor',
      metadata: { name: 'karmada-policy-exporter', labels: product { release: 'kube-prometheus-stack' } },
      spec: {
        jobLabel: 'app.kubernetes.io/name',
        selector: { matchLabels: product },
        endpoints: [{ port: 'http', interval: '30s', honorLabels: true, relabelings: [plane] }],
      },
    }),
    'scrapeconfig.yml': document([
      'For the Prometheus operator, where an exporter is no Service of this cluster: put its address, and the name',
      'of its control plane as %s.' % config.clusterLabel,
    ], {
      apiVersion: 'monitoring.coreos.com/v1alpha1',
      kind: 'ScrapeConfig',
      metadata: { name: 'karmada-policy-exporter', labels: product { release: 'kube-prometheus-stack' } },
      spec: {
        jobName: config.jobName,
        honorLabels: true,
        scrapeInterval: '30s',
        staticConfigs: [{
          targets: ['karmada-policy-exporter.karmada-system.svc:19180'],
          labels: { [config.clusterLabel]: 'karmada' },
        }],
      },
    }),
  }
