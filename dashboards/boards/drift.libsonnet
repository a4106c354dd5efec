// Which templates still run on an outdated policy, on which version of it, for how long, and who must act.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local chosen = 'policy_kind=~"$policy_kind", policy_namespace=~"$policy_namespace", policy=~"$policy"';
  local by_policy = q.cluster(q.policy), outdated = 'previous|older|unknown';
  local stale(matchers='', by='') = q.sumAboveZero('karmada_templates_stale', chosen + matchers, by);
  // Rows that are not zero only: a reason that no template has needs its zero from elsewhere.
  local every(label) = q.sum('karmada_propagationpolicies_not_in_force', '', label);
  local rollout(versions, by) = q.sum('karmada_propagationpolicy_rollout_templates', '%s, version=~"%s"' % [chosen, versions], by);
  // Of a policy in a rollout only the versions that templates run have rows.
  local or_zero(versions) = q.orZeroOf(rollout(versions, by_policy), rollout('.+', by_policy));
  local claimed = q.sum('karmada_propagationpolicy_templates', chosen + ', relation="claimed"', by_policy);
  // A policy without a rollout has no rows at all: what claims it runs the present version.
  local in_one_version = '%s unless on (%s) %s' % [claimed, by_policy, rollout('.+', by_policy)];
  local in_force = 'max by (%s) (%s)' % [by_policy, q.series('karmada_propagationpolicy_versions_in_force', chosen)];
  local behind(by_how_many) = q.sum('karmada_templates_behind', 'behind="%s"' % by_how_many);
  local transitions(how) = 'sum by (%s) (max by (%s) (%s(%s[$__range])))' % [
    q.cluster('from, to'),
    q.own('karmada_template_transitions_total'),
    how,
    q.raw('karmada_template_transitions_total'),
  ];
  local oldest(phase) = q.age('karmada_templates_stale_oldest_timestamp_seconds', 'phase="%s"' % phase, q.sumAboveZero('karmada_templates_stale', 'phase="%s"' % phase));
  local per_policy = q.policy + ', ' + kit.config.clusterLabel;
  kit.b.board('drift', 'Policy drift', 'Which templates are bound by something else than what governs them now, for how long, and whether Karmada or a user must act.', [
    kit.b.variable('policy_kind', 'Policy kind', 'karmada_propagationpolicy_info'),
    kit.b.variable('policy_namespace', 'Policy namespace', 'karmada_propagationpolicy_info'),
    kit.b.variable('policy', 'Policy', 'karmada_propagationpolicy_info'),
  ], [
    p.stat('Overdue', 'Stale templates for which Karmada should have acted by now.', 'short', q.orZero(stale(', phase="overdue"')), limits=limits.bad),
    p.stat('Oldest overdue', 'For how long the longest overdue template may have been stale, of all policies; 0 if none is.', 's', oldest('overdue'), limits=limits.unboundAge),
    p.stat('Deferred', "Stale templates that wait by design for their user's next change.", 'short', q.orZero(stale(', phase="deferred"')), limits=limits.any),
    p.stat('Oldest deferred', 'For how long the longest deferred template may have been stale, of all policies; 0 if none is.', 's', oldest('deferred'), limits=limits.staleAge),
    p.stat('Rollouts', 'Policies of which some templates run another version than the present one. A version is what Karmada copies from a policy into bindings.', 'short', q.orZero('count(%s > 0)' % rollout(outdated, by_policy)), limits=limits.any),
    p.stat('Orphaned', 'Templates that run on though no policy governs them any more, of all policies.', 'short', q.orZero(q.sum('karmada_templates', 'state="orphaned"')), limits=limits.any),
    p.stat('Dangling claims', 'Templates and bindings whose claim names a policy that does not exist, or was created again under another id.', 'short', q.sum('karmada_dangling_claims'), limits=limits.any),
    p.stat('Not rescheduled', 'Bindings whose placement the scheduler has not applied yet: there the scheduler lags, not the policy.', 'short', q.sum('karmada_bindings_not_rescheduled'), limits=limits.any),

    p.row('Which'),
    shapes.policies(chosen),
    p.table(
      'Rollouts under way',
      'Policies of which some templates run another version than the present one, and how many run which; the one with most that do not run the present one first.',
      p.policyLabels(),
      [
        p.value('To go', 'short', rollout(outdated, by_policy) + ' > 0', 75, limits.any),
        p.value('Current', 'short', or_zero('current'), 80),
        p.value('Previous', 'short', or_zero('previous'), 85),
        p.value('Older', 'short', or_zero('older'), 70, limits.any),
        p.value('Unknown', 'short', or_zero('unknown'), 90, limits.any),
        p.value('Templates', 'short', rollout('.+', by_policy), 95),
        p.value('Done', 'percentunit', '%s / %s' % [or_zero('current'), rollout('.+', by_policy)], 75),
        p.value('In force', 'short', '%s or 0 * %s + 1' % [in_force, rollout('.+', by_policy)], 80),
      ],
      h=8,
      empty='No rollout is under way, as far as the exporters say.'
    ),
    p.table(
      'Stale templates',
      'One row for each. Empty unless the exporter runs with --metrics.opt-in; then at most as many rows as its detail limit.',
      [
        p.clusterLabel,
        p.label('phase', 'Phase', 90),
        p.label('namespace', 'Namespace', 130),
        p.label('kind', 'Kind', 120),
        p.label('name', 'Name'),
        p.label('reason', 'Reason', 160),
      ],
      [p.value('Rows', 'short', q.sum('karmada_template_stale_info', '', q.cluster('namespace, kind, name, reason, phase')))],
      w=14,
      hidden=true,
      sort='phase',
      desc=true,
      empty='None; or the exporter runs without --metrics.opt-in.'
    ),
    p.table(
      'Outranked policies',
      'Policies that keep templates by their claim though another policy would win a fresh match: what moves when they are released.',
      p.policyLabels(),
      [p.value('Templates', 'short', q.sum('karmada_templates_outranked', chosen, by_policy) + ' > 0', 95)],
      w=10,
      empty='None.'
    ),

    p.row('Versions'),
    p.stat('One behind', 'Templates that run the version before the present one, of all policies.', 'short', behind('1'), w=4, limits=limits.any),
    p.stat('Two behind', 'Templates that two edits of their policy have not reached, of all policies.', 'short', behind('2'), w=4, limits=limits.any),
    p.stat('More behind', 'Templates that three edits of their policy or more have not reached, of all policies.', 'short', behind('3_or_more'), w=4, limits=limits.any),
    p.stat('Unknown version', 'Templates whose bindings have values that no known version of their policy had, or of which nothing tells how old they are, of all policies.', 'short', behind('unknown'), w=4, limits=limits.any),
    p.stat('Oldest superseded', 'How long ago the version was superseded that is outdated for the longest of those that a template still runs, of all policies; 0 if all run the present one.', 's', q.age('karmada_propagationpolicy_oldest_superseded_timestamp_seconds', '', q.sum('karmada_templates_behind')), w=4, limits=limits.staleAge),
    p.stat('Outranked', 'Templates that a policy keeps by its claim though another would win a fresh match.', 'short', q.orZero(q.sum('karmada_templates_outranked', chosen)), w=4),
    p.series('Templates by version', 'Templates that claim the chosen policies, by the version that their bindings have. A policy edit turns what was current into previous.', 'short', [
      p.query('sum(%s or %s)' % [or_zero('current'), in_one_version], 'current'),
      p.query(q.orZero(rollout('previous', '')), 'previous'),
      p.query(q.orZero(rollout('older', '')), 'older'),
      p.query(q.orZero(rollout('unknown', '')), 'unknown'),
    ], stack=true, points=100, of='version'),
    p.series('Versions in force', 'How many versions the templates of a policy run, where it is more than one; the ten policies with most in the time shown.', 'short', [p.query(q.top(10, 'max by (%s) (%s)' % [per_policy, q.series('karmada_propagationpolicy_versions_in_force', chosen)]), '{{policy_namespace}}/{{policy}}')], points=100, rows=true) { fieldConfig+: { defaults+: { noValue: 'No policy has more than one version in force, as far as the exporters say.' } } },

    p.row('Over time'),
    p.series('Stale templates by reason', 'Why they are stale: the policy changed, another took over, or the one that they claim no longer selects them or is gone.', 'short', [p.query('%s or 0 * %s' % [stale('', 'reason'), every('reason')], '{{reason}}')], stack=true, points=100, of='reason'),
    p.series('Stale templates by phase', 'Overdue: Karmada should have acted. Deferred: they wait by design for the next change of their user.', 'short', [p.query('%s or 0 * %s' % [stale('', 'phase'), every('phase')], '{{phase}}')], stack=true, points=100, of='phase'),
    p.series('Stale templates by policy', 'The ten policies with most of them in the time shown. A policy that was just edited shows as a step that falls again.', 'short', [p.query(q.top(10, stale('', per_policy)), '{{policy_namespace}}/{{policy}}')], points=100, rows=true),
    p.series('Growth within 15 minutes', 'Stale templates now, less the fewest of the last quarter of an hour: a policy edit that many templates wait for shows as a peak.', 'short', [p.query('(%s) - min_over_time((%s)[15m:30s])' % [q.orZero(stale()), q.orZero(stale())], 'more than there were')], points=100, overrides=[p.line('more than there were', 'blue')]),
    p.series('Generation', 'A step is an edit of the spec of a chosen policy; one that changes only what is not copied to bindings moves no template. Of several policies the five of the highest generation.', 'short', [p.query(q.top(5, 'max by (%s) (%s)' % [per_policy, q.series('karmada_propagationpolicy_generation', chosen)]), '{{policy_namespace}}/{{policy}}')], points=100, rows=true) { fieldConfig+: { defaults+: { custom+: { lineInterpolation: 'stepAfter' } } } },
    p.table(
      'Changes of state',
      'How often templates went from one state to another within the time shown, of all policies, and how often that is an hour.',
      [p.clusterLabel, p.label('from', 'From'), p.label('to', 'To')],
      [
        p.value('Times', 'short', 'round(%s) > 0' % transitions('increase'), 80),
        p.value('An hour', 'none', 'round(3600 * %s, 0.1) > 0' % transitions('rate'), 90),
      ],
      w=12,
      empty='No change of state was seen within the time shown.'
    ),
    p.bars('Fields that differ', 'Stale templates by the field in which binding and policy differ, of all policies; a template may count in several.', 'short', q.sum('karmada_templates_stale_field', '', 'field'), '{{field}}', w=8, h=6, of='field'),
    p.bars('What decides between policies', 'Templates that several policies select, by what decides between the best two. "name" means that nothing but the alphabet decides.', 'short', q.sum('karmada_propagationpolicy_overlaps', '', 'decided_by'), '{{decided_by}}', w=8, h=6),
    p.bars('Claims whose policy is gone', 'Templates and bindings whose claim names a policy that does not exist any more, or was created again under another id.', 'short', q.sum('karmada_dangling_claims', '', 'holder'), '{{holder}}', w=8, h=6, limits=limits.any),
  ], annotations=[
    kit.b.annotation('Policy edited', 'blue', 'max by (%s) (changes(%s[5m])) > 0' % [by_policy, q.raw('karmada_propagationpolicy_generation', chosen)], 'Policy edited', '{{policy_kind}} {{policy_namespace}}/{{policy}}'),
  ])
