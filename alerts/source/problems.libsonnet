// Alerts about open problems. The exporter judges what is wrong, how long it must last, and which problem
// explains which: these rules select problems, merge replicas and shards, and group.
function(k, config)
  local table = import 'problem_table.libsonnet';
  local problems = 'karmada_policy_namespace_problems';
  local since = 'karmada_policy_problem_since_timestamp_seconds';
  local up = 'karmada_policy_exporter_up';
  local snapshot = 'karmada_policy_exporter_snapshot_timestamp_seconds';
  local current = 'karmada_policy:replica_current:min';
  local counted = 'karmada_policy:replica_counted:min';
  local counts = 'karmada_policy:namespace_problems:sum';
  // Labels that the subject and its policy give to an alert.
  local subject = ['api_group', 'kind', 'namespace', 'name', 'policy_kind', 'policy_namespace', 'policy', 'owner'];
  local group = ['namespace', 'problem', 'severity', 'reason'];

  // ---- records: replicas and shards merged

  // Each shard reports these problems of the control plane or of a member cluster.
  local in_each_shard = 'problem=~"controllers_stuck|scheduler_stuck|member_cluster_unavailable|data_incomplete"';
  // Rows of the replicas that count, as they are now; those of five minutes ago while a scrape fails.
  local of_counted(family, matchers='') = |||
    (
      %(now)s
      or
      (%(last)s unless %(replica)s %(up)s)
    )
    and %(replica)s %(counted)s
  ||| % {
    now: k.series(family, matchers),
    last: k.last(family, matchers),
    replica: k.on(config.replicaLabels),
    up: up,
    counted: counted,
  };
  local merged(with, by, expr) = '%s %s (\n%s\n)' % [with, by, k.indent(expr)];
  local records = [
    k.record(current, |||
      (
        min %(by)s (%(up)s) == 1
        unless %(on)s %(synced)s == 0
        unless %(on)s %(page)s == %(earlier)s
      )
      or
      0 * min %(by)s (%(up)s)
    ||| % {
      by: k.by(config.replicaLabels),
      on: k.on(config.replicaLabels),
      up: k.last(up),
      synced: k.last('karmada_policy_exporter_watch_synced', k.essential),
      page: k.last(snapshot),
      earlier: k.last(snapshot, ago='10m'),
    }, 'A replica is current if it has policies and bindings, and renews its page. The clock of the replica does not matter.'),
    k.record(counted, |||
      %(current)s == 1
      or
      (%(current)s + 1 unless %(plane)s %(current)s == 1)
    ||| % { current: current, plane: k.on() }, 'The current replicas of a shard count; all of them if none is current.'),
    k.record(counts, k.any([
      merged('sum', k.by_plane(group), merged('max', k.by(group), of_counted(problems, std.strReplace(in_each_shard, '=~', '!~')))),
      merged('max', k.by_plane(group), of_counted(problems, in_each_shard)),
    ])),
    k.record(k.starts, merged('min', k.by_plane(['problem', 'severity', 'reason', 'actor'] + subject), of_counted(since))),
  ];

  // ---- alerts

  local boards = {
    KarmadaDependencyPolicyConflict: 'conflicts',
    KarmadaPolicyNotInForce: 'drift',
    KarmadaLastCopyAtRisk: 'delivery',
    KarmadaPlacementLost: 'delivery',
    KarmadaMemberClusterUnavailable: 'delivery',
    KarmadaNotScheduled: 'delivery',
    KarmadaNotDelivered: 'delivery',
    KarmadaEvictionStuck: 'delivery',
    KarmadaCloudResourceConflict: 'leases',
    KarmadaLeaseAtRisk: 'leases',
  };
  // Longer than the observation after a restart of the exporter: 3 minutes for these problems, else 10 minutes.
  local keep = { KarmadaLastCopyAtRisk: '5m', KarmadaPlacementLost: '5m' };
  local each = {
    subject: 'subject',
    namespace: 'namespace, problem, reason',
    reason: 'problem, reason',
    problem: 'problem',
  };
  local info = 'severity="info"', other = 'severity!="info"';

  local expression(alert, severity) =
    // A site can lower any problem to info.
    local matchers = if severity == info then '{%s}' % info
    else '{problem=~"%s", %s}' % [std.join('|', [p.name for p in alert.problems]), severity];
    if alert.by == 'subject' then 'min %s (%s%s)' % [k.by_plane(['problem', 'severity'] + subject), k.starts, matchers]
    else if alert.by == 'namespace' then counts + matchers + ' > 0'
    else '%s %s (%s%s) > 0' % [
      if alert.by == 'reason' then 'max' else 'sum',
      k.by_plane(['problem', 'severity'] + [label for label in ['reason'] if alert.by == 'reason']),
      counts,
      matchers,
    ];

  // Labels of the alert that select the rows of its subjects.
  local labels_of(alert) =
    [config.clusterLabel, 'job', 'problem']
    + (if alert.by == 'subject' then ['api_group', 'kind', 'namespace', 'name']
       else if alert.by == 'namespace' then ['namespace', 'reason']
       else if alert.by == 'reason' then ['reason']
       else []);
  local actions(alert, reason) = k.choose('problem', [
    [[p.name], k.choose_of(reason, [
      [[r.name], k.action(r)]
      for r in p.reasons
    ])]
    for p in alert.problems
  ]);
  // Title or anchor of the problem: its name with other separators.
  local words(alert, with, of) =
    assert [p for p in alert.problems if p[of] != std.strReplace(p.name, '_', with)] == [] : of;
    if std.length(alert.problems) == 1 then alert.problems[0][of]
    else '{{ reReplaceAll "_" "%s" $labels.problem }}' % with;
  local title(alert) = words(alert, ' ', 'title');
  // These alerts are about many problems: the description has no action of each.
  local is_review(alert) = alert.name == 'KarmadaPolicyReview' || alert.name == 'KarmadaPolicyProblem';
  local description(alert) =
    if alert.by == 'subject' then
      '{{ with %s }}{{ with . | first }}%s: %s{{ with .Labels.reason }} ({{ . }}){{ end }}. %s{{ end }}{{ end }}' % [
        k.rows(labels_of(alert)),
        k.object,
        title(alert),
        actions(alert, '.Labels.reason'),
      ]
    else
      '{{ printf "%%.0f" $value }} open: %s' % title(alert)
      + (if alert.by == 'problem' then '' else '{{ with $labels.reason }} ({{ . }}){{ end }}')
      + (if alert.by != 'namespace' then ''
         else '{{ with $labels.namespace }} in {{ if eq . "_others" }}other namespaces{{ else }}namespace {{ . }}{{ end }}{{ end }}')
      + (if alert.by == 'namespace' then k.oldestInNamespace(labels_of(alert), counts) else k.oldest(labels_of(alert))) + '. '
      + (if is_review(alert) then 'The page of the exporter lists cause and action of each problem.' else actions(alert, '$labels.reason'));

  local has_namespace(alert) = alert.by == 'subject' || alert.by == 'namespace';
  // A namespace that stands for others is no filter.
  local in_namespace(alert, name) =
    if !has_namespace(alert) then ''
    else '{{ with $labels.namespace }}{{ if ne . "_others" }}&%s={{ . }}{{ end }}{{ end }}' % name;
  local rule(alert) =
    local board = std.get(boards, alert.name, 'overview');
    k.alert(std.substr(alert.name, 7, std.length(alert.name)), {
      problems: if alert.name == 'KarmadaPolicyReview' then 'all of severity `info`'
      else if alert.name == 'KarmadaPolicyProblem' then 'problems that have no alert in the rows above, and whose severity `--problems.severity` raised'
      else std.join(', ', ['`%s`' % p.name for p in alert.problems]),
      each: each[alert.by],
      severities: std.join(', ', std.set([
        if alert.name == 'KarmadaPolicyProblem' then 'as set' else p.severity
        for p in alert.problems
      ])),
      keep: std.get(keep, alert.name, '15m'),
      board: board,
      more: (if board == 'overview' then '&var-problem={{ $labels.problem }}' else '') + in_namespace(alert, 'var-namespace'),
      page: '?problem={{ $labels.problem }}' + in_namespace(alert, 'namespace'),
      anchor: words(alert, '-', 'doc'),
      expr: expression(alert, if alert.name == 'KarmadaPolicyReview' then info else other),
      summary: alert.summary,
      description: description(alert),
    });

  k.concern(
    'problems',
    'Open problems, as the exporter evaluates them.',
    // The alert about incomplete data is one of the exporter's own.
    [rule(alert) for alert in table.alerts if alert.name != 'KarmadaPolicyExporterDataIncomplete'],
    records
  )
