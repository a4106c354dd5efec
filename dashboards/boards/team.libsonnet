// What a team has to know of its namespaces: how its templates are, what waits, what it moves.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local mine = 'namespace=~"$namespace"', policies = 'policy_namespace=~"$namespace"', by = q.cluster('namespace');
  local states(of, by='') = q.sum('karmada_namespace_templates', '%s, state=~"%s"' % [mine, of], by);
  local stages(of, by='') = q.sum('karmada_namespace_templates_stage', '%s, stage=~"%s"' % [mine, of], by);
  local requests(movement, resource, by='') = q.sum('karmada_namespace_placement_drift_resource_requests', '%s, movement=~"%s", resource="%s"' % [mine, movement, resource], by);
  local considered = states('current|stale|orphaned|pending|unbound|attached');
  local stale = q.sumAboveZero('karmada_templates_stale', policies, q.cluster(q.policy));
  kit.b.board('team', 'Team', 'How the templates of the chosen namespaces are: what is in force, what waits, what has not arrived, what it would move.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_namespace_templates'),
  ], [
    p.stat('Templates', 'Resource templates of the chosen namespaces.', 'short', q.orZero(states('.+'))),
    p.stat('Healthy', 'Of the templates that Karmada considers, those that are in all their member clusters in their newest version, healthy, and as their policy says.', 'percentunit', '1 - (%s)' % q.orZero('(%s - (%s)) / clamp_min(%s, 1)' % [considered, q.orZero(stages('healthy')), considered]), good=limits.healthy),
    p.stat('Stale', 'Templates that are bound by something else than what governs them now.', 'short', q.orZero(states('stale')), limits=limits.any, link=p.to('Policy drift', 'drift')),
    p.stat('Pending', 'Templates that no policy governs and nothing else propagates: they are in no member cluster.', 'short', q.orZero(states('pending')), limits=limits.any, link=p.to('Pending and coverage', 'pending', '&${namespace:queryparam}')),
    p.stat('Unbound', 'Templates that a policy governs and that have no binding yet.', 'short', q.orZero(states('unbound')), limits=limits.any),
    p.stat('Not delivered', 'Templates that the scheduler has not placed, or that a member cluster has not got in their newest version.', 'short', q.orZero(stages('evicting|unscheduled|undispatched|unapplied|undelivered')), limits=limits.any, link=p.to('From match to healthy', 'way')),
    p.stat('Not healthy', 'Templates that are delivered everywhere, and unhealthy somewhere or in a cluster that is not ready.', 'short', q.orZero(stages('unhealthy|unreachable')), limits=limits.any),
    p.stat('CPU arriving', 'Cores that would be requested elsewhere once the placements that policies say now are applied.', p.cores, q.orZero(requests('arriving', 'cpu')), link=p.to('Capacity review', 'capacity')),

    p.row('What waits, and where'),
    p.table(
      'Templates by state',
      'Each template is in exactly one state.',
      [p.clusterLabel, p.label('namespace', 'Namespace')],
      [
        p.value('Stale', 'short', q.orZeroOf(states('stale', by) + ' > 0', states('.+', by)), 70, limits.any),
        p.value('Pending', 'short', states('pending', by) + ' > 0', 80, limits.any),
        p.value('Unbound', 'short', states('unbound', by) + ' > 0', 85, limits.any),
        p.value('Orphaned', 'short', states('orphaned', by) + ' > 0', 90, limits.any),
        p.value('Attached', 'short', states('attached', by) + ' > 0', 85),
        p.value('Current', 'short', states('current', by) + ' > 0', 80),
        p.value('All', 'short', states('.+', by), 60),
      ],
      w=13,
      h=11
    ),
    p.bars('The way of templates', 'Each template is in one stage: the first that holds of these, from the top. All but the last one wait for something.', 'short', [
      p.query(q.orZero(stages(one)), one)
      for one in p.stages
    ], w=11, h=11, of='stage'),
    p.table(
      'Policies of the namespaces that are not in force',
      'Policies that are in the chosen namespaces; cluster-wide ones are on the board Policy drift.',
      p.policyLabels(),
      [
        p.value('Overdue', 'short', q.orZeroOf(q.sumAboveZero('karmada_templates_stale', policies + ', phase="overdue"', q.cluster(q.policy)), stale), 85, limits.bad),
        p.value('Stale', 'short', stale, 70, limits.any),
      ],
      w=13,
      h=8,
      empty='Every policy of these namespaces is in force.'
    ),
    p.table(
      'Alerts about policies of the namespaces',
      'From the group of alerts by policy, which is off by default. The others are about a control plane as a whole and name the worst.',
      [p.clusterLabel, p.label('alertname', 'Alert'), p.label('policy', 'Policy', 150, none='all others'), p.label('severity', 'Severity', 90)],
      [p.value('Series', 'short', 'max by (%s) (%s)' % [q.cluster('alertname, policy, severity'), q.alerts('alertstate="firing", policy!="", ' + policies)])],
      w=11,
      h=8,
      hidden=true,
      empty='None by policy. See the board Overview for the alerts of the control plane.'
    ),
    p.table(
      'Stale templates',
      'One row for each. Empty unless the exporter runs with --metrics.opt-in; then at most as many rows as its detail limit.',
      [p.clusterLabel, p.label('phase', 'Phase', 90), p.label('namespace', 'Namespace', 110), p.label('kind', 'Kind', 110), p.label('name', 'Name'), p.label('reason', 'Reason', 145)],
      [p.value('Rows', 'short', q.sum('karmada_template_stale_info', mine, q.cluster('namespace, kind, name, reason, phase')))],
      w=13,
      hidden=true,
      sort='phase',
      desc=true,
      empty='None; or the exporter runs without --metrics.opt-in.'
    ),
    p.table(
      'Pending templates',
      'One row for each. Empty unless the exporter runs with --metrics.opt-in; then at most as many rows as its detail limit.',
      [p.clusterLabel, p.label('namespace', 'Namespace', 110), p.label('kind', 'Kind', 110), p.label('name', 'Name'), p.label('reason', 'Reason', 120)],
      [p.value('Rows', 'short', q.sum('karmada_template_pending_info', mine, q.cluster('namespace, kind, name, reason')))],
      w=11,
      hidden=true,
      empty='None; or the exporter runs without --metrics.opt-in.'
    ),
    p.table(
      'What would move',
      'What the templates of a namespace request where they would arrive, and where they leave or only the scheduler knows, once placements that policies say now are applied.',
      [p.clusterLabel, p.label('namespace', 'Namespace')],
      [
        p.value('CPU arriving', p.cores, q.orZeroOf(requests('arriving', 'cpu', by), requests('.+', 'cpu', by)), 110),
        p.value('Memory arriving', 'bytes', requests('arriving', 'memory', by) + ' > 0', 130),
        p.value('Pods arriving', 'short', requests('arriving', 'pods', by) + ' > 0', 105),
        p.value('leaving', 'short', requests('leaving', 'pods', by) + ' > 0', 75),
        p.value('undetermined', 'short', requests('undetermined', 'pods', by) + ' > 0', 110),
      ],
      w=13,
      h=7,
      empty='No placement of these namespaces drifts.'
    ),
    p.table(
      'Dependencies in conflict',
      'One row for each dependency of the chosen namespaces and field on which policies disagree, with the value that results.',
      [p.clusterLabel, p.label('kind', 'Kind', 100), p.label('name', 'Name'), p.label('field', 'Field', 215), p.label('resolved', 'Resolved to', 100)],
      [p.value('Rows', 'short', q.sum('karmada_dependency_conflict_info', mine, q.cluster('kind, name, field, resolved')))],
      w=11,
      h=7,
      hidden=true,
      sort='name',
      empty='No dependency of these namespaces is in conflict.'
    ),

    p.row('Over time'),
    p.series('Templates by state over time', 'Each template of the chosen namespaces is in exactly one state; the stack is all of them.', 'short', [p.query(states('.+', 'state'), '{{state}}')], stack=true, of='state', rows=true),
    p.series('Templates that are not healthy by stage', 'How far those have come that are not healthy yet everywhere; each is in one stage.', 'short', [p.query(q.sum('karmada_namespace_templates_stage', mine + ', stage!="healthy"', 'stage'), '{{stage}}')], stack=true, of='stage', rows=true),
  ])
