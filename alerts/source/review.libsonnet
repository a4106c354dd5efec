// What nobody has to hurry about: it is read once a week, and the capacity of a quarter once a quarter.
function(k, config)
  local conflicts = 'karmada_configconnector_conflicts';
  local items = [
    ['predicted_conflicts', k.total('karmada_dependency_conflicts_predicted'), |||
      %s a conflict as soon as stale templates follow what their policies say now
    ||| % k.number('dependency will have', 'dependencies will have')],
    ['overridden_values', k.total('karmada_dependency_overridden'), |||
      %s the value of the own policy against what others need, and Karmada sends no event for that
    ||| % k.number('required binding keeps', 'required bindings keep')],
    ['excluded_templates', k.total('karmada_templates_pending', [], 'reason="excluded"'), |||
      %s kept from propagation by an exclusion only; that may be what was meant
    ||| % k.number('template is', 'templates are')],
    ['orphaned_templates', k.total('karmada_templates', [], 'state="orphaned"'), |||
      %s running where a policy put %s that is gone; the next change by a user makes %s pending
    ||| % [k.number('template keeps', 'templates keep'), k.them, k.them]],
    ['unused_policies', k.total('karmada_propagationpolicy_unused'), |||
      %s no template
    ||| % k.number('policy selects', 'policies select')],
    ['name_decides', k.total('karmada_propagationpolicy_overlaps', [], 'decided_by="name"'), |||
      %s selected by policies of one priority and precision, so that the order of their names decides
    ||| % k.number('template is', 'templates are')],
    ['outranked_templates', k.total('karmada_templates_outranked'), |||
      %s with a policy by a claim though another ranks higher; created anew, the other one would win%s
    ||| % [k.number('template stays', 'templates stay'), k.policies('karmada_templates_outranked')]],
    ['forbidden_replicas', k.total('karmada_placement_drift_forbidden_replicas'), |||
      %s on member clusters that the policy no longer means%s
    ||| % [
      k.number('replica runs', 'replicas run'),
      k.names('max by (member_cluster) (karmada_placement_drift_forbidden_replicas{{of}}) > 0',
              [],
              'member_cluster',
              '{{ $row.Labels.member_cluster }} ({{ $row.Value }})',
              ':'),
    ]],
    ['unprotected_leases', k.total(conflicts, [], 'class=~"lapse_hazard|unprotectable"'), |||
      %s for conflict prevention in vain: reconciled less often than the lease lasts, or of a kind that
      cannot carry one
    ||| % k.number('Config Connector object asks', 'Config Connector objects ask')],
    ['suspended_changes', k.total('karmada_templates_suspended', [], 'waiting="true"'), |||
      %s a change that waits behind a suspension; the member clusters run what was there before
    ||| % k.number('template has', 'templates have')],
    ['dropped_details', k.total('karmada_policy_exporter_detail_series_dropped'), |||
      %s beyond the exporter's limits; counts are complete, lists of objects are not%s
    ||| % [
      k.number('series is', 'series are'),
      k.names('max by (family) (karmada_policy_exporter_detail_series_dropped{{of}}) > 0',
              [],
              'family',
              '{{ $row.Labels.family }} ({{ $row.Value }})',
              ':'),
    ]],
  ];

  // By the hour, so that a year of them is cheap.
  local quarter = [
    k.record('karmada_policy:placement_drift_replicas:1h',
             k.fold('karmada_placement_drift_replicas', ['member_cluster', 'movement'])),
    k.record('karmada_policy:placement_drift_requests:1h',
             k.fold('karmada_placement_drift_resource_requests', ['member_cluster', 'resource', 'unit', 'movement'])),
    k.record('karmada_policy:member_cluster_free:1h', k.free(['member_cluster', 'resource', 'unit'])),
    k.record('karmada_policy:templates_stale:1h',
             |||
               max %s (sum %s (karmada_templates_stale))
               or
               0 * max %s (karmada_propagationpolicies_not_in_force)
             ||| % [k.by(['reason', 'phase']), k.by(['instance', 'reason', 'phase']), k.by(['reason', 'phase'])],
             'As it is at this moment: a row that ended a minute ago would be counted beside what it became. One that is not there is 0.'),
    k.record('karmada_policy:stale_age_seconds:1h',
             k.age('karmada_templates_stale_oldest_timestamp_seconds', ['phase'])),
    k.record('karmada_policy:templates:1h', k.total('karmada_templates', ['state'])),
  ];

  local weekly = k.concern('weekly', '', interval='5m', alerts=[
    k.alert('PolicyReview', {
      cause: 'what is to be looked at once a week, by item',
      severity: 'info',
      'for': '6h',
      board: 'overview',
      page: '',
      expr: k.group(k.any([k.tell('item', row[0], row[1]) for row in items])) + ' > 0',
      summary: 'Something about policies is worth a look this week.',
      description: k.choose('item', [[[row[0]], row[2]] for row in items]) + '.',
    }),
  ]);
  k.concern('review', 'What nobody has to hurry about: items for a weekly look, and numbers by the hour for the quarter.', [], quarter, '1h')
  + { alerts: weekly.alerts }
