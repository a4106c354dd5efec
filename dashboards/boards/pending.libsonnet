// Which templates go nowhere, why, and which policies do nothing.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local templates = 'kind=~"$kind"', pending = templates + ', reason=~"$reason"';
  local policy(relation) = q.sum('karmada_propagationpolicy_templates', 'relation="%s", policy=~"$policy"' % relation, q.cluster(q.policy));
  local excluded = policy('excluded') + ' > 0';
  // A policy that selects nothing has no row that is not zero: it is known by its name alone.
  local policies = 'max by (%s) (%s)' % [q.cluster(q.policy), q.series('karmada_propagationpolicy_info', 'policy=~"$policy"')];
  local stuck = '(%s)' % q.sumAboveZero('karmada_namespace_templates', 'namespace=~"$namespace", state=~"pending|unbound|orphaned"', q.cluster('namespace'));
  local in_namespace(state) = q.sumAboveZero('karmada_namespace_templates', 'namespace=~"$namespace", state="%s"' % state, q.cluster('namespace'));
  kit.b.board('pending', 'Pending and coverage', 'Which templates go to no member cluster and why, and which policies do nothing.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_namespace_templates'),
    kit.b.variable('kind', 'Kind', 'karmada_templates'),
    kit.b.variable('reason', 'Reason', 'karmada_templates_pending'),
    kit.b.variable('policy', 'Policy', 'karmada_propagationpolicy_info'),
  ], [
    p.stat('Covered', 'Templates that a policy governs or that go along as a dependency, of all that Karmada considers.', 'percentunit', '1 - (%s)' % q.orZero(q.share(q.sum('karmada_templates', templates + ', state=~"pending|orphaned"'), q.sum('karmada_templates', templates + ', state!="ignored"'))), good=limits.covered),
    p.stat('Pending', 'Templates of the chosen kinds that no policy governs and nothing else propagates.', 'short', q.orZero(q.sum('karmada_templates_pending', pending)), limits=limits.any),
    p.stat('Oldest pending', 'For how long the longest may have been pending, of all kinds; 0 if none is.', 's', q.age('karmada_templates_pending_oldest_timestamp_seconds', 'reason=~"$reason"', q.sum('karmada_templates_pending', 'reason=~"$reason"')), limits=limits.pendingAge),
    p.stat('Unbound', 'Templates that a policy governs and that have no binding yet.', 'short', q.orZero(q.sum('karmada_templates', templates + ', state="unbound"')), limits=limits.any),
    p.stat('Oldest unbound', 'For how long the longest unbound template should have had a binding; 0 if none is. A missed match shows here.', 's', q.age('karmada_templates_unbound_oldest_timestamp_seconds', '', q.sum('karmada_templates', 'state="unbound"')), limits=limits.unboundAge),
    p.stat('Orphaned', 'Templates that run on though no policy governs them any more.', 'short', q.orZero(q.sum('karmada_templates', templates + ', state="orphaned"')), limits=limits.any),
    p.stat('Idle policies', 'Policies that select no template.', 'short', q.sum('karmada_propagationpolicy_unused'), limits=limits.any),
    p.stat('Invalid policies', 'Policies in which something cannot work as written: the API server took them, and Karmada ignores that part in silence.', 'short', q.sum('karmada_propagationpolicy_invalid'), limits=limits.bad),

    p.row('Which'),
    p.table(
      'Pending by kind and reason',
      'How many templates of a kind are pending for a reason.',
      [p.clusterLabel, p.label('api_group', 'Group', 160), p.label('kind', 'Kind'), p.label('reason', 'Reason', 160)],
      [p.value('Templates', 'short', q.sum('karmada_templates_pending', pending, q.cluster('api_group, kind, reason')) + ' > 0', 100, limits.any)],
      w=12,
      h=7,
      empty='No template of the chosen kinds is pending.'
    ),
    p.table(
      'Namespaces',
      'Whose they are, of all kinds: templates that go nowhere, have no binding yet, or run on without a policy.',
      [p.clusterLabel, p.label('namespace', 'Namespace', null, p.to('Board of this team', 'team', '&var-namespace=${__value.text}'))],
      [
        p.value('Pending', 'short', q.orZeroOf(in_namespace('pending'), stuck), 90, limits.any),
        p.value('Unbound', 'short', in_namespace('unbound'), 90, limits.any),
        p.value('Orphaned', 'short', in_namespace('orphaned'), 95, limits.any),
      ],
      w=12,
      h=7,
      empty='Every template of the chosen namespaces has its policy and its binding.'
    ),
    p.table(
      'Pending templates',
      'One row for each. Empty unless the exporter runs with --metrics.opt-in; then at most as many rows as its detail limit.',
      [
        p.clusterLabel,
        p.label('namespace', 'Namespace', 130),
        p.label('kind', 'Kind', 130),
        p.label('name', 'Name'),
        p.label('reason', 'Reason', 140),
      ],
      [p.value('Rows', 'short', q.sum('karmada_template_pending_info', 'namespace=~"$namespace", ' + pending, q.cluster('namespace, kind, name, reason')))],
      w=12,
      hidden=true,
      empty='None; or the exporter runs without --metrics.opt-in.'
    ),
    p.table(
      'Policies that select nothing',
      'A typing error in a selector, a namespace that is gone, or a policy that everything else outlived. Not told of policies beyond the limit of the exporter.',
      p.policyLabels(),
      [p.value('Selected', 'short', '0 * (%s unless on (%s) (%s > 0))' % [policies, q.cluster(q.policy), policy('selected')], hide=true)],
      w=12,
      sort='policy',
      empty='Every one of the chosen policies selects something.'
    ),
    p.table(
      'Policies with exclusions',
      'How many templates the excludedResources of a policy keep away, of how many that it selects: what a migration has taken out so far.',
      p.policyLabels(),
      [
        p.value('Excluded', 'short', excluded, 90),
        p.value('Selected', 'short', '%s and on (%s) (%s)' % [q.orZeroOf(policy('selected'), policy('excluded')), q.cluster(q.policy), excluded], 90),
      ],
      w=12,
      h=7,
      empty='No policy keeps a template away.'
    ),
    p.bars('Invalid policies by reason', 'What cannot work as written.', 'short', q.sum('karmada_propagationpolicy_invalid', '', 'reason'), '{{reason}}', h=7, limits=limits.any),

    p.row('Over time'),
    p.series('Pending templates by reason', 'no_match: no policy selects it; excluded: only an exclusion keeps one from it; policy_gone: its policy was deleted and its user changed it since; override_missing: it names overrides that do not exist; policy_deleting: only policies that are being deleted select it.', 'short', [p.query(q.sum('karmada_templates_pending', pending, 'reason'), '{{reason}}')], stack=true, of='reason'),
    p.series('Templates by state', 'Each template is in exactly one state; the stack is all of the chosen kinds.', 'short', [p.query(q.sum('karmada_templates', templates, 'state'), '{{state}}')], stack=true, of='state'),
    p.series('Unbound templates by reason', 'What keeps a governed template from its binding, of all kinds. namesake: the binding of a deleted object of its name; priority_class_missing: its policy names a PriorityClass that does not exist; stuck: Karmada does not look at it again by itself; waiting: Karmada should make it.', 'short', [p.query(q.sum('karmada_templates_unbound', '', 'reason'), '{{reason}}')], stack=true, of='reason'),
    p.series('Time until bound', 'How long after template and policy were both there a binding was made, median and 99th percentile. What a Lazy policy let wait is left out.', 's', [
      p.query(q.quantile(0.5, 'karmada_template_binding_delay_seconds'), 'median'),
      p.query(q.quantile(0.99, 'karmada_template_binding_delay_seconds'), '99th percentile'),
    ], of='quantile', rows=true),
    p.bars('Bindings that do not fit', "Bindings whose template does not exist, and templates whose binding has, or would have, the name of another template's.", 'short', 'label_replace(%s, "what", "without template", "", "") or label_replace(%s, "what", "name collisions", "", "")' % [q.sum('karmada_bindings_without_template'), q.sum('karmada_binding_name_collisions')], '{{what}}', w=8, h=6, limits=limits.any),
    p.bars('Ignored templates by reason', 'Templates that Karmada never considers. They count nowhere else.', 'short', q.sum('karmada_templates_ignored', '', 'reason'), '{{reason}}', w=8, h=6),
    p.bars('Bindings by origin', "What bindings are there for: a policy's claim, other bindings that require them, both, or neither.", 'short', q.sum('karmada_bindings', '', 'origin'), '{{origin}}', w=8, h=6),
  ])
