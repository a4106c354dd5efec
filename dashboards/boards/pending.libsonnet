// Which templates go nowhere, why, and which policies do nothing.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local templates = 'kind=~"$kind"', pending = templates + ', reason=~"$reason"';
  kit.b.board('pending', 'Pending and coverage', 'Which templates go to no member cluster and why, and which policies do nothing.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_namespace_templates'),
    kit.b.variable('kind', 'Kind', 'karmada_templates'),
    kit.b.variable('reason', 'Reason', 'karmada_templates_pending'),
    kit.b.variable('policy', 'Policy', 'karmada_propagationpolicy_info'),
  ], [
    p.stat('Covered', 'Templates that a policy governs or that go along as a dependency, of all that Karmada considers.', 'percentunit', '1 - (%s)' % q.orZero(q.share(q.sum('karmada_templates', templates + ', state=~"pending|orphaned"'), q.sum('karmada_templates', templates + ', state!="ignored"'))), w=3),
    p.stat('Pending', 'Templates of the chosen kinds that no policy governs and nothing else propagates.', 'short', q.orZero(q.sum('karmada_templates_pending', pending)), w=3, limits=limits.any),
    p.stat('Oldest pending', 'For how long the longest may have been pending, of all kinds; 0 if none is.', 's', q.age('karmada_templates_pending_oldest_timestamp_seconds', 'reason=~"$reason"', q.sum('karmada_templates_pending', 'reason=~"$reason"')), w=3, limits=limits.pendingAge),
    p.stat('Unbound', 'Templates that a policy governs and that have no binding yet.', 'short', q.orZero(q.sum('karmada_templates', templates + ', state="unbound"')), w=3, limits=limits.any),
    p.stat('Oldest unbound', 'For how long the longest unbound template should have had a binding; 0 if none is. A missed match shows here.', 's', q.age('karmada_templates_unbound_oldest_timestamp_seconds', '', q.sum('karmada_templates', 'state="unbound"')), w=3, limits=limits.unboundAge),
    p.stat('Orphaned', 'Templates that run on though no policy governs them any more.', 'short', q.orZero(q.sum('karmada_templates', templates + ', state="orphaned"')), w=3, limits=limits.any),
    p.stat('Idle policies', 'Policies that select no template.', 'short', q.sum('karmada_propagationpolicy_unused'), w=3, limits=limits.any),
    p.stat('Invalid policies', 'Policies in which something cannot work as written: the API server took them, and Karmada ignores that part in silence.', 'short', q.sum('karmada_propagationpolicy_invalid'), w=3, limits=limits.bad),

    p.row('Over time'),
    p.series('Pending templates by reason', 'no_match: no policy selects it; excluded: only an exclusion keeps one from it; policy_gone: its policy was deleted and its user changed it since; override_missing: it names overrides that do not exist; policy_deleting: only policies that are being deleted select it.', 'short', [p.query(q.sum('karmada_templates_pending', pending, 'reason'), '{{reason}}')], stack=true),
    p.series('Templates by state', 'Each template is in exactly one state; the stack is all of the chosen kinds.', 'short', [p.query(q.sum('karmada_templates', templates, 'state'), '{{state}}')], stack=true, overrides=p.stateColours),
    p.series('Unbound templates by reason', 'What keeps a governed template from its binding, of all kinds. namesake: the binding of a deleted object of its name; priority_class_missing: its policy names a PriorityClass that does not exist; stuck: Karmada does not look at it again by itself; waiting: Karmada should make it.', 'short', [p.query(q.sum('karmada_templates_unbound', '', 'reason'), '{{reason}}')], stack=true),
    p.series('Time until bound', 'How long after template and policy were both there a binding was made, median and 99th percentile. What a Lazy policy let wait is left out.', 's', [
      p.query(q.quantile(0.5, 'karmada_template_binding_delay_seconds'), 'median'),
      p.query(q.quantile(0.99, 'karmada_template_binding_delay_seconds'), '99th percentile'),
    ]),
    p.bars('Pending by namespace', 'Whose they are: the fifteen namespaces with most pending templates, of all kinds.', 'short', 'topk(15, %s > 0)' % q.sum('karmada_namespace_templates', 'namespace=~"$namespace", state="pending"', 'namespace'), '{{namespace}}', w=24),

    p.row('Which'),
    p.table(
      'Pending by kind and reason',
      'How many templates of a kind are pending for a reason.',
      [p.clusterLabel, p.label('api_group', 'Group', 160), p.label('kind', 'Kind'), p.label('reason', 'Reason', 160)],
      [p.value('Templates', 'short', q.sum('karmada_templates_pending', pending, q.cluster('api_group, kind, reason')) + ' > 0', 100, limits.any)],
      w=12
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
      [p.value('Rows', 'short', 'sum by (%s) (%s)' % [q.cluster('namespace, kind, name, reason'), q.fold('karmada_template_pending_info', 'namespace=~"$namespace", ' + pending)])],
      w=12,
      hidden=true
    ),
    p.table(
      'Policies that select nothing',
      'A typing error in a selector, a namespace that is gone, or a policy that everything else outlived.',
      p.policyLabels,
      [p.value('Selected', 'short', q.sum('karmada_propagationpolicy_templates', 'relation="selected", policy=~"$policy"', q.cluster(q.policy)) + ' == 0', 90)],
      w=12
    ),
    p.table(
      'Policies with exclusions',
      'How many templates the excludedResources of a policy keep away, of how many that it selects: what a migration has taken out so far.',
      p.policyLabels,
      [
        p.value('Excluded', 'short', q.sum('karmada_propagationpolicy_templates', 'relation="excluded", policy=~"$policy"', q.cluster(q.policy)) + ' > 0', 90),
        p.value('Selected', 'short', '%s and on (%s) (%s > 0)' % [q.sum('karmada_propagationpolicy_templates', 'relation="selected", policy=~"$policy"', q.cluster(q.policy)), q.cluster(q.policy), q.sum('karmada_propagationpolicy_templates', 'relation="excluded", policy=~"$policy"', q.cluster(q.policy))], 90),
      ],
      w=12
    ),
    p.bars('Invalid policies by reason', 'What cannot work as written.', 'short', q.sum('karmada_propagationpolicy_invalid', '', 'reason'), '{{reason}}', h=7, limits=limits.any),
    p.bars('Bindings that do not fit', "Bindings whose template does not exist, and templates whose binding has, or would have, the name of another template's.", 'short', 'label_replace(%s, "what", "without template", "", "") or label_replace(%s, "what", "name collisions", "", "")' % [q.sum('karmada_bindings_without_template'), q.sum('karmada_binding_name_collisions')], '{{what}}', h=7, limits=limits.any),
    p.bars('Ignored templates by reason', 'Templates that Karmada never considers. They count nowhere else.', 'short', q.sum('karmada_templates_ignored', '', 'reason'), '{{reason}}', h=7),
    p.bars('Bindings by origin', "What bindings are there for: a policy's claim, other bindings that require them, both, or neither.", 'short', q.sum('karmada_bindings', '', 'origin'), '{{origin}}', h=7),
  ])
