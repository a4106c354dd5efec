// Numbers recorded once an hour, from which the Capacity board compares a quarter.
function(k, config)
  local quarter = [
    k.record('karmada_policy:placement_drift_replicas:1h',
             k.fold('karmada_placement_drift_replicas', ['member_cluster', 'movement'])),
    k.record('karmada_policy:placement_drift_requests:1h',
             k.fold('karmada_placement_drift_resource_requests', ['member_cluster', 'resource', 'unit', 'movement'])),
    k.record('karmada_policy:member_cluster_free:1h', k.free(k.last)),
    k.record('karmada_policy:templates_stale:1h',
             |||
               max %s (sum %s (karmada_templates_stale))
               or
               0 * max %s (karmada_propagationpolicies_not_in_force)
             ||| % [k.by(['reason', 'phase']), k.by(['instance', 'reason', 'phase']), k.by(['reason', 'phase'])],
             'Instant values, not a range: a range would count a series that has just ended in addition to the series that replaced it. A missing series is 0.'),
    k.record('karmada_policy:stale_age_seconds:1h',
             k.age('karmada_templates_stale_oldest_timestamp_seconds', ['phase'])),
    k.record('karmada_policy:templates:1h', k.total('karmada_templates', ['state'])),
  ];

  k.concern('review', 'Numbers by the hour for the quarterly review of capacity.', [], quarter, '1h')
