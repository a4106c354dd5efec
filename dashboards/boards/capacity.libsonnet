// What sits on an outdated placement, where it would go, and whether it fits. Made to be printed.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local member = 'member_cluster=~"$member_cluster"';
  local by = q.cluster('member_cluster');
  local of(resource) = member + ', resource="%s"' % resource;
  local free(resource) = '(%s - %s)' % [
    q.sum('karmada_member_cluster_allocatable', of(resource), by),
    q.sum('karmada_member_cluster_allocated', of(resource), by),
  ];
  local before(resource) = q.sum('karmada_stale_resource_requests', of(resource), by);
  local after(resource) = q.sum('karmada_stale_projected_resource_requests', of(resource), by);
  // What comes on top of what is there already; all of it where nothing is.
  local incoming(resource) = 'clamp_min((%s) - (%s) or (%s), 0)' % [after(resource), before(resource), after(resource)];
  // Over what is free; the smallest amount instead of nothing, so that a full cluster shows as such.
  local load(resource, least) = '%s / on (%s) clamp_min(%s, %s)' % [incoming(resource), by, free(resource), least];
  kit.b.board('capacity', 'Capacity review of policy drift', 'How much sits on an outdated placement in each member cluster, where the policies would send it now, and whether it fits there.', [
    kit.b.variable('member_cluster', 'Member cluster', 'karmada_member_cluster_allocatable'),
  ], [
    p.stat('Replicas on outdated policy', 'Replicas of stale templates, where they are assigned now.', 'short', q.orZero(q.sum('karmada_stale_replicas', member)), limits=limits.any, link=p.to('Policy drift', 'drift')),
    p.stat('On forbidden clusters', "Of those, replicas on member clusters that the governing policy's affinity no longer means.", 'short', q.orZero(q.sum('karmada_stale_forbidden_replicas', member)), limits=limits.bad),
    p.stat('CPU on outdated policy', 'Cores that the replicas of stale templates request.', 'short', q.orZero(q.sum('karmada_stale_resource_requests', of('cpu')))),
    p.stat('Memory on outdated policy', 'Memory that the replicas of stale templates request.', 'bytes', q.orZero(q.sum('karmada_stale_resource_requests', of('memory')))),
    p.stat('Tightest cluster', 'The largest share of the free CPU of a member cluster that would come on top once all drift is applied, as far as it is determined.', 'percentunit', q.orZero('max(%s)' % load('cpu', '0.001')), limits=limits.load),
    p.stat('Undetermined', 'Stale templates whose assignment under the governing policy only the scheduler knows. They are in no projection on this board.', 'short', q.sum('karmada_stale_undetermined_templates'), limits=limits.any),

    p.row('By member cluster'),
    p.table(
      'Balance',
      'Replicas and requests of stale templates where they are now and where the policies would send them, beside what is free. "Free" is what the cluster has for pods less what pods have requested.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('Replicas now', 'short', q.sum('karmada_stale_replicas', member, by), 120),
        p.value('Forbidden', 'short', q.sum('karmada_stale_forbidden_replicas', member, by), 100, limits.bad),
        p.value('Replicas then', 'short', q.sum('karmada_stale_projected_replicas', member, by), 120),
        p.value('CPU now', 'short', before('cpu'), 100),
        p.value('CPU then', 'short', after('cpu'), 100),
        p.value('CPU free', 'short', free('cpu'), 100),
        p.value('Memory now', 'bytes', before('memory'), 120),
        p.value('Memory then', 'bytes', after('memory'), 120),
        p.value('Memory free', 'bytes', free('memory'), 120),
      ],
      h=7
    ),
    p.bars('Incoming CPU over free CPU', 'What would come on top, as a share of what is free; past 100% the drift cannot be applied as it stands.', 'percentunit', load('cpu', '0.001'), '{{member_cluster}}', limits=limits.load, max=1),
    p.bars('Incoming memory over free memory', 'What would come on top, as a share of what is free; past 100% the drift cannot be applied as it stands.', 'percentunit', load('memory', '1'), '{{member_cluster}}', limits=limits.load, max=1),

    p.row('Over time'),
    p.series('Replicas on outdated policy', 'Replicas of stale templates by the member cluster that they are assigned to now.', 'short', [p.query(q.sum('karmada_stale_replicas', member, 'member_cluster'), '{{member_cluster}}')], stack=true),
    p.series('Replicas where policies would send them', 'The same replicas by the member cluster that the governing policy would assign them to, as far as it is determined.', 'short', [p.query(q.sum('karmada_stale_projected_replicas', member, 'member_cluster'), '{{member_cluster}}')], stack=true),
    p.series('Free CPU', 'Cores that pods could still request, by member cluster.', 'short', [p.query('sum by (member_cluster) (%s)' % free('cpu'), '{{member_cluster}}')]),
    p.bars('Why it is undetermined', 'Stale templates whose assignment under the governing policy only the scheduler knows, by reason.', 'short', q.sum('karmada_stale_undetermined_templates', '', 'reason'), '{{reason}}'),

    p.row('By policy and namespace'),
    p.table(
      'Policies to roll out or to revert',
      'Policies with stale templates, by how many; the replicas above are those of these templates.',
      p.policyLabels,
      [p.value('Templates', 'short', q.sum('karmada_templates_stale', '', q.cluster(q.policy)) + ' > 0', 100, limits.any)],
      w=14
    ),
    p.bars('Stale templates by namespace', 'Whose they are: the fifteen namespaces with most stale templates.', 'short', 'topk(15, %s > 0)' % q.sum('karmada_namespace_templates', 'state="stale"', 'namespace'), '{{namespace}}', w=10),
  ], links=[{
    type: 'link',
    title: 'Last 90 days',
    tags: [],
    asDropdown: false,
    includeVars: true,
    keepTime: false,
    icon: 'dashboard',
    targetBlank: false,
    tooltip: 'The quarter, as a capacity review wants it',
    url: '/d/%scapacity?from=now-90d&to=now' % kit.config.uidPrefix,
  }], from='now-24h')
