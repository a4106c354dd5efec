// Which shared dependencies get contradictory orders, from whom, and what comes of it.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local field = 'field=~"$field"';
  kit.b.board('conflicts', 'Dependency conflicts', 'Which shared dependencies get contradictory orders from several policies, and what the rules make of it.', [
    kit.b.variable('field', 'Field', 'karmada_dependency_conflicts'),
    kit.b.variable('namespace', 'Namespace', 'karmada_namespace_templates'),
  ], [
    p.stat('Conflicts', 'Dependencies whose referrers disagree on one of the chosen fields.', 'short', q.sum('karmada_dependency_conflicts', field), limits=limits.any),
    p.stat('Oldest conflict', 'Since when the longest conflict may have existed; 0 if there is none.', 's', q.age('karmada_dependency_conflict_oldest_timestamp_seconds', field, q.sum('karmada_dependency_conflicts', field)), limits=limits.pendingAge),
    p.stat('Predicted', 'Dependencies without a conflict that will have one once their bindings follow what the policies say now.', 'short', q.sum('karmada_dependency_conflicts_predicted', field), limits=limits.any),
    p.stat('Unapplied', 'Attached bindings whose field has another value than their referrers result in. No data where Karmada does not resolve them, before 1.16.', 'short', q.sum('karmada_dependency_unapplied_resolutions', field), limits=limits.bad),
    p.stat('Overridden', "Required bindings whose own policy's value stands against what their referrers result in.", 'short', q.sum('karmada_dependency_overridden', field), limits=limits.any),
    p.stat('Shared', 'Dependencies with more than one referrer: where a conflict could arise.', 'short', q.sum('karmada_dependency_shared_bindings')),
    p.stat('In conflict', 'Of the shared dependencies, those whose referrers disagree on any field.', 'percentunit', q.share(q.sum('karmada_dependency_conflicted_bindings'), q.sum('karmada_dependency_shared_bindings')), limits=limits.staleShare),
    p.stat('Dangling', 'Entries of requiredBy that name a binding which does not exist.', 'short', q.sum('karmada_dependency_dangling_references'), limits=limits.any),

    p.row('Which, and who wants what'),
    p.table(
      'Dependencies in conflict',
      'One row for each dependency and field, with the value that results. At most as many rows as the detail limit of the exporter.',
      [
        p.clusterLabel,
        p.label('namespace', 'Namespace', 150),
        p.label('api_group', 'Group', 120),
        p.label('kind', 'Kind', 120),
        p.label('name', 'Name'),
        p.label('field', 'Field', 230),
        p.label('resolved', 'Resolved to', 110),
      ],
      [p.value('Rows', 'short', q.sum('karmada_dependency_conflict_info', field + ', namespace=~"$namespace"', q.cluster('namespace, api_group, kind, name, field, resolved')))],
      h=7,
      hidden=true,
      sort='name',
      empty='No dependency is in conflict.'
    ),
    p.table(
      'Parties',
      'Policies that are party to a conflict, the value that each wants, and of how many dependencies.',
      p.policyLabels() + [p.label('field', 'Field', 230), p.label('value', 'Wants', 110)],
      [p.value('Dependencies', 'short', q.sum('karmada_propagationpolicy_dependency_conflicts', field, q.cluster(q.policy + ', field, value')) + ' > 0', 120)],
      w=16,
      h=9,
      empty='No policy is party to a conflict.'
    ),
    p.text('Which value wins', 'How Karmada resolves what referrers disagree on.', |||
      A dependency goes where its referrers go, and takes two fields from their policies:

      - **ConflictResolution**: if any referrer says *Overwrite*, it is Overwrite; else *Abort*.
      - **PreserveResourcesOnDeletion**: if any says *true*, it is true; else *false*.

      So the more far-reaching value wins in silence. To end a conflict, let the policies agree, or
      give each workload a dependency of its own. **Unapplied** means that Karmada has not written
      the value that results: look at its dependencies distributor.
    |||, w=8, h=9),

    p.row('Over time'),
    shapes.conflicts(field),
    p.series("New conflicts, and Karmada's events", 'How often referrers began to disagree, by field, and dashed how many DependencyPolicyConflict events Karmada wrote. The events are a sign of life, no measure: they repeat and some are dropped.', 'short', [
      p.query(q.increase('karmada_dependency_conflict_transitions_total', field, 'field'), '{{field}}'),
      p.query(q.increase('karmada_dependency_conflict_events_total', field, 'field'), '{{field}}, events'),
    ], of='field', overrides=[
      p.line('ConflictResolution', width=8),
      p.line('PreserveResourcesOnDeletion', width=2),
      p.line('ConflictResolution, events', 'orange', dashed=true, width=4),
      p.line('PreserveResourcesOnDeletion, events', 'blue', dashed=true, width=2),
    ]),
  ])
