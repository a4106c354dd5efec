// Generated files by their path in alerts/; dashboards/generate.sh writes them.
function(config)
  local rules = (import 'rules.libsonnet')(config);
  local yaml = import 'yaml.libsonnet';
  local written = '# SPDX-License-Identifier: Apache-2.0\n# Written by dashboards/generate.sh from alerts/source: change those.\n';
  local file(concern) = written + '# %s\n' % concern.about + yaml.value({ groups: concern.records + concern.alerts });

  local row(rule) = '| %s | %s | %s | %s | %s | %s | [page](runbooks/%s.md) | %s |' % ([rule.alert] + rule.row + [rule.page, rule.board]);
  local table = [
    '| alert | severity | problems | one alert for each | for | keep firing for | runbook | board |',
    '|---|---|---|---|---|---|---|---|',
  ] + [row(rule) for concern in rules.concerns for group in concern.alerts for rule in group.rules];

  local product = { 'app.kubernetes.io/name': 'karmada-policy-exporter' };
  local document(about, value) =
    written + std.join('', ['# %s\n' % line for line in about]) + yaml.value(value);
  // The Service of an exporter has the name of its control plane as a label, which all series get.
  local plane = {
    sourceLabels: ['__meta_kubernetes_service_label_karmada_control_plane'],
    targetLabel: config.clusterLabel,
    action: 'replace',
    regex: '(.+)',
  };

  { ['rules/%s.yml' % concern.name]: file(concern) for concern in rules.on }
  + {
    table: std.join('\n', table),
    order: std.join('\n', ['rules/%s.yml' % concern.name for concern in rules.on]),
    'prometheusrule-head': document([
      'For clusters with the Prometheus operator. Add the labels of the ruleSelector of your Prometheus;',
      'kube-prometheus-stack selects rules by the label release.',
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
      'For clusters with the Prometheus operator: it scrapes the Services with this name. kube-prometheus-stack',
      'selects by the label release; set it to the name of your own release.',
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
