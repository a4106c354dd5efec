// What a site may want to set otherwise: import mixin.libsonnet, add to _config, generate again.
{
  _config+:: {
    // Label that tells control planes apart, added at scrape time or as an external label.
    clusterLabel: 'cluster',
    // Labels in which replicas of one exporter (an HA pair) differ; folded away by every query.
    replicaLabels: 'instance, pod',
    // Of the bundled alerts; other alerts of the same Prometheus are not shown.
    alertSelector: 'component=~"policy|capacity|config-connector|exporter"',
    // Where the exporter's own page is for whoever looks at a board: a text box on each board.
    exporterPage: 'http://127.0.0.1:19180',

    uidPrefix: 'kpe-',
    titlePrefix: 'Karmada policy / ',
    tags: ['karmada', 'karmada-policy-mixin'],
    folder: 'Karmada policy',
    from: 'now-6h',
    refresh: '1m',

    // Colours of the boards, not alerts: [orange from, red from].
    thresholds: {
      any: [1, null],  // One is worth a look.
      bad: [null, 1],  // One is wrong.
      staleShare: [0.05, 0.2],
      pendingAge: [3600, 86400],
      staleAge: [86400, 604800],
      unboundAge: [600, 3600],
      stageAge: [300, 3600],
      load: [0.5, 0.8],
      pageAge: [60, 300],
      eventLag: [1, 30],
      watchSilence: [600, 1800],
      leaseTtl: 2400,
      leaseSoon: 1200,
    },
  },
}
