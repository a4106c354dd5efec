// How far templates have come on their way from a policy's match to health, where, and what holds them.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local stage = 'stage=~"$stage"', member = 'member_cluster=~"$member_cluster"';
  local delivery(stages, reasons='') = q.orZero(q.sum('karmada_templates_delivery', 'stage=~"%s"%s' % [stages, reasons]));
  local by_member = q.cluster('member_cluster');
  local at(stages) = q.sum('karmada_member_cluster_templates_stage', member + ', stage=~"%s"' % stages, by_member);
  local reached = 'undispatched|unapplied|undelivered|unhealthy|unreachable';
  local stepped(family) = 'sum by (%s) (%s) > 0' % [q.cluster('step, reason'), q.steps(p.stages, q.fold(family, stage))];
  local oldest = 'karmada_templates_stage_oldest_timestamp_seconds';
  kit.b.board('way', 'From match to healthy', 'How far templates have come from a policy that matches to health in every member cluster, and what holds the others.', [
    kit.b.variable('stage', 'Stage', 'karmada_templates_stage'),
    kit.b.variable('member_cluster', 'Member cluster', 'karmada_member_cluster_templates_stage'),
  ], [
    p.stat('Healthy', 'Of the templates with a binding, those whose newest version is healthy in all their member clusters, whatever their policies say now.', 'percentunit', '1 - (%s)' % q.orZero(q.share(q.sum('karmada_templates_delivery', 'stage!="healthy"'), q.sum('karmada_templates_delivery'))), good=limits.healthy),
    p.stat('Outdated', 'Templates whose binding is not what their policy says now. How far their deliveries have come counts on this board all the same.', 'short', q.orZero(q.sum('karmada_templates_stage', 'stage="outdated"')), limits=limits.any, link=p.to('Policy drift', 'drift')),
    p.stat('Last copy at risk', 'Templates whose only copy is deleted when its eviction times out, because no other cluster takes it.', 'short', q.orZero(q.sum('karmada_templates_last_copy_at_risk')), limits=limits.bad),
    p.stat('Not scheduled', 'Templates that the scheduler has not placed as they are now. Those that somebody suspended are left out.', 'short', delivery('unscheduled', ', reason!="suspended"'), limits=limits.bad, link=p.to('Capacity review', 'capacity')),
    p.stat('Not delivered', 'Templates that are scheduled, and that a member cluster has not got in their newest version. Those that somebody suspended are left out.', 'short', delivery('undispatched|unapplied|undelivered', ', reason!="suspended"'), limits=limits.any),
    p.stat('Not healthy', 'Templates that are delivered everywhere, and unhealthy somewhere or in a cluster that is not ready.', 'short', delivery('unhealthy|unreachable'), limits=limits.any),
    p.stat('On fallback', 'Templates that run in another group of their clusterAffinities than the first.', 'short', q.orZero(q.sum('karmada_templates_on_fallback')), limits=limits.any),
    p.stat('Changes suspended', 'Templates with a change that waits behind a suspension of dispatching or scheduling.', 'short', q.orZero(q.sum('karmada_templates_suspended', 'waiting="true"')), limits=limits.any),

    p.row('The way'),
    p.bars('Templates by stage', 'Each template is in one stage: the first that holds of these, from the top. All but the last one wait for something.', 'short', [
      p.query(q.orZero(q.sum('karmada_templates_stage', 'stage="%s"' % one)), one)
      for one in p.stages
    ], w=8, h=11, of='stage'),
    p.table(
      'Stages and reasons',
      'In the order of the way, the earliest first: how many templates are in a stage, and of how many the delivery is, which does not look at what their policies say now.',
      [p.clusterLabel, p.label('step', 'Stage'), p.label('reason', 'Reason', 190)],
      [
        p.value('Templates', 'short', stepped('karmada_templates_stage'), 95),
        p.value('Deliveries', 'short', stepped('karmada_templates_delivery'), 95),
      ],
      w=16,
      h=11,
      sort='step'
    ),

    p.row('Where, and since when'),
    p.table(
      'By member cluster',
      'How far templates have come in each cluster that they are to be in; the cluster with most that are not healthy first.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('Not healthy', 'short', q.orZeroOf(at(reached), at('.+')), 105, limits.any),
        p.value('Undispatched', 'short', at('undispatched') + ' > 0', 120, limits.any),
        p.value('Unapplied', 'short', at('unapplied') + ' > 0', 95, limits.bad),
        p.value('Undelivered', 'short', at('undelivered') + ' > 0', 110, limits.any),
        p.value('Unhealthy', 'short', at('unhealthy') + ' > 0', 95, limits.any),
        p.value('Unreachable', 'short', at('unreachable') + ' > 0', 110, limits.bad),
        p.value('Healthy', 'short', at('healthy'), 85),
      ],
      w=18,
      h=7
    ),
    p.bars('Not healthy by namespace', 'The ten namespaces with most templates that a policy has and that are in another stage than healthy. Namespaces beyond the limit of the exporter are left out.', 'short', 'topk(10, %s > 0)' % q.sum('karmada_namespace_templates_stage', 'namespace!="_others", stage!~"unmatched|healthy"', 'namespace'), '{{namespace}}', w=6, h=7),
    p.table(
      'Oldest by stage',
      'For how long the template that is in a stage the longest may have been there, where an object says so.',
      [p.clusterLabel, p.label('step', 'Stage')],
      [p.value('For', 's', 'max by (%s) (%s)' % [q.cluster('step'), q.steps(p.stages, 'time() - %s' % q.oldest(oldest, stage))], 85, limits.stageAge)],
      w=6,
      h=8,
      sort='step'
    ),
    p.table(
      'Evictions by producer and reason',
      'Bindings that are moved off a member cluster, by who decided it and why.',
      [p.clusterLabel, p.label('producer', 'Producer'), p.label('reason', 'Reason', 150)],
      [p.value('Bindings', 'short', q.sum('karmada_bindings_evicting', '', q.cluster('producer, reason')) + ' > 0', 80, limits.any)],
      w=11,
      h=8
    ),
    p.table(
      'At risk',
      'Templates that what is to come will hurt, whatever their stage says of now. One can be at risk in several ways.',
      [p.clusterLabel, p.label('risk', 'Risk')],
      [p.value('Templates', 'short', q.sum('karmada_templates_at_risk', '', q.cluster('risk')) + ' > 0', 85, limits.any)],
      w=7,
      h=8
    ),

    p.row('Over time'),
    p.series('Templates by stage over time', 'Each template is in exactly one stage; the stack is all of them but the healthy ones.', 'short', [p.query(q.sum('karmada_templates_stage', 'stage!="healthy", ' + stage, 'stage'), '{{stage}}')], h=10, stack=true, of='stage'),
    p.series('Deliveries by stage', 'How far the bindings of templates have come in their member clusters, whatever their policies say now; the stack is all but the healthy ones.', 'short', [p.query(q.sum('karmada_templates_delivery', 'stage!="healthy", ' + stage, 'stage'), '{{stage}}')], h=10, stack=true, of='stage'),
    p.series('Delivery delay', 'How long after its change a template was delivered in all its member clusters: median, 90th and 99th percentile.', 's', [
      p.query(q.quantile(0.5, 'karmada_template_delivery_delay_seconds'), 'median'),
      p.query(q.quantile(0.9, 'karmada_template_delivery_delay_seconds'), '90th percentile'),
      p.query(q.quantile(0.99, 'karmada_template_delivery_delay_seconds'), '99th percentile'),
    ], of='quantile'),
    p.series('Moved, held, second best', 'Templates that are being evicted, whose last copy is at risk, that run on a fallback, or that are suspended, with or without a change that waits.', 'short', [
      p.query(q.sum('karmada_templates_delivery', 'stage="evicting"'), 'evicting'),
      p.query(q.sum('karmada_templates_last_copy_at_risk'), 'last copy at risk'),
      p.query(q.sum('karmada_templates_on_fallback'), 'on fallback'),
      p.query(q.sum('karmada_templates_suspended', 'waiting="true"'), 'suspended, a change waits'),
      p.query(q.sum('karmada_templates_suspended', 'waiting="false"'), 'suspended, nothing waits'),
    ], overrides=[
      p.line('evicting', 'light-blue', width=8),
      p.line('last copy at risk', 'red', width=5),
      p.line('on fallback', 'purple', width=3),
      p.line('suspended, a change waits', 'orange', dashed=true, width=2),
      p.line('suspended, nothing waits', 'text'),
    ]),
  ])
