// Which cloud resources of Config Connector have two masters, or may lose theirs.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local expiry = 'karmada_configconnector_lease_expiration_min_timestamp_seconds';
  local conflict = 'class=~"$class"';
  kit.b.board('leases', 'Config Connector leases', 'Which cloud resources that Config Connector manages have two masters, and whose lease is about to lapse.', [
    kit.b.variable('class', 'Class', 'karmada_configconnector_conflicts'),
  ], [
    p.stat('Conflicts', 'Config Connector resources in a conflict of one of the chosen classes.', 'short', q.sum('karmada_configconnector_conflicts', conflict), w=4, limits=limits.bad),
    p.stat('Until the next expiry', 'Time left of the lease that ends first, of those that are held; expired ones count beside.', 's', 'min(%s) - time()' % q.oldest(expiry), w=4, good=limits.leaseLeft),
    p.stat('Expired leases', 'Leases that have ended: any other Config Connector may take the resource over.', 'short', q.sum('karmada_configconnector_leases', 'state="expired"'), w=4, limits=limits.bad),
    p.stat('Expiring leases', 'Leases with less than 20 minutes left, which their holder should have renewed by now.', 'short', q.sum('karmada_configconnector_leases', 'state="expiring"'), w=4, limits=limits.any),
    p.stat('Unprotected', 'Resources without lease protection: two clusters can fight over them in silence.', 'percentunit', q.share(q.sum('karmada_configconnector_resources', 'protection!="resource"'), q.sum('karmada_configconnector_resources')), w=4),
    p.stat('Age of the snapshot', 'How old the export of the cloud side is, from which leases are read.', 's', 'time() - max(%s)' % q.fold('karmada_configconnector_asset_snapshot_timestamp_seconds'), w=4, limits=limits.snapshotAge),

    p.row('Which'),
    p.table(
      'Conflicts by class',
      'How many resources are in a conflict of a class now.',
      [p.clusterLabel, p.label('class', 'Class')],
      [p.value('Resources', 'short', q.sum('karmada_configconnector_conflicts', conflict, q.cluster('class')) + ' > 0', 100, limits.bad)],
      w=8,
      h=7,
      empty='None is in a conflict of the chosen classes.'
    ),
    p.table(
      'Resources by kind of API',
      'How many Config Connector resources there are of an API group, and how they are protected.',
      [p.clusterLabel, p.label('api_group', 'API group'), p.label('protection', 'Protection', 140)],
      [p.value('Resources', 'short', q.sum('karmada_configconnector_resources', '', q.cluster('api_group, protection')) + ' > 0', 100)],
      w=16,
      h=7
    ),
    p.table(
      'Resources in conflict',
      'One row for each. Empty unless the exporter runs with --metrics.opt-in; then at most as many rows as its detail limit.',
      [
        p.clusterLabel,
        p.label('namespace', 'Namespace', 150),
        p.label('api_group', 'API group', 260),
        p.label('kind', 'Kind', 150),
        p.label('name', 'Name'),
        p.label('class', 'Class', 200),
      ],
      [p.value('Rows', 'short', q.sum('karmada_configconnector_conflict_info', conflict, q.cluster('namespace, api_group, kind, name, class')))],
      h=7,
      hidden=true,
      empty='None; or the exporter runs without --metrics.opt-in.'
    ),

    p.row('Over time'),
    p.series('Leases by state', 'As the snapshot shows it: held, expiring (less than 20 minutes left), expired, absent (no lease at all); unknown where it is too old to tell.', 'short', [p.query(q.sum('karmada_configconnector_leases', '', 'state'), '{{state}}')], stack=true, of='lease'),
    p.series('Conflicts by class over time', 'reported: Config Connector says so itself; duplicate_identity: two objects, one cloud resource; multi_cluster_placement: one object on several member clusters; refused: it asks for a lease that another namespace holds; silent: it acts against the holder of the lease; the rest are about leases.', 'short', [p.query(q.sum('karmada_configconnector_conflicts', conflict, 'class'), '{{class}}')], stack=true, of='class'),
    p.series('Time left of the first lease to end', 'It falls until the holder renews, at less than 20 of 40 minutes. A line that reaches 0 is a lease that was lost.', 's', [p.query('min by (%s) (%s) - time()' % [q.cluster(), q.oldest(expiry)], '{{%s}}' % kit.config.clusterLabel)], limits=[null, limits.leaseSoon], max=limits.leaseTtl, shades=true),
    p.bars('Resources by protection', 'Config Connector resources by their management-conflict-prevention-policy.', 'short', q.sum('karmada_configconnector_resources', '', 'protection'), '{{protection}}'),
  ])
