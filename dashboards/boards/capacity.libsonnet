// Replicas that would move if Karmada applied all policies, the free capacity of member clusters, and
// the change since the last review. The time range of the link "The quarter" suits a printed review.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local member = 'member_cluster=~"$member_cluster"', by = q.cluster('member_cluster'), cores = p.cores;
  local of(resource) = member + ', resource="%s"' % resource;
  local replicas(movement, by='') = q.sum('karmada_placement_drift_replicas', '%s, movement=~"%s"' % [member, movement], by);
  local arriving(resource, by='') = shapes.arriving(of(resource), by);
  // Cluster-scoped policies and the row of all other policies have no namespace.
  local of_policy(movement) = q.record('karmada_policy:policy_placement_drift_replicas:topk', 'movement="%s", policy_namespace=~"$namespace|"' % movement, q.cluster(q.policy));
  local of_namespace(movement, resource) = q.record('karmada_policy:namespace_placement_drift_requests:topk', 'movement="%s", resource="%s", namespace=~"$namespace"' % [movement, resource], q.cluster('namespace'));
  local orphaned(resource, by='') = q.sum('karmada_orphaned_resource_requests', of(resource), by);

  // Growth of an hourly record since the last review.
  local since(record, matchers, by) = '%s - %s' % [q.recorded(record, matchers, by), q.recorded(record, matchers, by, '$review')];
  local moved(movement) = member + ', movement="%s"' % movement;
  local requested(movement, resource) = '%s, movement="%s"' % [of(resource), movement];
  local each_hour(title, description, unit, expr, legend, of=null, stack=false) = p.series(title, description, unit, [p.query(expr, legend)], w=12, h=7, of=of, stack=stack, points=800);
  kit.b.board('capacity', 'Capacity review of policy drift', 'Replicas on an outdated placement in each member cluster, their new placement, the free capacity there, and the change since the last review.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_policy:namespace_rank:topk'),
    kit.b.variable('member_cluster', 'Member cluster', 'karmada_member_cluster_allocatable'),
    kit.b.choice('review', 'Last review', kit.config.reviews),
  ], [
    shapes.problems(
      'Capacity problems',
      'Open problems of member clusters without room for the replicas that would arrive, and of templates of the selected namespaces on forbidden member clusters.',
      shapes.named(['drift_exceeds_capacity', 'forbidden_placement']),
      h=7
    ),

    shapes.problem('drift_exceeds_capacity', 'Resources without room', 'Pairs of a member cluster and a resource of which arriving replicas request more than 80 % of the capacity that is free or becomes free: open problems drift_exceeds_capacity. This number does not depend on the selected namespaces.', w=6, namespaced=false),
    shapes.problem('forbidden_placement', 'Forbidden placements', 'Templates of the selected namespaces that run in a member cluster that their policy no longer allows.', w=6),
    p.stat('Replicas in drift', 'Replicas of all namespaces on an outdated placement, in their current member cluster: staying, leaving and undetermined replicas.', 'short', q.orZero(replicas('staying|leaving|undetermined')), w=6, limits=limits.any, link=p.list('Policies', '/policies')),
    p.stat('Arriving', 'Replicas of all namespaces that would arrive in a member cluster if Karmada applied all policies. Undetermined replicas do not count.', 'short', q.orZero(replicas('arriving')), w=6, link=p.list('Policies', '/policies')),
    p.stat('Undetermined replicas', 'Replicas of all namespaces for which only the scheduler can determine the new member cluster. They count as staying until then.', 'short', q.orZero(replicas('undetermined')), w=6, limits=limits.any, link=p.list('Policies', '/policies')),
    p.stat('Tightest cluster', 'Largest share of the free CPU, memory or pods of a member cluster that arriving replicas request.', 'percentunit', q.orZeroOfRules('max(%s)' % shapes.load(member + ', ' + shapes.fits)), w=6, limits=limits.load, link=p.list('Problems drift_exceeds_capacity', '/?problem=drift_exceeds_capacity')),
    p.stat('CPU arriving', 'Cores that arriving replicas request.', cores, q.orZeroOfRules(arriving('cpu')), w=6, link=p.list('Policies', '/policies')),
    p.stat('Memory arriving', 'Memory that arriving replicas request.', 'bytes', q.orZeroOfRules(arriving('memory')), w=6, link=p.list('Policies', '/policies')),

    p.row('Member clusters'),
    p.table(
      'Arriving over free',
      'Requests of arriving replicas and free capacity of each member cluster. Free is allocatable capacity without the requests of running pods and of pods under way. Above 100 % the replicas do not fit. The rules record these numbers once a minute.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('Most', 'percentunit', 'max by (%s) (%s)' % [by, shapes.load(member + ', ' + shapes.fits)], 90, limits.load),
      ] + [
        column
        for r in [['CPU', 'cpu', cores], ['Memory', 'memory', 'bytes'], ['Pods', 'pods', 'short']]
        for column in [
          p.value(r[0] + ' arriving', r[2], arriving(r[1], by), 135),
          p.value(r[0] + ' free', r[2], shapes.free(of(r[1]), by), 115),
          p.value(r[0], 'percentunit', shapes.load(of(r[1]), by), 85, limits.load),
        ]
      ],
      h=7
    ),
    p.table(
      'Replicas by member cluster',
      'Replicas of templates with an outdated placement. Now: staying, leaving and undetermined. Then: staying, arriving and undetermined. Forbidden replicas are leaving or undetermined.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('Now', 'short', replicas('staying|leaving|undetermined', by), 70),
        p.value('Staying', 'short', replicas('staying', by), 80),
        p.value('Leaving', 'short', replicas('leaving', by), 80),
        p.value('Forbidden', 'short', q.sum('karmada_placement_drift_forbidden_replicas', member, by), 95, limits.bad),
        p.value('Undetermined', 'short', replicas('undetermined', by), 120, limits.any),
        p.value('Arriving', 'short', replicas('arriving', by), 85),
        p.value('Then', 'short', replicas('staying|arriving|undetermined', by), 70),
      ],
      w=16,
      h=7
    ),
    p.bars('Undetermined templates by reason', 'Templates with an outdated placement for which only the scheduler can determine the new member cluster, by reason.', 'short', q.sum('karmada_placement_drift_undetermined_templates', '', 'reason'), '{{reason}}', w=8, h=7),

    p.row('Policies and namespaces'),
    p.table(
      'Policies that move replicas',
      'The 50 policies that move most replicas when Karmada applies them. Policies beyond the limit of the exporter are one row. The rules record them once a minute.',
      p.policyLabels(),
      [
        p.value('Arriving', 'short', of_policy('arriving') + ' > 0', 80, limits.any),
        p.value('Leaving', 'short', of_policy('leaving') + ' > 0', 75),
        p.value('Undetermined', 'short', of_policy('undetermined') + ' > 0', 115, limits.any),
      ],
      w=13,
      h=8,
      empty='No policy moves a replica. If the numbers of this board show "no data", no exporter has current data.'
    ),
    p.table(
      'Namespaces with most moving pods',
      'Requests of arriving replicas and leaving pods of the 20 namespaces with most moving pods. The rules record them once a minute.',
      [p.clusterLabel, p.label('namespace', 'Namespace', null, p.to('Problems of this namespace', 'overview', '&var-namespace=${__value.text}'))],
      [
        p.value('CPU arriving', cores, of_namespace('arriving', 'cpu') + ' > 0', 110),
        p.value('Memory arriving', 'bytes', of_namespace('arriving', 'memory') + ' > 0', 130),
        p.value('Pods leaving', 'short', of_namespace('leaving', 'pods') + ' > 0', 105),
      ],
      w=11,
      h=8,
      empty='No pod would move. If the numbers of this board show "no data", no exporter has current data.'
    ),
    p.table(
      'Requests of orphaned templates',
      'Requests of templates that still run in member clusters, although no policy governs them. The allocated capacity includes them.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('CPU', cores, orphaned('cpu', by) + ' > 0', 110),
        p.value('Memory', 'bytes', orphaned('memory', by) + ' > 0', 110),
        p.value('Pods', 'short', orphaned('pods', by) + ' > 0', 80),
      ],
      w=10,
      h=7,
      empty='No orphaned template has requests.'
    ),
    p.series('Replicas in drift by movement', 'Replicas of templates with an outdated placement, of all namespaces.', 'short', [p.query(replicas('.+', 'movement'), '{{movement}}')], w=14, h=7, of='movement'),

    p.row('Since the last review'),
    p.text('Source of these numbers', 'The variable Last review, and the records that the tables below compare.', |||
      The variable **Last review** sets the time of the last review. The rules of the group `review` record these
      numbers once an hour. A table shows a change only if the records are as old as the last review.
    |||, w=24, h=4),
    p.table(
      'Member clusters since the last review',
      'Arriving replicas and free capacity in the last hourly record, and their growth since the last review.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('Arriving', 'short', q.recorded('karmada_policy:placement_drift_replicas:1h', moved('arriving'), by), 85),
        p.value('Arriving, change', 'short', since('karmada_policy:placement_drift_replicas:1h', moved('arriving'), by), 140),
        p.value('CPU arriving', cores, q.recorded('karmada_policy:placement_drift_requests:1h', requested('arriving', 'cpu'), by), 110),
        p.value('CPU arriving, change', cores, since('karmada_policy:placement_drift_requests:1h', requested('arriving', 'cpu'), by), 170),
        p.value('CPU free', cores, q.recorded('karmada_policy:member_cluster_free:1h', of('cpu'), by), 105),
        p.value('CPU free, change', cores, since('karmada_policy:member_cluster_free:1h', of('cpu'), by), 145),
        p.value('Memory free', 'bytes', q.recorded('karmada_policy:member_cluster_free:1h', of('memory'), by), 110),
        p.value('Memory free, change', 'bytes', since('karmada_policy:member_cluster_free:1h', of('memory'), by), 170),
      ],
      h=7
    ),
    p.table(
      'Stale templates since the last review',
      'Stale templates in the last hourly record by reason and phase, and their growth since the last review.',
      [p.clusterLabel, p.label('reason', 'Reason'), p.label('phase', 'Phase', 100)],
      [
        p.value('Templates', 'short', q.recorded('karmada_policy:templates_stale:1h', '', q.cluster('reason, phase')) + ' > 0', 95),
        p.value('Templates, change', 'short', since('karmada_policy:templates_stale:1h', '', q.cluster('reason, phase')), 150),
      ],
      w=12,
      h=7
    ),
    p.table(
      'States since the last review',
      'Templates in the last hourly record by state, and their growth since the last review.',
      [p.clusterLabel, p.label('state', 'State')],
      [
        p.value('Templates', 'short', q.recorded('karmada_policy:templates:1h', '', q.cluster('state')), 95),
        p.value('Templates, change', 'short', since('karmada_policy:templates:1h', '', q.cluster('state')), 150),
      ],
      w=12,
      h=7
    ),

    p.row('The quarter'),
    each_hour('Replicas by movement, recorded', 'Replicas of templates with an outdated placement, recorded once an hour.', 'short', q.recorded('karmada_policy:placement_drift_replicas:1h', member, 'movement'), '{{movement}}', of='movement'),
    each_hour('CPU arriving, recorded', 'Cores that arriving replicas request, by member cluster, recorded once an hour.', cores, q.recorded('karmada_policy:placement_drift_requests:1h', requested('arriving', 'cpu'), 'member_cluster'), '{{member_cluster}}', stack=true),
    each_hour('CPU free, recorded', 'Free cores by member cluster, recorded once an hour.', cores, q.recorded('karmada_policy:member_cluster_free:1h', of('cpu'), 'member_cluster'), '{{member_cluster}}', stack=true),
    each_hour('Memory free, recorded', 'Free memory by member cluster, recorded once an hour.', 'bytes', q.recorded('karmada_policy:member_cluster_free:1h', of('memory'), 'member_cluster'), '{{member_cluster}}', stack=true),
    each_hour('Stale templates by reason, recorded', 'Stale templates by reason, recorded once an hour.', 'short', q.recorded('karmada_policy:templates_stale:1h', '', 'reason'), '{{reason}}', of='reason', stack=true),
    each_hour('Age of the oldest stale template, recorded', 'Age of the oldest overdue template and of the oldest template that waits for its user, recorded once an hour.', 's', 'max by (phase) (last_over_time(%s[%s]))' % [q.raw('karmada_policy:stale_age_seconds:1h'), kit.config.reviewGap], '{{phase}}', of='phase'),
  ], links=[{
    type: 'link',
    title: 'The quarter',
    tags: [],
    asDropdown: false,
    includeVars: true,
    keepTime: false,
    icon: 'dashboard',
    targetBlank: false,
    tooltip: 'This board with the last 90 days',
    url: '/d/%scapacity?from=now-90d&to=now' % kit.config.uidPrefix,
  }], from='now-24h')
