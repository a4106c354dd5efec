// Stages of templates from the match of a policy to health in all member clusters.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local member = 'member_cluster=~"$member_cluster"';
  local at(stages) = q.sum('karmada_member_cluster_templates_stage', member + ', stage=~"%s"' % stages, q.cluster('member_cluster'));
  local stages = 'karmada_templates_stage', by_namespace = 'karmada_namespace_templates_stage';
  local stepped(record) = 'sum by (%s) (%s)' % [q.cluster('step, reason'), q.steps(p.stages, q.raw(record))];
  local in_stage(one) = q.ofNamespacesRecorded('karmada_policy:templates_stage:sum', by_namespace, 'stage="%s"' % one);
  local to_overview = p.to('Problems of this namespace', 'overview', '&var-namespace=${__value.text}');
  kit.b.board('delivery', 'Delivery', 'How far templates have come from the match of a policy to health in all their member clusters, and why others have not.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_policy:namespace_rank:topk'),
    kit.b.variable('member_cluster', 'Member cluster', 'karmada_member_cluster_templates_stage'),
  ], [
    shapes.problems(
      'Delivery problems',
      'Open problems of propagation, scheduling, delivery and health in the selected namespaces, and those of member clusters and of the control plane.',
      shapes.named([
        'last_copy_at_risk',
        'placement_lost',
        'controllers_stuck',
        'scheduler_stuck',
        'member_cluster_unavailable',
        'not_propagated',
        'binding_name_collision',
        'placement_at_risk',
        'not_scheduled',
        'override_failed',
        'not_delivered',
        'eviction_stuck',
        'reference_broken',
        'deletion_stuck',
        'unhealthy',
        'excluded',
        'on_fallback',
        'two_copies_held',
        'change_suspended',
        'replicas_contested',
      ])
    ),

    shapes.problem('last_copy_at_risk', 'Last copies at risk', 'Templates with one copy, which Karmada deletes when the eviction ends.', w=6),
    shapes.problem('placement_lost', 'Placements lost', 'Templates that had a placement, and that run in no member cluster now.', w=6),
    shapes.problem('member_cluster_unavailable', 'Clusters unavailable', 'Member clusters with placed templates that are gone, not ready, flapping, or that refuse most objects. This number does not depend on the selected namespaces.', w=6, namespaced=false),
    shapes.problem('not_propagated', 'Not propagated (open problems)', 'Templates of the selected namespaces that should run in a member cluster, and that no policy propagates: open problems not_propagated.', w=6),
    shapes.problem('not_scheduled', 'Not scheduled (open problems)', 'Templates of the selected namespaces that the scheduler did not place for 10 minutes or more.', w=6),
    shapes.problem('not_delivered', 'Not delivered (open problems)', 'Templates of the selected namespaces with a member cluster that has lacked their newest version for 10 minutes or more.', w=6),
    shapes.problem('eviction_stuck', 'Evictions stuck', 'Templates of the selected namespaces with an eviction that has used half of its time or more.', w=6),
    shapes.problem('unhealthy', 'Unhealthy (open problems)', 'Templates of the selected namespaces that are unhealthy in a reachable member cluster for 30 minutes or more.', w=6),

    p.row('Stages'),
    p.bars('Templates in each stage', 'Templates of the selected namespaces by stage. Each template has exactly one stage: the first that it did not complete.', 'short', [
      p.query(q.orZeroOfRules(in_stage(one)), one)
      for one in p.stages
    ], w=8, h=11, of='stage'),
    p.table(
      'Stages and reasons',
      'Templates of all namespaces by stage and reason, earliest stage first. Deliveries count the stage of the binding in the member clusters, also for templates that are stale. The rules record them once a minute.',
      [p.clusterLabel, p.label('step', 'Stage'), p.label('reason', 'Reason', 190)],
      [
        p.value('Templates', 'short', stepped('karmada_policy:templates_stage:sum'), 95),
        p.value('Deliveries', 'short', stepped('karmada_policy:templates_delivery:sum'), 95),
      ],
      w=16,
      h=11,
      sort='step'
    ),

    p.row('Member clusters, namespaces and reasons'),
    p.table(
      'Stages by member cluster',
      'Templates of all namespaces by their stage in each member cluster. The cluster with most templates that are not healthy is first.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster')],
      [
        p.value('Not healthy', 'short', q.orZeroOf(at('undispatched|unapplied|undelivered|unhealthy|unreachable'), at('.+')), 105, limits.any),
        p.value('Undispatched', 'short', at('undispatched') + ' > 0', 120, limits.any),
        p.value('Unapplied', 'short', at('unapplied') + ' > 0', 95, limits.bad),
        p.value('Undelivered', 'short', at('undelivered') + ' > 0', 110, limits.any),
        p.value('Unhealthy', 'short', at('unhealthy') + ' > 0', 95, limits.any),
        p.value('Unreachable', 'short', at('unreachable') + ' > 0', 110, limits.bad),
        p.value('Healthy', 'short', at('healthy'), 85),
      ],
      w=16,
      h=8
    ),
    p.table(
      'Namespaces with templates that are not healthy',
      'The 20 namespaces with most templates that have a policy and are not healthy in all their member clusters. The rules record them once a minute.',
      [p.clusterLabel, p.label('namespace', 'Namespace', null, to_overview)],
      [p.value('Templates', 'short', q.record('karmada_policy:namespace_templates_not_healthy:topk', 'namespace=~"$namespace"', q.cluster('namespace')), 95, limits.any)],
      w=8,
      h=8,
      empty='Every template with a policy is healthy.'
    ),
    p.table(
      'Pending templates by kind and reason',
      'Templates of all namespaces that no policy propagates. Most reasons are normal for some kinds, such as Secrets; problems list the templates that should be propagated.',
      [p.clusterLabel, p.label('api_group', 'Group', 160), p.label('kind', 'Kind'), p.label('reason', 'Reason', 160)],
      [p.value('Templates', 'short', q.sum('karmada_templates_pending', '', q.cluster('api_group, kind, reason')) + ' > 0', 95)],
      w=12,
      h=8,
      empty='A policy propagates every template.'
    ),
    p.table(
      'Oldest template of each stage',
      'Time since the oldest template of all namespaces entered its stage, where an object proves this time.',
      [p.clusterLabel, p.label('step', 'Stage')],
      [p.value('For', 's', 'max by (%s) (%s)' % [q.cluster('step'), q.steps(p.stages, 'time() - %s' % q.oldest('karmada_templates_stage_oldest_timestamp_seconds'))], 100, limits.stageAge)],
      w=12,
      h=8,
      sort='step'
    ),
    p.table(
      'Evictions by producer and reason',
      'Bindings of all namespaces that Karmada moves off a member cluster, by the component that ordered the eviction and its reason.',
      [p.clusterLabel, p.label('producer', 'Producer'), p.label('reason', 'Reason', 190)],
      [p.value('Bindings', 'short', q.sum('karmada_bindings_evicting', '', q.cluster('producer, reason')) + ' > 0', 95, limits.any)],
      w=12,
      h=7,
      empty='No binding is evicted.'
    ),
    p.table(
      'Risks of templates',
      'Templates of all namespaces with a risk that does not depend on their stage. A template can have several risks.',
      [p.clusterLabel, p.label('risk', 'Risk')],
      [p.value('Templates', 'short', q.sum('karmada_templates_at_risk', '', q.cluster('risk')) + ' > 0', 95, limits.any)],
      w=12,
      h=7,
      empty='No template has a known risk.'
    ),
    p.bars('Bindings by origin', 'Bindings of all namespaces by the reason that they exist: the claim of a policy, a template that requires them, both, or neither.', 'short', q.sum('karmada_bindings', '', 'origin'), '{{origin}}', h=6),
    p.bars('Ignored templates by reason', 'Templates of all namespaces that Karmada never propagates, by reason. No other number includes them.', 'short', q.sum('karmada_templates_ignored', '', 'reason'), '{{reason}}', h=6),

    p.row('Trends'),
    p.series('Templates by stage', 'Templates of the selected namespaces that are not healthy in all their member clusters. Each template has exactly one stage: the first that it did not complete.', 'short', [p.query(q.ofNamespaces(stages, by_namespace, 'stage!="healthy"', 'stage'), '{{stage}}')], h=9, stack=true, of='stage'),
    p.series('Deliveries by stage', 'Bindings of all namespaces by their stage in the member clusters, without the healthy ones. A stale template counts with the stage of its binding.', 'short', [p.query(q.sum('karmada_templates_delivery', 'stage!="healthy"', 'stage'), '{{stage}}')], h=9, stack=true, of='stage'),
    p.series('Pending templates by reason', 'Templates of all namespaces that no policy propagates. no_match: no policy selects the template; excluded: a policy excludes it; policy_gone: its policy was deleted; override_missing: an override policy that its policy requires does not exist; policy_deleting: the policy is being deleted; kind_not_selected: no policy selects its kind.', 'short', [p.query(q.sum('karmada_templates_pending', '', 'reason'), '{{reason}}')], stack=true, of='reason'),
    p.series('Unbound templates by reason', 'Templates of all namespaces that a policy selects and that have no binding yet. namesake: the binding of a deleted object has the same name; priority_class_missing: the PriorityClass of the policy does not exist; stuck: Karmada will not process the template again; waiting: Karmada should create the binding.', 'short', [p.query(q.sum('karmada_templates_unbound', '', 'reason'), '{{reason}}')], stack=true, of='reason'),
    p.series('Member clusters of unscheduled templates', 'Pairs of a template of any namespace that the scheduler has not placed and a member cluster, by the first filter that excludes the cluster.', 'short', [p.query(q.sum('karmada_templates_unscheduled_clusters', '', 'filter'), '{{filter}}')], stack=true, of='filter'),
    p.series('Time until bound', 'Time from the creation of template and policy to the creation of the binding: median and 99th percentile. Bindings that waited for a policy with activation Lazy are not included.', 's', [
      p.query(q.quantile(0.5, 'karmada_template_binding_delay_seconds'), 'median'),
      p.query(q.quantile(0.99, 'karmada_template_binding_delay_seconds'), '99th percentile'),
    ], of='quantile', rows=true),
    p.series('Delivery delay', 'Time from the change of a template to its delivery in all its member clusters: median and 99th percentile.', 's', [
      p.query(q.quantile(0.5, 'karmada_template_delivery_delay_seconds'), 'median'),
      p.query(q.quantile(0.99, 'karmada_template_delivery_delay_seconds'), '99th percentile'),
    ], of='quantile'),
    p.series('Evictions, fallbacks and suspensions', 'Templates of all namespaces with an eviction, with a last copy at risk, on a fallback group of clusters, or suspended, with or without a change that waits.', 'short', [
      p.query(q.sum('karmada_templates_delivery', 'stage="evicting"'), 'evicting'),
      p.query(q.sum('karmada_templates_last_copy_at_risk'), 'last copy at risk'),
      p.query(q.sum('karmada_templates_on_fallback'), 'on fallback'),
      p.query(q.sum('karmada_templates_suspended', 'waiting="true"'), 'suspended, a change waits'),
      p.query(q.sum('karmada_templates_suspended', 'waiting="false"'), 'suspended, no change waits'),
    ], overrides=[
      p.line('evicting', 'light-blue', width=8),
      p.line('last copy at risk', 'red', width=5),
      p.line('on fallback', 'purple', width=3),
      p.line('suspended, a change waits', 'orange', dashed=true, width=2),
      p.line('suspended, no change waits', 'text'),
    ]),
  ])
