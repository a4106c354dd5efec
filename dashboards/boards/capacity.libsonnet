// What sits on an outdated placement, where it would go, whether it fits, and how that changed since
// the last review. Made to be printed.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local member = 'member_cluster=~"$member_cluster"', by = q.cluster('member_cluster'), cores = p.cores;
  local of(resource) = member + ', resource="%s"' % resource;
  local replicas(movement, by='') = q.sum('karmada_placement_drift_replicas', '%s, movement=~"%s"' % [member, movement], by);
  local arriving(resource, by='') = shapes.requests('arriving', of(resource), by);
  local of_policy(movement) = q.sum('karmada_propagationpolicy_placement_drift_replicas', 'movement=~"%s"' % movement, q.cluster(q.policy));
  local of_namespace(movement, resource) = q.sum('karmada_namespace_placement_drift_resource_requests', 'movement=~"%s", resource="%s"' % [movement, resource], q.cluster('namespace'));
  local orphaned(resource, by='') = q.sum('karmada_orphaned_resource_requests', of(resource), by);

  // What was recorded each hour: now, and how much more it is than at the last review.
  local since(record, matchers, by) = '%s - %s' % [q.recorded(record, matchers, by), q.recorded(record, matchers, by, '$review')];
  local moved(movement) = member + ', movement="%s"' % movement;
  local requested(movement, resource) = '%s, movement="%s"' % [of(resource), movement];
  local each_hour(title, description, unit, expr, legend, of=null, stack=false) = p.series(title, description, unit, [p.query(expr, legend)], w=12, h=7, of=of, stack=stack, points=800);
  kit.b.board('capacity', 'Capacity review of policy drift', 'How much sits on an outdated placement in each member cluster, where the policies would send it now, whether it fits there, and how that changed since the last review.', [
    kit.b.variable('member_cluster', 'Member cluster', 'karmada_member_cluster_allocatable'),
    kit.b.choice('review', 'Last review', kit.config.reviews),
  ], [
    p.stat('Replicas in drift', 'Replicas of templates whose placement drifts, where they are assigned now: those that stay, leave, or are undetermined.', 'short', q.orZero(replicas('staying|leaving|undetermined')), limits=limits.any, link=p.to('Policy drift', 'drift')),
    p.stat('Arriving', 'Replicas that would come to a member cluster once drift is applied, as far as it is determined.', 'short', q.orZero(replicas('arriving'))),
    p.stat('Forbidden', "Replicas on member clusters that the governing policy's affinity no longer means.", 'short', q.orZero(q.sum('karmada_placement_drift_forbidden_replicas', member)), limits=limits.bad),
    p.stat('Undetermined', 'Replicas of which only the scheduler knows where they will be: they count as staying until it decides.', 'short', q.orZero(replicas('undetermined')), limits=limits.any),
    p.stat('Tightest cluster', 'The largest share of what is free in a member cluster, of CPU, memory or pods, that would arrive once all drift is applied, as far as it is determined.', 'percentunit', q.orZero('max(%s)' % shapes.load(member + ', ' + shapes.fits)), limits=limits.load),
    p.stat('CPU arriving', 'Cores that arriving replicas request.', cores, q.orZero(arriving('cpu'))),
    p.stat('Memory arriving', 'Memory that arriving replicas request.', 'bytes', q.orZero(arriving('memory'))),
    p.stat('CPU of orphans', 'Cores that templates hold which no policy governs any more. They are in no other number of this board.', cores, q.orZero(orphaned('cpu'))),

    p.row('Does it fit'),
    p.table(
      'Arriving over free',
      'What drift would bring to each member cluster beside what is free there: what the cluster has for pods, less what they request, less what is on its way to it. Past 100% drift cannot be applied as it stands.',
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
      'Of templates whose placement drifts. Now is what stays, leaves and is undetermined; then is what stays, arrives and is undetermined. Forbidden is part of what leaves or is undetermined.',
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
    p.bars('Why it is undetermined', 'Templates in drift whose assignment under the governing policy only the scheduler knows, by reason.', 'short', q.sum('karmada_placement_drift_undetermined_templates', '', 'reason'), '{{reason}}', w=8, h=7),

    p.row('Whose it is'),
    p.table(
      'Policies to roll out or to revert',
      'Replicas that follow when a policy is applied to all of its templates. Beyond the limit of the exporter the others are one row.',
      p.policyLabels(),
      [
        p.value('Arriving', 'short', q.orZeroOf(of_policy('arriving'), of_policy('.+')), 80, limits.any),
        p.value('Leaving', 'short', q.orZeroOf(of_policy('leaving'), of_policy('.+')), 75),
        p.value('Undetermined', 'short', of_policy('undetermined') + ' > 0', 115, limits.any),
      ],
      w=13,
      h=8,
      empty='No placement drifts.'
    ),
    p.table(
      'Namespaces',
      'What the templates of a namespace request where they would arrive, and how many pods leave.',
      [p.clusterLabel, p.label('namespace', 'Namespace', null, p.to('Problems of this namespace', 'overview', '&var-namespace=${__value.text}'))],
      [
        p.value('CPU arriving', cores, q.orZeroOf(of_namespace('arriving', 'cpu'), of_namespace('.+', 'cpu')), 110),
        p.value('Memory arriving', 'bytes', of_namespace('arriving', 'memory') + ' > 0', 130),
        p.value('Pods leaving', 'short', of_namespace('leaving', 'pods') + ' > 0', 105),
      ],
      w=11,
      h=8,
      empty='No placement drifts.'
    ),
    p.table(
      'Orphans',
      'What templates request that no policy governs any more, and that run on. It is no drift, and part of what is allocated.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('CPU', cores, orphaned('cpu', by) + ' > 0', 110),
        p.value('Memory', 'bytes', orphaned('memory', by) + ' > 0', 110),
        p.value('Pods', 'short', orphaned('pods', by) + ' > 0', 80),
      ],
      w=10,
      h=7,
      empty='There are no orphans that request anything.'
    ),
    p.series('Replicas in drift by movement', 'Of templates whose placement drifts, over the time shown.', 'short', [p.query(replicas('.+', 'movement'), '{{movement}}')], w=14, h=7, of='movement'),

    p.row('Since the last review'),
    p.text('How to read this', 'Where these numbers come from, and what they need.', |||
      **Last review** above says how long ago it was. What follows is recorded once an hour by the bundled
      group `review`, so that a year is cheap. A number has a change beside it once records reach back that
      far.
    |||, w=6, h=7),
    p.table(
      'Member clusters since the last review',
      'What would arrive and what is free by the last record, and how much more that is than at the last review.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('Arriving', 'short', q.recorded('karmada_policy:placement_drift_replicas:1h', moved('arriving'), by), 85),
        p.value('more', 'short', since('karmada_policy:placement_drift_replicas:1h', moved('arriving'), by), 65),
        p.value('CPU arriving', cores, q.recorded('karmada_policy:placement_drift_requests:1h', requested('arriving', 'cpu'), by), 110),
        p.value('more CPU', cores, since('karmada_policy:placement_drift_requests:1h', requested('arriving', 'cpu'), by), 100),
        p.value('CPU free', cores, q.recorded('karmada_policy:member_cluster_free:1h', of('cpu'), by), 105),
        p.value('more CPU free', cores, since('karmada_policy:member_cluster_free:1h', of('cpu'), by), 120),
        p.value('Memory free', 'bytes', q.recorded('karmada_policy:member_cluster_free:1h', of('memory'), by), 110),
        p.value('more free', 'bytes', since('karmada_policy:member_cluster_free:1h', of('memory'), by), 90),
      ],
      w=18,
      h=7
    ),
    p.table(
      'Stale templates since the last review',
      'Why templates are stale by the last record, and how many more that are than at the last review.',
      [p.clusterLabel, p.label('reason', 'Reason'), p.label('phase', 'Phase', 100)],
      [
        p.value('Templates', 'short', q.recorded('karmada_policy:templates_stale:1h', '', q.cluster('reason, phase')) + ' > 0', 95),
        p.value('more', 'short', since('karmada_policy:templates_stale:1h', '', q.cluster('reason, phase')), 70),
      ],
      w=12,
      h=7
    ),
    p.table(
      'States since the last review',
      'How many templates are in each state by the last record, and how many more that are than at the last review.',
      [p.clusterLabel, p.label('state', 'State')],
      [
        p.value('Templates', 'short', q.recorded('karmada_policy:templates:1h', '', q.cluster('state')), 95),
        p.value('more', 'short', since('karmada_policy:templates:1h', '', q.cluster('state')), 70),
      ],
      w=12,
      h=7
    ),

    p.row('The quarter'),
    each_hour('Replicas by movement, recorded', 'Of templates whose placement drifts, as recorded each hour.', 'short', q.recorded('karmada_policy:placement_drift_replicas:1h', member, 'movement'), '{{movement}}', of='movement'),
    each_hour('CPU arriving, recorded', 'Cores that drift would bring, by member cluster, as recorded each hour.', cores, q.recorded('karmada_policy:placement_drift_requests:1h', requested('arriving', 'cpu'), 'member_cluster'), '{{member_cluster}}', stack=true),
    each_hour('CPU free, recorded', 'Cores that pods could still request, by member cluster, as recorded each hour.', cores, q.recorded('karmada_policy:member_cluster_free:1h', of('cpu'), 'member_cluster'), '{{member_cluster}}', stack=true),
    each_hour('Memory free, recorded', 'Memory that pods could still request, by member cluster, as recorded each hour.', 'bytes', q.recorded('karmada_policy:member_cluster_free:1h', of('memory'), 'member_cluster'), '{{member_cluster}}', stack=true),
    each_hour('Stale templates by reason, recorded', 'Why templates are stale, as recorded each hour.', 'short', q.recorded('karmada_policy:templates_stale:1h', '', 'reason'), '{{reason}}', of='reason', stack=true),
    each_hour('Age of the oldest stale template, recorded', 'For how long the oldest was stale, of those that are overdue and of those that wait by design, as recorded each hour.', 's', 'max by (phase) (last_over_time(%s[%s]))' % [q.raw('karmada_policy:stale_age_seconds:1h'), kit.config.reviewGap], '{{phase}}', of='phase'),
  ], links=[{
    type: 'link',
    title: 'The quarter',
    tags: [],
    asDropdown: false,
    includeVars: true,
    keepTime: false,
    icon: 'dashboard',
    targetBlank: false,
    tooltip: 'The last 90 days, as a capacity review wants them',
    url: '/d/%scapacity?from=now-90d&to=now' % kit.config.uidPrefix,
  }], from='now-24h')
