// Whether the numbers that the other alerts look at can be believed: nothing is seen, what is seen may
// be wrong, or the exporter is not well and what it says is right.
function(k, config)
  local limit = config.thresholds;
  local up = 'up{%s}' % k.job;
  local ready = k.fold('karmada_policy_exporter_up');
  // How many resources have it, on the replica that has most.
  local resources(expr) = 'count %s (\n%s\n)' % [k.by(), k.indent(expr)];
  local grown_by_resource(counter, over, limit) =
    resources(k.grown(counter, over, ['resource']) + ' > ' + limit);
  local listed(query) = k.names(query, [], 'resource', '{{ $row.Labels.resource }}', ':');
  // Policies and bindings, without which nothing is known. Other kinds only leave something out.
  local essential = 'resource%s"(cluster)?propagationpolicy.policy.karmada.io|(cluster)?resourcebinding.work.karmada.io"';
  local is_essential = essential % '=~', is_other = essential % '!~';
  local of(counter, over, matchers='', limit=0) =
    listed('sum by (resource) (increase(%s{{of}%s}[%s])) > %s' % [counter, matchers, over, limit]);
  local why(reason, expr) = k.tell('reason', reason, expr);

  local blind = [
    // The first half knows the control plane that vanished, for a day; the second only that nothing
    // was ever there. A pod that moves is another target of the same control plane.
    ['absent', |||
      max %(by)s (last_over_time(%(up)s[1d]))
      unless max %(by)s (%(up)s)
      or
      absent_over_time(%(up)s[1d])
    ||| % { by: k.by(), up: up }, |||
      Prometheus has no target that is a karmada-policy-exporter: it is not deployed, or not discovered
    |||],
    // One that starts, runs into its memory limit and starts again does not answer, all in all.
    ['down', |||
      max %(by)s (%(up)s) == 0
      or
      %(ready)s == 0
      and min %(by)s (min_over_time(%(up)s[10m])) == 0
    ||| % { by: k.by(), up: up, ready: ready }, |||
      no karmada-policy-exporter answers Prometheus, or it does so for moments only
    |||],
    ['not_synced', ready + ' == 0', |||
      no replica has read all that it needs, so they show no numbers about policies
    |||],
    ['families_missing', |||
      %s > 0
      unless (
        %s
        and %s
        and %s
      )
    ||| % [
      ready,
      k.fold('karmada_dependency_conflicts'),
      k.fold('karmada_templates'),
      k.fold('karmada_policy_exporter_threshold_seconds'),
    ], |||
      the exporter is up, yet Prometheus lacks karmada_templates, karmada_dependency_conflicts or
      karmada_policy_exporter_threshold_seconds of it: probably a relabelling or a limit of the scrape
      drops them
    |||],
    ['snapshot_stale', '%s\n> %g' % [
      'time() - ' + k.fold('karmada_policy_exporter_snapshot_timestamp_seconds'),
      limit.snapshotAgeSeconds,
    ], |||
      the freshest page that any replica serves is {{ $value | humanizeDuration }} old: the exporter
      hangs, or its clock is wrong
    |||],
    ['watch_not_synced', resources(k.fold('karmada_policy_exporter_watch_synced', ['resource'], is_essential) + ' == 0'), |||
      no replica has a complete list of %s, so what is said about policies and bindings is old or missing%s
    ||| % [
      k.number('resource', 'resources'),
      listed('max by (resource) (karmada_policy_exporter_watch_synced{{of}, %s}) == 0' % is_essential),
    ]],
  ];

  local incomplete = [
    ['watch_late', resources(k.fold('karmada_policy_exporter_watch_late', ['resource']) + ' > 0'), |||
      A replica has given up waiting for %s, and what depends on it is left out of its numbers%s.
    ||| % [k.number('resource', 'resources'), listed('max by (resource) (karmada_policy_exporter_watch_late{{of}}) > 0')]],
    // A late resource is told of above: it has not been read either.
    ['watch_not_synced', resources('%s == 0\nunless %s %s > 0' % [
      k.fold('karmada_policy_exporter_watch_synced', ['resource'], is_other),
      k.on(['resource']),
      k.fold('karmada_policy_exporter_watch_late', ['resource']),
    ]), |||
      No replica has a complete list of %s, so what is said about these is old or missing%s.
    ||| % [
      k.number('resource', 'resources'),
      listed('max by (resource) (karmada_policy_exporter_watch_synced{{of}, %s}) == 0'
             % is_other
             + ' unless on (resource) max by (resource) (karmada_policy_exporter_watch_late{{of}}) > 0'),
    ]],
    ['watch_silent', resources('%s\n> %g' % [
      'time() - ' + k.fold('karmada_policy_exporter_watch_last_event_timestamp_seconds', ['resource']),
      limit.watchSilenceSeconds,
    ]), |||
      Nothing came on the watch of %s for a quarter of an hour, not even a bookmark; the connection is
      probably dead%s.
    ||| % [
      k.number('resource', 'resources'),
      listed('time() - max by (resource) (karmada_policy_exporter_watch_last_event_timestamp_seconds{{of}}) > %s'
             % limit.watchSilenceSeconds),
    ]],
    ['watch_restarts', grown_by_resource('karmada_policy_exporter_watch_restarts_total{reason!="ended"}', '15m', limit.watchRestarts), |||
      The watch of %s breaks again and again, so changes come late; the API server or a proxy before it
      ends them%s.
    ||| % [k.number('resource', 'resources'), of('karmada_policy_exporter_watch_restarts_total', '15m', ', reason!="ended"', limit.watchRestarts)]],
    ['lists_failing', resources(|||
      max %(by)s (
        sum %(each)s (increase(karmada_policy_exporter_list_request_failures_total[15m]))
        / (sum %(each)s (increase(karmada_policy_exporter_list_requests_total[15m])) > 0)
      ) > %(share)g
    ||| % { by: k.by(['resource']), each: k.by(['instance', 'resource']), share: limit.listFailureShare }), |||
      Lists of %s fail; most often a right is missing, or the API server is overloaded%s.
    ||| % [k.number('resource', 'resources'), of('karmada_policy_exporter_list_request_failures_total', '15m')]],
    ['decode_errors', grown_by_resource('karmada_policy_exporter_decode_errors_total', '15m', 0), |||
      Objects of %s could not be understood; their versions before count on%s.
    ||| % [k.number('resource', 'resources'), of('karmada_policy_exporter_decode_errors_total', '15m')]],
    ['objects_rejected', grown_by_resource('karmada_policy_exporter_objects_rejected_total', '15m', 0), |||
      Objects of %s are too large to be looked at; their versions before count on%s.
    ||| % [k.number('resource', 'resources'), of('karmada_policy_exporter_objects_rejected_total', '15m')]],
    ['manifest_errors', k.fold('karmada_policy_exporter_manifest_errors') + ' > 0', |||
      %s cannot be read any more; what was read last still counts.
    ||| % k.number('manifest file', 'manifest files')],
    ['audit_diverged', grown_by_resource('karmada_policy_exporter_audit_divergences_total', '30m', 0), |||
      Objects of %s were other than the API server has them, and have been read again; what was said of
      them until then was wrong%s.
    ||| % [k.number('resource', 'resources'), of('karmada_policy_exporter_audit_divergences_total', '30m')]],
    // While much changes, replicas scraped at other moments differ; so what one counted at least
    // within ten minutes is held against what another counted at most. Who is gone does not count.
    ['replicas_disagree', |||
      max %(by)s (
        max %(state)s (min_over_time(instance_state:karmada_templates:sum[10m]) and instance_state:karmada_templates:sum)
        - min %(state)s (max_over_time(instance_state:karmada_templates:sum[10m]) and instance_state:karmada_templates:sum)
      ) > 0
    ||| % { by: k.by(), state: k.by(['state']) }, |||
      Replicas differ by %s in one state; one of them does not see what the other sees.
    ||| % k.number('template', 'templates')],
  ];

  local replica = ['instance'];
  local degraded = [
    ['replica_down', |||
      max %s (%s) == 0
      and %s max %s (%s) > 0
    ||| % [k.by(replica), up, k.on(), k.by(), up], |||
      {{ $labels.instance }} cannot be scraped; another replica still answers, but there is no spare any
      more.
    |||],
    ['restarting', |||
      max %s (changes(process_start_time_seconds{%s}[1h])) > %g
    ||| % [k.by(replica), k.job, limit.restartsPerHour], |||
      {{ $labels.instance }} started {{ $value }} times within an hour; it probably runs into its memory
      limit or its liveness probe.
    |||],
    [
      'config_reload_failed',
      k.fold('karmada_policy_exporter_config_last_reload_successful', replica, with='min') + ' == 0',
      |||
        {{ $labels.instance }} failed to read its last configuration; the one before stays in force.
      |||,
    ],
    ['event_lag', |||
      histogram_quantile(0.99, sum %s (
        rate(karmada_policy_exporter_event_lag_seconds_bucket[10m])
      )) > %g
    ||| % [k.by(replica + ['le']), limit.eventLagSeconds], |||
      One of a hundred changes waits {{ $value | humanizeDuration }} or longer until
      {{ $labels.instance }} shows it.
    |||],
    ['loop_stuck', |||
      %s
      > %g
    ||| % [
      'time() - ' + k.fold('karmada_policy_exporter_loop_heartbeat_timestamp_seconds', replica),
      limit.heartbeatAgeSeconds,
    ], |||
      {{ $labels.instance }} answers, but has read and evaluated nothing for
      {{ $value | humanizeDuration }}.
    |||],
    ['log_dropped', k.grown('karmada_policy_exporter_log_lines_dropped_total', '15m', replica) + ' > 0', |||
      {{ $labels.instance }} dropped %s of its log within a quarter of an hour: standard error does
      not accept them.
    ||| % k.number('line', 'lines')],
    ['connections_refused', '%s\n> %g' % [
      k.grown('karmada_policy_exporter_connections_refused_total', '15m', replica, 'reason!~".*_timeout"'),
      limit.connectionsRefused,
    ], |||
      {{ $labels.instance }} refused %s within a quarter of an hour, or ended them to make room: HTTP
      clients take all that there are.
    ||| % k.number('connection', 'connections')],
  ];
  local texts(table) = k.choose('reason', [[[row[0]], row[2]] for row in table]);

  k.concern(
    'exporter',
    'Whether the numbers that the other alerts look at can be believed.',
    records=[
      k.record('instance_state:karmada_templates:sum', 'sum %s (karmada_templates)' % k.by(['instance', 'state'])),
    ],
    alerts=[
      k.alert('PolicyExporterBlind', {
        comment: 'One row for a control plane: of the reasons that hold the first one.',
        each: 'reason',
        problems: 'nothing true is known of the policies of a control plane',
        severity: 'critical',
        'for': '10m',
        board: 'exporter',
        page: 'exporter',
        expr: k.first([why(row[0], row[1]) for row in blind]),
        summary: 'Nothing is known about the policies of a control plane.',
        description: |||
          Alerts about policies{{ with $labels.%s }} of {{ . }}{{ end }} are blind: %s.
        ||| % [config.clusterLabel, texts(blind)],
      }),
      k.alert('PolicyExporterDataIncomplete', {
        each: 'reason',
        problems: 'numbers may be wrong, or leave something out',
        severity: 'warning',
        'for': '10m',
        keep: '15m',
        board: 'exporter',
        page: 'exporter',
        expr: k.alive(k.any([why(row[0], row[1]) for row in incomplete])),
        summary: 'What is said about policies may be wrong or leave something out.',
        description: texts(incomplete),
      }),
      k.alert('PolicyExporterDegraded', {
        comment: 'Each replica by itself, as long as Prometheus has it as a target.',
        each: 'reason',
        problems: 'a replica is not well, and what is said is still right',
        severity: 'warning',
        'for': '10m',
        keep: '10m',
        board: 'exporter',
        page: 'exporter',
        expr: |||
          (
          %s
          )
          and %s %s
        ||| % [k.indent(k.any([why(row[0], row[1]) for row in degraded])), k.on(replica), up],
        summary: 'A replica of the karmada-policy-exporter is not well.',
        description: texts(degraded),
      }),
    ]
  )
