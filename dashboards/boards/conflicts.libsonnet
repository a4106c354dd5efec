// Dependencies for which templates of several policies request different values.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local field = 'field=~"$field"';
  kit.b.board('conflicts', 'Dependency conflicts', 'Dependencies for which several policies request different values, and the values that Karmada applies.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_policy:namespace_rank:topk'),
    kit.b.variable('field', 'Field', 'karmada_dependency_conflicts'),
  ], [
    shapes.problems(
      'Open problems of dependencies',
      'Open problems about values that policies request for dependencies of the selected namespaces. The reason is the field.',
      shapes.named(['dependency_conflict', 'dependency_not_resolved', 'decision_flapping', 'value_overridden', 'conflict_predicted'])
    ),

    shapes.problem('dependency_conflict', 'Dependency conflicts open', 'Open problems dependency_conflict in the selected namespaces: templates requested different values of a field for 10 minutes or more.', w=4),
    shapes.problem('dependency_not_resolved', 'Not resolved', 'Open problems dependency_not_resolved in the selected namespaces: the binding did not get the value that results from all requests for 15 minutes or more.', w=4),
    p.stat('Conflicts', 'Pairs of dependency and selected field with different requested values, of all namespaces, from the first moment on.', 'short', q.sum('karmada_dependency_conflicts', field), w=4, limits=limits.any, link=p.list('Conflicts', '/conflicts')),
    p.stat('Oldest conflict', 'Time since the oldest conflict of a selected field began, of all namespaces; 0 without a conflict.', 's', q.age('karmada_dependency_conflict_oldest_timestamp_seconds', field, q.sum('karmada_dependency_conflicts', field)), w=4, limits=limits.pendingAge, link=p.list('Conflicts', '/conflicts')),
    shapes.problem('value_overridden', 'Values overridden', 'Open problems value_overridden in the selected namespaces: an annotation of the template overrides its policy, or the own policy of a dependency overrides the value that results.', w=4),
    p.stat('Share in conflict', 'Share of the shared dependencies of all namespaces that have a conflict in any field. A shared dependency is required by several bindings.', 'percentunit', q.share(q.sum('karmada_dependency_conflicted_bindings'), q.sum('karmada_dependency_shared_bindings')), w=4, limits=limits.staleShare, link=p.list('Conflicts', '/conflicts')),

    p.row('Dependencies and policies'),
    p.table(
      'Dependencies in conflict',
      'One row for each dependency of the selected namespaces and selected field, with the value that Karmada applies. The exporter limits the number of rows (--metrics.detail-limit).',
      [
        p.clusterLabel,
        p.label('namespace', 'Namespace', 150),
        p.label('api_group', 'Group', 120),
        p.label('kind', 'Kind', 120),
        p.label('name', 'Name'),
        p.label('field', 'Field', 230),
        p.label('resolved', 'Applied value', 120),
      ],
      [p.value('Rows', 'short', q.sum('karmada_dependency_conflict_info', field + ', namespace=~"$namespace"', q.cluster('namespace, api_group, kind, name, field, resolved')))],
      h=7,
      hidden=true,
      sort='name',
      empty='No dependency is in conflict.'
    ),
    p.table(
      'Policies in conflict',
      'Policies of all namespaces with templates in a conflict: the requested value, and the number of dependencies.',
      p.policyLabels() + [p.label('field', 'Field', 230), p.label('value', 'Requested', 110)],
      [p.value('Dependencies', 'short', q.sum('karmada_propagationpolicy_dependency_conflicts', field, q.cluster(q.policy + ', field, value')) + ' > 0', 120)],
      w=16,
      h=9,
      empty='No policy takes part in a conflict.'
    ),
    p.text('Rules of precedence', 'The value that Karmada applies if templates request different values.', |||
      Karmada propagates a dependency to the clusters of all templates that require it. It takes two fields from
      the policies of these templates:

      - **ConflictResolution**: *Overwrite* if any policy requests Overwrite, else *Abort*.
      - **PreserveResourcesOnDeletion**: *true* if any policy requests true, else *false*.

      To end a conflict, set the same value in all policies, or give each workload a dependency of its own.
      If a value is **not resolved**, check the dependencies distributor of Karmada.
    |||, w=8, h=9),

    p.row('Trends'),
    p.series('Conflicts by field', 'Dependencies of all namespaces in conflict, by field. Dashed: predicted conflicts, which begin when stale bindings follow their policies.', 'short', [
      p.query(q.sum('karmada_dependency_conflicts', field, 'field'), '{{field}}'),
      p.query(q.sum('karmada_dependency_conflicts_predicted', field, 'field'), '{{field}}, predicted'),
    ], of='field', overrides=[
      p.line('ConflictResolution', width=8),
      p.line('PreserveResourcesOnDeletion', width=2),
      p.line('ConflictResolution, predicted', 'orange', dashed=true, width=4),
      p.line('PreserveResourcesOnDeletion, predicted', 'blue', dashed=true, width=2),
    ]),
    p.series('Unresolved and overridden values', 'Bindings of all namespaces with a value that does not follow from the requests, dependencies with a policy of their own that overrides this value, and entries of requiredBy that name a missing binding. Karmada resolves values from release 1.16 on; before, the first line has no data.', 'short', [
      p.query(q.sum('karmada_dependency_unapplied_resolutions', field), 'not resolved'),
      p.query(q.sum('karmada_dependency_overridden', field), 'overridden'),
      p.query(q.sum('karmada_dependency_dangling_references'), 'reference to a missing binding'),
    ], overrides=[p.line('not resolved', 'red', width=4), p.line('overridden', 'blue', width=3), p.line('reference to a missing binding', 'purple', dashed=true)]),
    p.series('New conflicts and Events of Karmada', 'Conflicts that began, by field, and dashed the DependencyPolicyConflict Events that Karmada wrote. Karmada repeats some Events and drops others.', 'short', [
      p.query(q.increase('karmada_dependency_conflict_transitions_total', field, 'field'), '{{field}}'),
      p.query(q.increase('karmada_dependency_conflict_events_total', field, 'field'), '{{field}}, events'),
    ], w=24, of='field', overrides=[
      p.line('ConflictResolution', width=8),
      p.line('PreserveResourcesOnDeletion', width=2),
      p.line('ConflictResolution, events', 'orange', dashed=true, width=4),
      p.line('PreserveResourcesOnDeletion, events', 'blue', dashed=true, width=2),
    ]),
  ])
