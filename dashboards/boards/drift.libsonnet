// Policies whose templates run an outdated version, and policies without effect.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  // Cluster-scoped policies and the row of all other policies have no namespace.
  local chosen = 'policy_namespace=~"$namespace|", policy=~"$policy"';
  local by_policy = q.cluster(q.policy);
  local rollout(versions) = q.record('karmada_policy:policy_rollout_templates:topk', 'version=~"%s", %s' % [versions, chosen], by_policy);
  local outdated = rollout('previous|older|unknown') + ' > 0';
  // Only versions that templates run have rows.
  local or_zero(version) = q.orZeroOf(rollout(version), outdated);
  local of_state(state) = q.orZero(q.ofNamespaces('karmada_templates', 'karmada_namespace_templates', 'state="%s"' % state));
  local overdue = q.sum('karmada_templates_overdue'), deferred = '(%s) - %s' % [q.orZero(q.sum('karmada_templates', 'state="stale"')), overdue];
  local oldest(phase, count) = q.age('karmada_templates_stale_oldest_timestamp_seconds', 'phase="%s"' % phase, count);
  local behind = 'karmada_templates_behind';
  local superseded = q.age('karmada_propagationpolicy_oldest_superseded_timestamp_seconds', '', q.sum(behind));
  local transitions = 'sum by (%s) (max by (%s) (increase(%s[$__range])))' % [
    q.cluster('from, to'),
    q.own('karmada_template_transitions_total'),
    q.raw('karmada_template_transitions_total'),
  ];
  kit.b.board('drift', 'Policy drift', 'Policies that Karmada has not applied to all their templates, policies without effect, and the progress of rollouts.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_policy:namespace_rank:topk'),
    kit.b.variable('policy', 'Policy', 'karmada_policy:policy_templates_stale:topk'),
  ], [
    shapes.problems(
      'Drift problems',
      'Open problems of policies and of templates with an outdated policy, in the selected namespaces and of cluster-scoped policies.',
      shapes.named([
        'policy_not_in_force',
        'template_frozen',
        'policy_invalid',
        'reference_broken',
        'orphaned',
        'deferred_too_long',
        'policy_tie',
        'policy_outranked',
        'policy_unused',
      ])
    ),

    shapes.problem('policy_not_in_force', 'Not in force', 'Templates of the selected namespaces without the current version of their policy, although Karmada should have applied it 20 minutes ago or earlier.'),
    shapes.problem('template_frozen', 'Frozen templates', 'Templates of the selected namespaces that Karmada has not updated for 20 minutes or more: their policy no longer selects them, or does not exist.'),
    shapes.problem('deferred_too_long', 'Deferred too long', 'Templates of the selected namespaces that have waited a week or more for a change by their user. Karmada applies a policy with activation Lazy on such a change only.'),
    shapes.problem('policy_invalid', 'Invalid policies', 'Defects of policies of the selected namespaces: a value without effect, a name of an object that does not exist, or a write that the API server refuses.'),
    shapes.problem('policy_outranked', 'Outranked policies', 'Policies of the selected namespaces that keep templates by their claim only. Another policy would win a new match.'),
    shapes.problem('policy_tie', 'Ties of policies', 'Policies of the selected namespaces that win a template against another policy by name only.'),
    shapes.problem('policy_unused', 'Unused policies', 'Policies of the selected namespaces that have selected no template for a day or more.'),
    p.stat('Orphaned templates', 'Templates of the selected namespaces that still run in member clusters, although no policy governs them.', 'short', of_state('orphaned'), severity='info', link=p.list('Orphaned templates', '/templates?state=orphaned')),
    p.stat('Stale', 'Templates of the selected namespaces with a binding that has an outdated version of their policy, or another policy. This includes templates that wait for a change by their user.', 'short', of_state('stale'), w=6, limits=limits.any, link=p.list('Stale templates', '/templates?state=stale')),
    p.stat('Oldest overdue', 'Time since the oldest overdue template of all namespaces became stale; 0 without an overdue template. Karmada should have updated overdue templates by now.', 's', oldest('overdue', overdue), w=6, limits=limits.unboundAge, link=p.list('Policies not in force', '/?problem=policy_not_in_force')),
    p.stat('Oldest deferred', 'Time since the oldest deferred template of all namespaces became stale; 0 without a deferred template. Deferred templates wait for a change by their user.', 's', oldest('deferred', deferred), w=6, limits=limits.staleAge, link=p.list('Templates that wait too long', '/?problem=deferred_too_long')),
    p.stat('Oldest superseded', 'Time since a newer version replaced the oldest version that a template still runs, of all namespaces; 0 if all templates run the current version.', 's', superseded, w=6, limits=limits.staleAge, link=p.list('Policies', '/policies')),

    p.row('Policies'),
    shapes.policies(chosen, h=7),
    p.table(
      'Rollouts under way',
      'The 50 policies with most templates that run an outdated version, by version. Karmada copies a version of the policy into each binding. The rules record them once a minute.',
      p.policyLabels(),
      [
        p.value('To go', 'short', outdated, 65, limits.any),
        p.value('Previous', 'short', or_zero('previous'), 75),
        p.value('Older', 'short', or_zero('older'), 60, limits.any),
        p.value('Unknown', 'short', or_zero('unknown'), 75, limits.any),
        p.value('Done', 'percentunit', '1 - (%s) / %s' % [outdated, rollout('.+')], 65),
      ],
      h=7,
      empty='No rollout is under way. If the numbers of this board show "no data", no exporter has current data.'
    ),

    p.row('Causes'),
    p.bars('Fields that differ', 'Stale templates of all namespaces by the field in which binding and policy differ. A template counts once for each such field.', 'short', q.sum('karmada_templates_stale_field', '', 'field'), '{{field}}', w=8, h=6, of='field'),
    p.bars('Decisions between policies', 'Templates of all namespaces that several policies select, by the property that decides between the best two. With "name", only the alphabet decides.', 'short', q.sum('karmada_propagationpolicy_overlaps', '', 'decided_by'), '{{decided_by}}', w=8, h=6),
    p.bars('Dangling claims', 'Templates and bindings of all namespaces with a claim that names a missing policy, or a policy that was created again with another ID.', 'short', q.sum('karmada_dangling_claims', '', 'holder'), '{{holder}}', w=8, h=6, limits=limits.any),
    p.table(
      'Stale templates',
      'One row for each stale template of the selected namespaces. The exporter writes these rows with --metrics.opt-in only, up to its limit (--metrics.detail-limit).',
      [
        p.clusterLabel,
        p.label('phase', 'Phase', 90),
        p.label('namespace', 'Namespace', 130),
        p.label('kind', 'Kind', 120),
        p.label('name', 'Name'),
        p.label('reason', 'Reason', 160),
      ],
      [p.value('Rows', 'short', q.sum('karmada_template_stale_info', 'namespace=~"$namespace"', q.cluster('namespace, kind, name, reason, phase')))],
      w=14,
      hidden=true,
      sort='phase',
      desc=true,
      empty='No row: no template is stale, or the exporter runs without --metrics.opt-in.'
    ),
    p.table(
      'Changes of state',
      'Changes of templates of all namespaces from one state to another in the time range.',
      [p.clusterLabel, p.label('from', 'From'), p.label('to', 'To')],
      [p.value('Times', 'short', 'round(%s) > 0' % transitions, 80)],
      w=10,
      empty='No template changed its state in the time range.'
    ),

    p.row('Trends'),
    p.series('Stale templates by phase', 'Stale templates of all namespaces. overdue: Karmada should have updated the template; deferred: the template waits for a change by its user.', 'short', [
      p.query(overdue, 'overdue'),
      p.query(deferred, 'deferred'),
    ], stack=true, of='phase'),
    p.series('Policies with stale templates by reason', 'Policies of all namespaces that have stale templates, by reason. A policy counts once for each of its reasons.', 'short', [p.query(q.sum('karmada_propagationpolicies_not_in_force', '', 'reason'), '{{reason}}')], of='reason'),
    p.series('Templates behind their policy', 'Templates of all namespaces that run an outdated version, by the number of newer versions. unknown: the exporter cannot tell the age of the version.', 'short', [
      p.query(q.sum(behind, 'behind="1"'), 'one version'),
      p.query(q.sum(behind, 'behind="2"'), 'two versions'),
      p.query(q.sum(behind, 'behind="3_or_more"'), 'three or more'),
      p.query(q.sum(behind, 'behind="unknown"'), 'unknown'),
    ], stack=true, overrides=[p.line('one version', 'yellow'), p.line('two versions', 'orange'), p.line('three or more', 'red'), p.line('unknown', 'purple')]),
    p.series('Bindings not rescheduled', 'Bindings of all namespaces with a placement that the scheduler has not applied. Karmada copied the new placement of the policy, and the scheduler lags.', 'short', [p.query(q.sum('karmada_bindings_not_rescheduled'), 'bindings')], overrides=[p.line('bindings', 'blue')]),
  ])
