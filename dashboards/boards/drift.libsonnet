// Which templates still run on an outdated policy, for how long, and who must act.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local chosen = 'policy_namespace=~"$policy_namespace", policy=~"$policy"';
  local info = q.series('karmada_propagationpolicy_info', chosen);
  kit.b.board('drift', 'Policy drift', 'Which templates are bound by something else than what governs them now, for how long, and whether Karmada or a user must act.', [
    kit.b.variable('policy_namespace', 'Policy namespace', 'karmada_propagationpolicy_info'),
    kit.b.variable('policy', 'Policy', 'karmada_propagationpolicy_info'),
  ], [
    p.stat('Overdue', 'Stale templates for which Karmada should have acted by now.', 'short', q.orZero(q.sum('karmada_templates_stale', chosen + ', phase="overdue"')), w=3, limits=limits.bad),
    p.stat('Oldest overdue', 'For how long the longest overdue template may have been stale, of all policies; 0 if none is.', 's', q.age('karmada_templates_stale_oldest_timestamp_seconds', 'phase="overdue"'), w=3, limits=limits.unboundAge),
    p.stat('Deferred', "Stale templates that wait by design for their user's next change.", 'short', q.orZero(q.sum('karmada_templates_stale', chosen + ', phase="deferred"')), w=3, limits=limits.any),
    p.stat('Oldest deferred', 'For how long the longest deferred template may have been stale, of all policies; 0 if none is.', 's', q.age('karmada_templates_stale_oldest_timestamp_seconds', 'phase="deferred"'), w=3, limits=limits.staleAge),
    p.stat('Orphaned', 'Templates that run on though no policy governs them any more, of all policies.', 'short', q.orZero(q.sum('karmada_templates', 'state="orphaned"')), w=3, limits=limits.any),
    p.stat('Not rescheduled', 'Bindings whose placement the scheduler has not applied yet: there the scheduler lags, not the policy.', 'short', q.sum('karmada_bindings_not_rescheduled'), w=3, limits=limits.any),
    p.stat('Dangling claims', 'Templates and bindings whose claim names a policy that does not exist, or was made anew under another id.', 'short', q.sum('karmada_dangling_claims'), w=3, limits=limits.any),
    p.stat('Outranked', 'Templates that a policy keeps by its claim though another would win a fresh match.', 'short', q.orZero(q.sum('karmada_templates_outranked', chosen)), w=3),

    p.row('Over time'),
    p.series('Stale templates by reason', 'Why they are stale: the policy changed, another took over, or the one that they claim no longer selects them or is gone.', 'short', [p.query(q.sum('karmada_templates_stale', chosen, 'reason'), '{{reason}}')], stack=true),
    p.series('Stale templates by policy', 'The ten policies with most of them. A policy that was just edited shows as a step that falls again.', 'short', [p.query('topk(10, %s) > 0' % q.sum('karmada_templates_stale', chosen, q.policy), '{{policy_namespace}}/{{policy}}')], stack=true),
    p.bars('Fields that differ', 'Stale templates by the field in which binding and policy differ, of all policies; a template may count in several.', 'short', q.sum('karmada_templates_stale_field', '', 'field'), '{{field}}', w=8),
    p.bars('What decides between policies', 'Templates that several policies select, by what decides between the best two. "name" means that nothing but the alphabet decides.', 'short', q.sum('karmada_propagationpolicy_overlaps', '', 'decided_by'), '{{decided_by}}', w=8),
    p.series('Growth within 15 minutes', 'Stale templates now, less those of a quarter of an hour ago: a policy edit that many templates wait for shows as a peak.', 'short', [p.query('clamp_min(%s, 0)' % std.join(' - ', [q.sum('karmada_templates_stale', chosen), 'sum (max without (%s) (%s offset 15m))' % [kit.config.replicaLabels, q.series('karmada_templates_stale', chosen)]]), 'more than 15 minutes ago')], w=8),

    p.row('Which'),
    p.table(
      'Policies with stale templates',
      'How many templates are stale and overdue, how many claim the policy in all, and the generation that the policy is at.',
      p.policyLabels + [p.label('activation', 'Activation', 100)],
      [
        p.value('Stale', 'short', '(%s > 0) * on (%s) group_left (activation) max by (%s, activation) (%s)' % [q.sum('karmada_templates_stale', chosen, q.cluster(q.policy)), q.cluster(q.policy), q.cluster(q.policy), info], 80, limits.any),
        p.value('Overdue', 'short', '(%s > 0) * on (%s) group_left (activation) max by (%s, activation) (%s)' % [q.sum('karmada_templates_stale', chosen + ', phase="overdue"', q.cluster(q.policy)), q.cluster(q.policy), q.cluster(q.policy), info], 90, limits.bad),
        p.value('Claimed', 'short', '(%s and on (%s) (%s > 0)) * on (%s) group_left (activation) max by (%s, activation) (%s)' % [q.sum('karmada_propagationpolicy_templates', chosen + ', relation="claimed"', q.cluster(q.policy)), q.cluster(q.policy), q.sum('karmada_templates_stale', chosen, q.cluster(q.policy)), q.cluster(q.policy), q.cluster(q.policy), info], 90),
      ],
      w=14
    ),
    p.table(
      'Stale templates',
      'One row for each. Empty unless the exporter runs with --metrics.opt-in; then at most as many rows as its detail limit.',
      [
        p.clusterLabel,
        p.label('namespace', 'Namespace', 110),
        p.label('kind', 'Kind', 110),
        p.label('name', 'Name'),
        p.label('reason', 'Reason', 150),
        p.label('phase', 'Phase', 90),
      ],
      [p.value('Rows', 'short', 'sum by (%s) (%s)' % [q.cluster('namespace, kind, name, reason, phase'), q.fold('karmada_template_stale_info')])],
      w=10,
      hidden=true
    ),
    p.table(
      'Outranked policies',
      'Policies that keep templates by their claim though another policy would win a fresh match: what moves when they are released.',
      p.policyLabels,
      [p.value('Templates', 'short', q.sum('karmada_templates_outranked', chosen, q.cluster(q.policy)) + ' > 0', 100)],
      w=14,
      h=6
    ),
    p.bars('Claims whose policy is gone', 'Templates and bindings whose claim names a policy that does not exist any more, or was made anew under another id.', 'short', q.sum('karmada_dangling_claims', '', 'holder'), '{{holder}}', w=10, h=6, limits=limits.any),
  ], annotations=[
    kit.b.annotation('Policy edited', 'blue', 'max by (%s) (changes(%s[1m])) > 0' % [q.cluster(q.policy), q.series('karmada_propagationpolicy_generation', chosen)], 'Policy edited', '{{policy_kind}} {{policy_namespace}}/{{policy}}'),
  ])
