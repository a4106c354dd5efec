// Templates that stop on their way from binding to member cluster. What their policies say now is
// the matter of drift; here it counts what runs, so most of these look at the delivery.
function(k, config)
  local limit = config.thresholds;
  local delivery(matchers) = 'stage_reason:karmada_templates_delivery:max{%s}' % matchers;
  // Where many templates change a stage is never empty, and each is there for a moment only: as long
  // as the oldest came lately, its stage raises no alert.
  local lasting(expr) = |||
    %s
    unless %s stage:karmada_templates_stage_age_seconds:max <= %g
  ||| % [std.rstripChars(expr, '\n'), k.on(['stage']), limit.stageAgeSeconds];
  local clusters(matchers, same=[]) = k.names(
    'max by (member_cluster) (karmada_member_cluster_templates_stage{{of}%s}) > 0'
    % (if matchers == '' then '' else ', ' + matchers),
    same,
    'member_cluster',
    '{{ $row.Labels.member_cluster }} ({{ $row.Value }})',
    '. Member clusters with such templates:'
  );
  local place(stage) = [['stage', stage]];

  k.concern(
    'delivery',
    'Templates that stop on their way from binding to member cluster.',
    records=[
      k.record('stage_reason:karmada_templates_delivery:max', k.fold('karmada_templates_delivery', ['stage', 'reason'])),
      k.record('stage:karmada_templates_stage_age_seconds:max',
               k.age('karmada_templates_stage_oldest_timestamp_seconds', ['stage'])),
    ],
    alerts=[
      k.alert('TemplateLastCopyAtRisk', {
        cause: 'Karmada is about to delete the only copy',
        severity: 'critical',
        'for': '1m',
        board: 'way',
        page: '?problem=last_copy_at_risk',
        show: place('evicting'),
        expr: k.fold('karmada_templates_last_copy_at_risk') + ' > 0',
        summary: 'Karmada is about to delete the last copy of a template.',
        description: |||
          %s moved off the only member cluster, and no other cluster takes
          {{ if eq $value 1.0 }}it{{ else }}them{{ end }}: when the eviction times out, ten minutes after
          it began by default, the last copy is deleted.
        ||| % k.number('template is', 'templates are'),
      }),
      k.alert('TemplateEvictionStuck', {
        comment: 'Without the last copies: those have an alert of their own.',
        cause: 'a move off a member cluster does not end',
        severity: 'warning',
        'for': '2m',
        board: 'way',
        page: '?problem=eviction_stuck',
        show: place('evicting'),
        expr: lasting(delivery('stage="evicting", reason!="last_copy"') + ' > 0'),
        summary: 'Templates are moved off a member cluster, and the move does not end.',
        description: |||
          %s been on the move for minutes ({{ $labels.reason }}); when the eviction times out, ten minutes
          after it began by default, the old copies are deleted whether the new ones are healthy or not%s.
        ||| % [
          k.number('template has', 'templates have'),
          k.names('max by (producer, reason) (karmada_bindings_evicting{{of}}) > 0',
                  [],
                  'producer',
                  '{{ $row.Labels.producer }} {{ $row.Labels.reason }} ({{ $row.Value }})',
                  '. Evictions by producer and reason:'),
        ],
      }),
      k.alert('TemplateNoClusterFit', {
        cause: 'no member cluster fits: it runs nowhere',
        severity: 'critical',
        'for': '2m',
        board: 'way',
        page: '?problem=not_scheduled',
        show: place('unscheduled'),
        expr: delivery('stage="unscheduled", reason="no_cluster_fit"') + ' > 0',
        summary: 'No member cluster fits a template, and what ran of it is deleted.',
        description: |||
          %s no member cluster and {{ if eq $value 1.0 }}runs{{ else }}run{{ end }} nowhere, for Karmada
          deletes the copies of before, and it looks again only when a Cluster or the binding changes.
        ||| % k.number('template fits', 'templates fit'),
      }),
      k.alert('TemplateNotScheduled', {
        comment: |||
          Suspended is somebody's decision, and what fits no cluster has an alert of its own. A placement
          that was not taken up is told by itself only where the stages do not tell as much.
        |||,
        cause: 'the scheduler does not place a binding as it is now, also for a quota',
        severity: 'warning',
        'for': '10m',
        keep: '5m',
        board: 'way',
        page: '?problem=not_scheduled',
        show: place('unscheduled'),
        expr: |||
          max %(byReason)s (
          %(unscheduled)s
          )
          or
          %(placement)s
        ||| % {
          byReason: k.by(['reason']),
          unscheduled: k.indent(lasting(delivery('stage="unscheduled", reason!~"suspended|no_cluster_fit"') + ' > 0')),
          placement: k.tell('reason', 'placement_not_applied', |||
            %(bindings)s
            - (
              sum %(by)s (%(told)s)
              or
              0 * %(bindings)s
            ) > 0
          ||| % {
            bindings: k.total('karmada_bindings_not_rescheduled'),
            by: k.by(),
            told: delivery('stage="unscheduled"'),
          }),
        },
        summary: 'Templates are not scheduled as they are now.',
        description: k.choose('reason', [
          [['quota_exceeded'], |||
            %s exceed a FederatedResourceQuota of the namespace: what ran keeps its clusters and replicas,
            and what is new runs nowhere.
          ||| % k.number('template would', 'templates would')],
          [['placement_not_applied'], |||
            %s a placement that the scheduler has not taken up: the policy arrived, the member clusters have
            not changed.
          ||| % k.number('binding carries', 'bindings carry')],
          [[], |||
            %s a binding that the scheduler does not place as it is now ({{ $labels.reason }}): what is new
            runs nowhere, the rest as it did before.
          ||| % k.number('template has', 'templates have')],
        ]),
      }),
      k.alert('TemplateNotApplied', {
        cause: "a member cluster's API server refuses it, or has another object of its name",
        severity: 'warning',
        'for': '10m',
        keep: '5m',
        board: 'way',
        page: '?problem=not_delivered',
        show: place('unapplied'),
        expr: delivery('stage="unapplied"') + ' > 0',
        summary: 'A member cluster does not take a template.',
        description: |||
          %s not applied because %s%s.
        ||| % [
          k.number('template is', 'templates are'),
          k.choose('reason', [
            [['already_exists'], "an object of that name is there already and is not Karmada's"],
            [[], "the member cluster's API server refuses it"],
          ]),
          clusters('stage="unapplied"'),
        ],
      }),
      k.alert('TemplateNotDelivered', {
        comment: |||
          Neither suspended nor behind a cluster that is down. One that is outdated waits for its policy:
          that is told with the policy, not here again.
        |||,
        cause: 'scheduled, and ready member clusters have nothing or an older version',
        severity: 'warning',
        'for': '10m',
        keep: '5m',
        board: 'way',
        page: '?problem=not_delivered',
        show: ['stage'],
        expr: lasting(|||
          (
            %s
            or
            %s
            or
            %s
          ) > 0
        ||| % [
          delivery('stage="undispatched", reason!~"suspended|cluster_not_ready"'),
          delivery('stage="undelivered", reason!~"suspended|cluster_not_ready|waiting"'),
          k.fold('karmada_templates_stage', ['stage', 'reason'], 'stage="undelivered", reason="waiting"'),
        ]),
        summary: 'Templates are scheduled and do not reach their member clusters.',
        description: |||
          %s {{ $labels.stage }} ({{ $labels.reason }}): member clusters that are ready have %s%s.
        ||| % [
          k.number('template is', 'templates are'),
          k.choose('stage', [[['undispatched'], 'nothing of them'], [[], 'an older version']]),
          clusters('', ['stage']),
        ],
      }),
      k.alert('TemplatesOnFallback', {
        cause: 'templates stay in a fallback group of their placement',
        severity: 'warning',
        'for': '6h',
        board: 'way',
        page: 'templates',
        expr: k.fold('karmada_templates_on_fallback') + ' > 0',
        summary: 'Templates stay where their placement sends them as a fallback only.',
        description: |||
          %s run in another group of clusterAffinities than the first for six hours; Karmada does not move
          {{ if eq $value 1.0 }}it{{ else }}them{{ end }} back by itself.
        ||| % k.number('template has', 'templates have'),
      }),
    ]
  )
