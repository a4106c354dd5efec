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
    // Groups of rules; each is a file in alerts/source.
    groups: { problems: true, exporter: true, boards: true, review: true },

    // ---- limits, of both

    // What alerts compare with, but for how long a template may be stale, pending or unbound: those
    // are flags of the exporter (--thresholds.*), which shows them as
    // karmada_policy_exporter_threshold_seconds, so that each control plane has its own.
    thresholds: {
      // How long a template may be in a stage that is a moment of every rollout, or of every move.
      stageAgeSeconds: 300,
      // What drift would bring to a member cluster, as a share of what is free there.
      capacityShare: 0.8,
      // How old the asset inventory may be: as long as a lease of Config Connector lasts. Where it is
      // exported less often, raise this; the exporter judges no leases by an older one.
      assetSnapshotAgeSeconds: 2400,
      // How old the numbers of the exporter may be; it renews them several times a minute.
      snapshotAgeSeconds: 120,
      // 99 of 100 changes are on the page by then.
      eventLagSeconds: 2,
      // Starts of all replicas of one exporter within an hour.
      restartsPerHour: 6,
      // A certificate of the exporter that expires earlier than in 7 days.
      certificateSeconds: 604800,
      // Connections that are refused, or ended for others, within a quarter of an hour.
      connectionsRefused: 100,
      // An API server sends a bookmark about once a minute, so a watch is never silent for long.
      watchSilenceSeconds: 900,

      // From where on numbers of the boards are coloured: [orange, red]. What alerts compare with is the
      // same number here as there.
      any: [1, null],  // One is worth a look.
      bad: [null, 1],  // One is wrong.
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
      // What should be all, and is worse the less it is: [orange, green].
      ready: [0.5, 1],
      leaseLeft: [0, self.leaseSoon],
    },
  },
}
