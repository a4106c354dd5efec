// Alerts about the exporter: no replica has current data, a replica is not well, or the data is incomplete.
function(k, config)
  local limit = config.thresholds;
  local families = import 'families.libsonnet';
  local table = import 'problem_table.libsonnet';
  local up = 'up{%s}' % k.job;
  local replica = config.replicaLabels;
  local current = 'karmada_policy:replica_current:min';
  local sums = 'karmada_policy:replica_family:sum';
  local seen = 'karmada_policy:exporter_seen:max';
  local counts = 'karmada_policy:namespace_problems:sum';
  local own(name) = 'karmada_policy_exporter_' + name;
  local open = 'karmada_policy_problems';
  // Families of each page.
  local shown = families + [own('up'), open];
  // Replicas may open a problem at different times.
  local compared = k.series(sums, 'family!="%s"' % open);
  local why(reason, expr) = k.tell('reason', reason, expr);
  local texts(rows) = k.choose('reason', [[[row[0]], row[2]] for row in rows]);
  // A time stamp of a replica that did not advance within 10 minutes. Its clock and that of Prometheus may differ.
  local stopped(name) =
    'max %s (abs(%s - %s)) < 30' % [k.by(replica), k.last(own(name)), k.last(own(name), ago='10m')];

  // ---- no replica has current data

  // Control planes that are not decommissioned.
  local planes = std.join(', ', ['%s!="%s"' % [config.clusterLabel, name] for name in config.decommissioned]);
  local blind = [
    // A pod that moves is another target of the same control plane. Where only the exporter's families arrive, as
    // with federation, there is no `up`.
    ['absent', |||
      (
        max %(by)s (last_over_time(%(seen)s[7d]))
        unless max %(by)s (%(up)s)
        unless max %(by)s (%(recently)s)
      )
      or
      label_replace(absent_over_time(%(ever)s[7d]), "job", "%(job)s", "", "")
    ||| % {
      by: k.by(),
      seen: k.series(seen, planes),
      ever: seen,
      job: config.jobName,
      up: up,
      recently: k.last(own('up')),
    }, |||
      Prometheus has no target that is a karmada-policy-exporter. Check that it is deployed and discovered; add a
      removed control plane to the setting "decommissioned" of the rules.
    |||],
    // A replica that starts, exceeds its memory limit and starts again answers for moments only.
    ['down', |||
      max %(by)s (%(up)s) == 0
      or
      (max %(by)s (%(last)s) == 0 and min %(by)s (min_over_time(%(up)s[10m])) == 0)
    ||| % { by: k.by(), up: up, last: k.last(own('up')) }, |||
      Prometheus can scrape no replica, or only for short times. Check the pods, their memory limit, network policies and certificates.
    |||],
    ['not_synced', |||
      max %(by)s (%(last)s)
      unless %(on)s (
        %(last)s == 1
        unless %(same)s %(synced)s == 0
      )
    ||| % {
      by: k.by(),
      on: k.on(),
      same: k.on(replica),
      last: k.last(own('up')),
      synced: k.last(own('watch_synced'), k.essential),
    }, |||
      No replica has read policies and bindings. Check the log and /-/ready of the exporter, its rights, and the API server.
    |||],
    // A replica without policies or bindings does not count here, although it renews its page.
    ['snapshot_old', 'max %s (%s) == 0' % [k.by(), current], |||
      No replica with policies and bindings has updated its metrics page for 10 minutes. Restart the exporter, and keep its log.
    |||],
    ['families_missing', |||
      (
        (%(number)d - count %(by)s (count %(by_family)s (%(sums)s)))
        or
        %(number)d * max %(by)s (%(up)s)
        or
        %(number)d * max %(by)s (%(last)s)
      ) > 0
      and %(on)s (max %(by)s (%(last)s) or max %(by)s (%(up)s)) == 1
      unless %(on)s max %(by)s (%(late)s) > 0
      or %(on)s
      max %(by)s (%(open)s) > 0
      unless %(on)s (max %(by)s (%(rows)s) and %(on)s max %(by)s (%(starts)s))
    ||| % {
      open: k.last(sums, 'family="%s"' % open),
      rows: k.last('karmada_policy_namespace_problems'),
      starts: k.last('karmada_policy_problem_since_timestamp_seconds'),
      number: std.length(shown),
      sums: sums,
      up: up,
      by: k.by(),
      by_family: k.by(['family']),
      on: k.on(),
      last: k.last(own('up')),
      late: k.last(own('watch_late')),
    }, |||
      Families of the exporter that alerts need are missing in Prometheus. Check metric_relabel_configs of the scrape, and
      --metrics.problem-limit of the exporter.
    |||],
  ];

  // ---- incomplete data

  local data_incomplete = [p for a in table.alerts for p in a.problems if p.name == 'data_incomplete'][0];
  local disagree = |||
    max %(by)s (
      max %(family)s (min_over_time(%(sums)s[10m]) %(throughout)s)
      - min %(family)s (max_over_time(%(sums)s[10m]) %(throughout)s)
    ) > 0
  ||| % {
    // A replica that started within these minutes may be ahead of the others for a scrape.
    throughout: 'and %s and %s offset 10m' % [compared, compared],
    by: k.by(),
    family: k.by(['family']),
    sums: compared,
  };
  local objects = k.oldest([config.clusterLabel, 'job', 'problem', 'reason']);
  local incomplete =
    [
      [r.name, '', k.action(r, 'owner of the files')]
      for r in data_incomplete.reasons
    ]
    + [['replicas_disagree', '', |||
      Replicas of one exporter have differed by {{ $value }} in one family for 10 minutes. Compare the rights, flags and logs of the replicas;
      if they read different control planes, give them different labels.
    |||]];

  // ---- one replica

  local each = k.by(replica), same = k.on(replica);
  local others_current = '%s max %s (%s) == 1' % [k.on(), k.by(), current];
  local degraded = [
    ['replica_down', |||
      max %(each)s (%(up)s) == 0
      and %(on)s max %(by)s (%(up)s) > 0
    ||| % { each: each, up: up, on: k.on(), by: k.by() }, |||
      Prometheus cannot scrape {{ $labels.instance }}. Another replica can be scraped. Check the pod and its log.
    |||],
    ['never_ready', |||
      max %(each)s (max_over_time(%(ready)s[20m])) == 0
      and %(same)s max %(each)s (%(last)s) == 0
      and %(same)s max %(each)s (%(before)s) == 0
      and %(others)s
    ||| % {
      each: each,
      same: same,
      ready: own('up'),
      last: k.last(own('up')),
      before: k.last(own('up'), ago='15m'),
      others: others_current,
    }, |||
      {{ $labels.instance }} has not read policies and bindings since its start. Another replica has. Check its /-/ready and log.
    |||],
    // Starts of processes in the same pods, and of new pods.
    ['restarting', |||
      sum %(by)s (
        max %(each)s (changes(%(start)s[1h]))
        + (max %(each)s (min_over_time(%(start)s[1h])) > bool time() - 3600)
      ) > %(limit)g
    ||| % { by: k.by(), each: each, start: 'process_start_time_seconds{%s}' % k.job, limit: limit.restartsPerHour }, |||
      The exporter started {{ $value }} times within an hour. Check its memory limit, its liveness probe, and the log of the previous
      container.
    |||],
    ['config_reload_failed', |||
      %s == 0
      or
      %s == 0
    ||| % [
      k.fold(own('config_last_reload_successful'), replica, with='min'),
      k.fold(own('web_config_valid'), replica, with='min'),
    ], |||
      {{ $labels.instance }} rejected its latest configuration; the previous one stays in force. Fix the file that its log names.
    |||],
    ['notifications_failing', |||
      sum %(labels)s (increase(%(family)s{result="failed"}[15m])) > 0
      unless %(on)s sum %(labels)s (increase(%(family)s{result="sent"}[15m])) > 0
    ||| % {
      labels: k.by(replica + ['alertmanager']),
      on: k.on(replica + ['alertmanager']),
      family: own('alertmanager_notifications_total'),
    }, |||
      {{ $labels.instance }} has sent no alert to {{ $labels.alertmanager }} for 15 minutes. Check the address, the token and the certificate
      of that Alertmanager.
    |||],
    ['certificate_expiring', |||
      %s - time() < %g
    ||| % [k.fold(own('web_certificate_not_after_timestamp_seconds'), replica, with='min'), limit.certificateSeconds], |||
      The certificate of {{ $labels.instance }} {{ if lt $value 0.0 }}has expired{{ else }}expires in {{ $value | humanizeDuration }}{{ end }}.
      Renew it; the exporter reads the new file without a restart.
    |||],
    ['loop_stuck', '%s\nor\n%s' % [
      stopped(name)
      for name in ['loop_heartbeat_timestamp_seconds', 'snapshot_timestamp_seconds']
    ], |||
      {{ $labels.instance }} can be scraped, but has not evaluated objects or updated its metrics page for 10 minutes. Restart it, and keep its log.
    |||],
    ['event_lag', |||
      histogram_quantile(0.99, sum %s (
        rate(%s[10m])
      )) > %g
    ||| % [k.by(replica + ['le']), own('event_lag_seconds_bucket'), limit.eventLagSeconds], |||
      1 % of changes need more than {{ $value | humanizeDuration }} to appear on the page of {{ $labels.instance }}. Give the exporter more CPU.
    |||],
    ['log_dropped', 'sum %s (increase(%s[15m])) > 0' % [each, own('log_lines_dropped_total')], |||
      {{ $labels.instance }} dropped %s of its log within 15 minutes, because standard error did not accept them. Check the reader of its log.
    ||| % k.number('line', 'lines')],
    ['connections_refused', 'sum %s (increase(%s{reason!~".*_timeout"}[15m])) > %g' % [
      each,
      own('connections_refused_total'),
      limit.connectionsRefused,
    ], |||
      {{ $labels.instance }} refused or closed %s within 15 minutes, because HTTP clients use all connections that it allows. Find the clients in its
      log.
    ||| % k.number('connection', 'connections')],
  ];

  local alert(short, what) = k.alert(short, { board: 'exporter', page: 'exporter' } + what);

  k.concern(
    'exporter',
    'The exporter itself: whether its problems are current, complete, and reported by all replicas.',
    records=[
      k.record(
        sums,
        |||
          label_replace(
            sum %s ({__name__=~"%s"}),
            "family", "$1", "__name__", "(.+)"
          )
          and %s %s == 1
        ||| % [k.by(replica + ['__name__']), std.join('|', shown), k.on(replica), current],
        'Each family of the current replicas: to detect missing families, and to compare replicas.'
      ),
    ],
    // An alert reads seven days of this record each minute: a sample each five minutes is enough.
    seldom=[
      k.record(
        seen,
        'max %s (%s)\nor\nmax %s (%s)' % [k.by(), up, k.by(), k.last(own('up'))],
        'Control planes with an exporter, to detect a missing exporter.'
      ),
    ],
    alerts=[
      alert('PolicyExporterBlind', {
        comment: 'One row for a control plane and shard: the first reason that holds.',
        problems: 'no replica has current policies and bindings: ' + std.join(', ', ['`%s`' % row[0] for row in blind]),
        each: 'shard, reason',
        severity: 'critical',
        'for': '10m',
        expr: k.first([why(row[0], row[1]) for row in blind]),
        summary: 'The exporter reports no problems of a control plane, because it has no current data.',
        description: 'No alert about policies{{ with $labels.%s }} of {{ . }}{{ end }} is reliable. %s' % [config.clusterLabel, texts(blind)],
      }),
      alert('PolicyExporterDataIncomplete', {
        problems: '`data_incomplete`; `replicas_disagree`',
        each: 'reason',
        severities: 'warning',
        keep: '15m',
        expr: |||
          max %s (%s{problem="data_incomplete", severity!="info"}) > 0
          or
          %s
        ||| % [
          k.by_plane(['problem', 'severity', 'reason']),
          counts,
          k.tell('severity', 'warning', why('replicas_disagree', disagree)),
        ],
        summary: 'The exporter cannot read all of its data.',
        description: '{{ if ne $labels.reason "replicas_disagree" }}%s not read completely ({{ $labels.reason }})%s. {{ end }}%s'
                     % [k.number('source is', 'sources are'), objects, texts(incomplete)],
      }),
      alert('PolicyExporterDegraded', {
        comment: 'Each replica by itself, as long as Prometheus has it as a target.',
        problems: 'one replica: ' + std.join(', ', ['`%s`' % row[0] for row in degraded]),
        each: 'instance, pod, reason (`restarting`: shard, reason)',
        severity: 'warning',
        'for': '10m',
        keep: '15m',
        expr: k.any([why(row[0], row[1]) for row in degraded]),
        summary: 'A replica of the exporter does not work as it should.',
        description: texts(degraded),
      }),
    ]
  )
