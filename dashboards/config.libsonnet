// What a site may want to set otherwise: import mixin.libsonnet, add to _config, generate again.
{
  _config+:: {
    // Label that tells control planes apart, added at scrape time or as an external label.
    clusterLabel: 'cluster',
    // What tells the replicas of one exporter apart, on the board about exporters.
    replicaLabels: ['instance', 'pod'],
    // Where the exporter's own pages are, as --web.external-url has it, for whoever looks at a board (a
    // text box on each) or is told of an alert (a link to the page of what it is about).
    pageUrl: 'http://127.0.0.1:19180',

    // ---- boards

    uidPrefix: 'kpe-',
    titlePrefix: 'Karmada policy / ',
    tags: ['karmada', 'karmada-policy-mixin'],
    folder: 'Karmada policy',
    from: 'now-6h',
    refresh: '1m',
    // For how long the last number of an exporter stands in while none is ready.
    gap: '5m',
    // The same for records by the hour.
    reviewGap: '65m',
    // Choices of how long ago the last review was, the first being the one that a board starts with.
    reviews: ['90d', '30d', '7d'],
    // Links to tables as CSV, where the exporter's API writes them.
    csvExport: false,
    colours: import 'lib/colours.libsonnet',

    // ---- alerts

    // The job of the exporters, as Prometheus has it.
    jobName: 'karmada-policy-exporter',
    // Beside control plane and job, what tells exporters apart that see different objects (--shard).
    keepLabels: ['shard'],
    // What every alert carries, so that routes, inhibitions and boards know it: {product: this}.
    product: 'karmada-policy-exporter',
    alertPrefix: 'Karmada',
    extraLabels: {},
    extraAnnotations: {},
    runbookUrl: 'https://runbooks.example/karmada-policy-exporter',
    boardUrl: 'https://grafana.example/d',

    // Severity and `for` of alerts about the exporter, by their name here: { KarmadaPolicyExporterDegraded: 'info' }.
    // Those of problems are settings of the exporter: --problems.severity, --problems.patience.
    severities: {},
    patience: {},
    // Control planes that were removed on purpose: no alert reports that their exporter is absent.
    decommissioned: [],
    // Groups of rules; each is a file in alerts/source. A group of alerts that is off keeps its records: others read them.
    groups: { problems: true, exporter: true, boards: true, review: true },

    // ---- limits

    // Limits of alerts about the exporter, and steps of colours on boards. Patience of problems is a setting of the exporter.
    thresholds: {
      // Age of a template in a stage that every rollout passes.
      stageAgeSeconds: 300,
      // Requests that drift would bring to a member cluster, as a share of its free resources.
      capacityShare: 0.8,
      // Age of the asset export: a lease of Config Connector lasts as long.
      assetSnapshotAgeSeconds: 2400,
      // Age of the page of the exporter, which renews it several times a minute.
      snapshotAgeSeconds: 120,
      // Delay until 99 of 100 changes are on the page.
      eventLagSeconds: 2,
      // Starts of all replicas of one exporter within an hour.
      restartsPerHour: 6,
      // A certificate of the exporter that expires earlier than in 7 days.
      certificateSeconds: 604800,
      // Connections that the exporter refuses or closes within 15 minutes.
      connectionsRefused: 100,
      // Silence of a watch; the API server sends a bookmark about once a minute.
      watchSilenceSeconds: 900,

      // Steps of colours: [orange from, red from].
      any: [1, null],
      bad: [null, 1],
      staleShare: [0.05, 0.2],
      // The defaults of --thresholds.pending-age, stale-age and unbound-age.
      pendingAge: [600, 3600],
      staleAge: [86400, 604800],
      unboundAge: [60, 600],
      stageAge: [self.stageAgeSeconds, 3600],
      load: [0.5, self.capacityShare],
      pageAge: [60, self.snapshotAgeSeconds],
      eventLag: [1, self.eventLagSeconds],
      watchSilence: [300, self.watchSilenceSeconds],
      leaseTtl: 2400,
      leaseSoon: 1200,
      snapshotAge: [1200, self.assetSnapshotAgeSeconds],
      // Steps of numbers of which less is worse: [orange from, green from].
      ready: [0.5, 1],
      leaseLeft: [0, self.leaseSoon],
      certificateLeft: [0, self.certificateSeconds],
    },
  },
}
