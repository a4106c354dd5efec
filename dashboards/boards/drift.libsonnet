// Which templates still run on an outdated policy, on which version of it, for how long, and who must act.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local chosen = 'policy_kind=~"$policy_kind", policy_namespace=~"$policy_namespace", policy=~"$policy"';
  local info = q.series('karmada_propagationpolicy_info', chosen);
  local stale_now = q.orZero(q.sum('karmada_templates_stale', chosen));
  // The activation of the policy beside a number; a policy that is gone has none.
  local activation(expr) = '((%s) * on (%s) group_left (activation) max by (%s, activation) (%s)) or ((%s) unless on (%s) %s)' % [expr, q.cluster(q.policy), q.cluster(q.policy), info, expr, q.cluster(q.policy), info];
  local rollout(versions, by) = q.sum('karmada_propagationpolicy_rollout_templates', '%s, version=~"%s"' % [chosen, versions], by);
  local by_policy = q.cluster(q.policy), outdated = 'previous|older|unknown';
  // Of a policy in a rollout only the versions that templates run have rows.
  local or_zero(versions) = '%s or 0 * %s' % [rollout(versions, by_policy), rollout('.+', by_policy)];
  // A policy without a rollout has no rows at all: what claims it runs the present version.
  local in_one_version = '%s unless on (%s) %s' % [q.sum('karmada_propagationpolicy_templates', chosen + ', relation="claimed"', by_policy), by_policy, rollout('.+', by_policy)];
  local behind(by_how_many) = q.sum('karmada_templates_behind', 'behind="%s"' % by_how_many);
  local transitions(how) = 'sum by (%s) (max without (%s) (%s(%s[$__range])))' % [q.cluster('from, to'), kit.config.replicaLabels, how, q.series('karmada_template_transitions_total')];
  kit.b.board('drift', 'Policy drift', 'Which templates are bound by something else than what governs them now, for how long, and whether Karmada or a user must act.', [
    kit.b.variable('policy_kind', 'Policy kind', 'karmada_propagationpolicy_info'),
    kit.b.variable('policy_namespace', 'Policy namespace', 'karmada_propagationpolicy_info'),
    kit.b.variable('policy', 'Policy', 'karmada_propagationpolicy_info'),
  ], [
    p.stat('Overdue', 'Stale templates for which Karmada should have acted by now.', 'short', q.orZero(q.sum('karmada_templates_stale', chosen + ', phase="overdue"')), w=3, limits=limits.bad),
    p.stat('Oldest overdue', 'For how long the longest overdue template may have been stale, of all policies; 0 if none is.', 's', q.age('karmada_templates_stale_oldest_timestamp_seconds', 'phase="overdue"', q.sum('karmada_templates_stale', 'phase="overdue"')), w=3, limits=limits.unboundAge),
    p.stat('Deferred', "Stale templates that wait by design for their user's next change.", 'short', q.orZero(q.sum('karmada_templates_stale', chosen + ', phase="deferred"')), w=3, limits=limits.any),
    p.stat('Oldest deferred', 'For how long the longest deferred template may have been stale, of all policies; 0 if none is.', 's', q.age('karmada_templates_stale_oldest_timestamp_seconds', 'phase="deferred"', q.sum('karmada_templates_stale', 'phase="deferred"')), w=3, limits=limits.staleAge),
    p.stat('Orphaned', 'Templates that run on though no policy governs them any more, of all policies.', 'short', q.orZero(q.sum('karmada_templates', 'state="orphaned"')), w=3, limits=limits.any),
    p.stat('Not rescheduled', 'Bindings whose placement the scheduler has not applied yet: there the scheduler lags, not the policy.', 'short', q.sum('karmada_bindings_not_rescheduled'), w=3, limits=limits.any),
    p.stat('Dangling claims', 'Templates and bindings whose claim names a policy that does not exist, or was created again under another id.', 'short', q.sum('karmada_dangling_claims'), w=3, limits=limits.any),
    p.stat('Outranked', 'Templates that a policy keeps by its claim though another would win a fresh match.', 'short', q.orZero(q.sum('karmada_templates_outranked', chosen)), w=3),

    p.row('Over time'),
    p.series('Stale templates by reason', 'Why they are stale: the policy changed, another took over, or the one that they claim no longer selects them or is gone.', 'short', [p.query(q.sum('karmada_templates_stale', chosen, 'reason'), '{{reason}}')], stack=true, points=100),
    p.series('Stale templates by policy', 'The ten policies with most of them. A policy that was just edited shows as a step that falls again.', 'short', [p.query('topk(10, %s)' % q.sumAboveZero('karmada_templates_stale', chosen, q.policy), '{{policy_namespace}}/{{policy}}')], stack=true, points=100),
    p.bars('Fields that differ', 'Stale templates by the field in which binding and policy differ, of all policies; a template may count in several.', 'short', q.sum('karmada_templates_stale_field', '', 'field'), '{{field}}', h=7),
    p.bars('What decides between policies', 'Templates that several policies select, by what decides between the best two. "name" means that nothing but the alphabet decides.', 'short', q.sum('karmada_propagationpolicy_overlaps', '', 'decided_by'), '{{decided_by}}', h=7),
    p.series('Growth within 15 minutes', 'Stale templates now, less the fewest of the last quarter of an hour: a policy edit that many templates wait for shows as a peak.', 'short', [p.query('%s - min_over_time((%s)[15m:30s])' % ['(%s)' % stale_now, stale_now], 'more than there were')], h=7, points=100),
    p.bars('Claims whose policy is gone', 'Templates and bindings whose claim names a policy that does not exist any more, or was created again under another id.', 'short', q.sum('karmada_dangling_claims', '', 'holder'), '{{holder}}', h=7, limits=limits.any),

    p.row('Which'),
    p.table(
      'Policies with stale templates',
      'How many templates are stale and overdue, how many claim the policy in all, and the generation that the policy is at.',
      p.policyLabels + [p.label('activation', 'Activation', 100)],
      [
        p.value('Stale', 'short', activation(q.sum('karmada_templates_stale', chosen, q.cluster(q.policy)) + ' > 0'), 80, limits.any),
        p.value('Overdue', 'short', activation(q.sum('karmada_templates_stale', chosen + ', phase="overdue"', q.cluster(q.policy)) + ' > 0'), 90, limits.bad),
        p.value('Claimed', 'short', activation('%s and on (%s) (%s > 0)' % [q.sum('karmada_propagationpolicy_templates', chosen + ', relation="claimed"', q.cluster(q.policy)), q.cluster(q.policy), q.sum('karmada_templates_stale', chosen, q.cluster(q.policy))]), 90),
      ],
      h=8,
      worst=true
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
      w=14,
      hidden=true
    ),
    p.table(
      'Outranked policies',
      'Policies that keep templates by their claim though another policy would win a fresh match: what moves when they are released.',
      p.policyLabels,
      [p.value('Templates', 'short', q.sum('karmada_templates_outranked', chosen, q.cluster(q.policy)) + ' > 0', 100)],
      w=10
    ),

    p.row('Versions'),
    p.stat('Rollouts', 'Policies of which some templates run another version than the present one. A version is what Karmada copies from a policy into bindings.', 'short', q.orZero('count(%s > 0)' % rollout(outdated, by_policy)), limits=limits.any),
    p.stat('One behind', 'Templates that run the version before the present one, of all policies.', 'short', behind('1'), limits=limits.any),
    p.stat('Two behind', 'Templates that two edits of their policy have not reached, of all policies.', 'short', behind('2'), limits=limits.any),
    p.stat('More behind', 'Templates that three edits of their policy or more have not reached, of all policies.', 'short', behind('3_or_more'), limits=limits.any),
    p.stat('Unknown version', 'Templates whose bindings have values that no known version of their policy had, or of which nothing tells how old they are, of all policies.', 'short', behind('unknown'), limits=limits.any),
    p.stat('Oldest superseded', 'How long ago the version was superseded that is outdated for the longest of those that a template still runs, of all policies; 0 if all run the present one.', 's', q.age('karmada_propagationpolicy_oldest_superseded_timestamp_seconds', '', q.sum('karmada_templates_behind')), limits=limits.staleAge),
    p.table(
      'Rollouts under way',
      'Policies of which some templates run another version than the present one, and how many run which; the one with most that do not run the present one first.',
      p.policyLabels,
      [
        p.value('To go', 'short', rollout(outdated, by_policy), 75, limits.any),
        p.value('Current', 'short', or_zero('current'), 80),
        p.value('Previous', 'short', or_zero('previous'), 85),
        p.value('Older', 'short', or_zero('older'), 70, limits.any),
        p.value('Unknown', 'short', or_zero('unknown'), 90, limits.any),
        p.value('Templates', 'short', rollout('.+', by_policy), 95),
        p.value('Done', 'percentunit', '(%s) / %s' % [or_zero('current'), rollout('.+', by_policy)], 75),
        p.value('In force', 'short', 'max by (%s) (%s) or 0 * %s + 1' % [by_policy, q.series('karmada_propagationpolicy_versions_in_force', chosen), rollout('.+', by_policy)], 80),
      ],
      h=7,
      worst=true,
      empty='No rollout is under way, as far as the exporters say.'
    ),
    p.series('Templates by version', 'Templates that claim the chosen policies, by the version that their bindings have. A policy edit turns what was current into previous.', 'short', [
      p.query('sum((%s) or (%s))' % [or_zero('current'), in_one_version], 'current'),
      p.query(rollout('previous|older|unknown', 'version'), '{{version}}'),
    ], stack=true, points=100, overrides=p.versionColours),
    p.series('Generation', 'A step is an edit of the spec of a chosen policy; one that changes only what is not copied to bindings moves no template. Of several policies the five of the highest generation.', 'short', [p.query('topk(5, max by (%s) (%s))' % [q.policy, q.series('karmada_propagationpolicy_generation', chosen)], '{{policy_namespace}}/{{policy}}')], points=100) { fieldConfig+: { defaults+: { custom+: { lineInterpolation: 'stepAfter' } } } },
    p.series('Versions in force', 'How many versions the templates of a policy run, where it is more than one; the ten policies with most.', 'short', [p.query('topk(10, max by (%s) (%s))' % [q.policy, q.series('karmada_propagationpolicy_versions_in_force', chosen)], '{{policy_namespace}}/{{policy}}')], w=15, points=100) { fieldConfig+: { defaults+: { noValue: 'No policy has more than one version in force, as far as the exporters say.' } } },
    p.table(
      'Changes of state',
      'How often templates went from one state to another within the time shown, of all policies, and how often that is an hour.',
      [p.clusterLabel, p.label('from', 'From'), p.label('to', 'To')],
      [
        p.value('Times', 'short', 'round(%s) > 0' % transitions('increase'), 70),
        p.value('An hour', 'short', 'round(3600 * %s, 0.1) > 0' % transitions('rate'), 80),
      ],
      w=9,
      worst=true,
      empty='No change of state was seen within the time shown.'
    ),
  ], annotations=[
    kit.b.annotation('Policy edited', 'blue', 'max by (%s) (changes(%s[1m])) > 0' % [q.cluster(q.policy), q.series('karmada_propagationpolicy_generation', chosen)], 'Policy edited', '{{policy_kind}} {{policy_namespace}}/{{policy}}'),
  ])
