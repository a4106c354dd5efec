// Cloud resources of Config Connector that two controllers manage, and leases that end.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local expiry = 'karmada_configconnector_lease_expiration_min_timestamp_seconds';
  local conflict = 'class=~"$class"';
  kit.b.board('leases', 'Config Connector leases', 'Cloud resources of Config Connector that two controllers manage, and leases that expire.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_policy:namespace_rank:topk'),
    kit.b.variable('class', 'Class', 'karmada_configconnector_conflicts'),
  ], [
    shapes.problems(
      'Lease problems',
      'Open problems about Config Connector objects and leases of the selected namespaces.',
      shapes.named(['cloud_resource_conflict', 'management_conflict', 'lease_at_risk', 'deletion_trap', 'lease_unprotected'])
    ),

    shapes.problem('cloud_resource_conflict', 'Cloud resource conflicts', 'Config Connector objects of the selected namespaces with a cloud resource that another controller also manages, for 15 minutes or more.', w=4),
    shapes.problem('management_conflict', 'Management conflicts', 'Config Connector objects of the selected namespaces for which Config Connector reports or will report a lease conflict, for 10 minutes or more.', w=4),
    shapes.problem('lease_at_risk', 'Leases at risk', 'Leases of the selected namespaces that are not renewed, or that have an unknown holder, for 20 minutes or more.', w=4),
    p.stat('Next expiry', 'Time until the first held lease expires, of all namespaces. Expired leases do not count.', 's', 'min(%s) - time()' % q.oldest(expiry), w=4, good=limits.leaseLeft, link=p.list('Problems lease_at_risk', '/?problem=lease_at_risk')),
    p.stat('Unprotected share', 'Share of the Config Connector objects of all namespaces without lease protection: two controllers can manage the same resource without an error.', 'percentunit', q.share(q.sum('karmada_configconnector_resources', 'protection!="resource"'), q.sum('karmada_configconnector_resources')), w=4, link=p.list('Problems lease_unprotected', '/?problem=lease_unprotected')),
    p.stat('Age of the asset export', 'Time since the asset export that contains the leases.', 's', 'time() - max(%s)' % q.fold('karmada_configconnector_asset_snapshot_timestamp_seconds'), w=4, limits=limits.snapshotAge, link=p.list('State of the exporter', '/exporter')),

    p.row('Classes and objects'),
    p.table(
      'Conflicts by class',
      'Config Connector objects of all namespaces in each class of conflict, from the first moment on.',
      [p.clusterLabel, p.label('class', 'Class')],
      [p.value('Objects', 'short', q.sum('karmada_configconnector_conflicts', conflict, q.cluster('class')) + ' > 0', 100, limits.any)],
      w=8,
      h=7,
      empty='No object is in a conflict of the selected classes.'
    ),
    p.table(
      'Objects by API group',
      'Config Connector objects of all namespaces by API group and protection.',
      [p.clusterLabel, p.label('api_group', 'API group'), p.label('protection', 'Protection', 140)],
      [p.value('Objects', 'short', q.sum('karmada_configconnector_resources', '', q.cluster('api_group, protection')) + ' > 0', 100)],
      w=16,
      h=7
    ),
    p.table(
      'Objects in conflict',
      'One row for each Config Connector object of the selected namespaces in a conflict. The exporter writes these rows with --metrics.opt-in only, up to its limit (--metrics.detail-limit).',
      [
        p.clusterLabel,
        p.label('namespace', 'Namespace', 150),
        p.label('api_group', 'API group', 260),
        p.label('kind', 'Kind', 150),
        p.label('name', 'Name'),
        p.label('class', 'Class', 200),
      ],
      [p.value('Rows', 'short', q.sum('karmada_configconnector_conflict_info', conflict + ', namespace=~"$namespace"', q.cluster('namespace, api_group, kind, name, class')))],
      h=7,
      hidden=true,
      empty='No row: no object is in a conflict, or the exporter runs without --metrics.opt-in.'
    ),

    p.row('Trends'),
    p.series('Leases by state', 'Leases of all namespaces in the asset export: held, expiring (less than 20 minutes left), expired, absent (no lease), unknown (the export is too old).', 'short', [p.query(q.sum('karmada_configconnector_leases', '', 'state'), '{{state}}')], stack=true, of='lease'),
    p.series('Conflicts by class over time', 'reported: Config Connector reports the conflict; duplicate_identity: two objects have one cloud resource; multi_cluster_placement: one object is in several member clusters; refused: another namespace holds the lease; silent: the object changes a resource that another namespace holds; the other classes are about leases.', 'short', [p.query(q.sum('karmada_configconnector_conflicts', conflict, 'class'), '{{class}}')], stack=true, of='class'),
    p.series('Time until the next expiry', 'Time until the first held lease of a control plane expires. The holder renews a lease of 40 minutes when 20 minutes are left. At 0 a lease expired.', 's', [p.query('min by (%s) (%s) - time()' % [q.cluster(), q.oldest(expiry)], '{{%s}}' % kit.config.clusterLabel)], limits=[null, limits.leaseSoon], max=limits.leaseTtl, shades=true),
    p.bars('Objects by protection', 'Config Connector objects of all namespaces by their annotation management-conflict-prevention-policy.', 'short', q.sum('karmada_configconnector_resources', '', 'protection'), '{{protection}}'),
  ])
