// Config Connector objects: cloud resources that two controllers drive, and leases that run out.
function(k, config)
  local conflicts(classes) = k.fold('karmada_configconnector_conflicts', ['class'], 'class%s' % classes) + ' > 0';
  local one(class) = k.fold('karmada_configconnector_conflicts', [], 'class="%s"' % class) + ' > 0';

  k.concern(
    'config-connector',
    'Config Connector objects: cloud resources that two controllers drive, and leases that run out.',
    [
      k.alert('ConfigConnectorManagementConflict', {
        cause: 'another installation or namespace holds the lease of a cloud resource',
        severity: 'critical',
        'for': '10m',
        keep: '5m',
        board: 'leases',
        page: '?problem=management_conflict',
        show: ['class'],
        expr: conflicts('=~"reported|refused"'),
        summary: 'Config Connector refuses to manage a resource that another one holds.',
        description: |||
          %s for the lease of a cloud resource that another installation or namespace holds
          ({{ $labels.class }}), so what {{ if eq $value 1.0 }}it says{{ else }}they say{{ end }} is not
          applied.
        ||| % k.number('Config Connector object asks', 'Config Connector objects ask'),
      }),
      k.alert('ConfigConnectorSharedResource', {
        cause: 'two controllers drive one cloud resource',
        severity: 'critical',
        'for': '15m',
        keep: '5m',
        board: 'leases',
        page: '?problem=cloud_resource_conflict',
        show: ['class'],
        expr: conflicts('=~"duplicate_identity|multi_cluster_placement|silent"'),
        summary: 'Two controllers drive one cloud resource.',
        description: |||
          %s a cloud resource with another ({{ $labels.class }}): each controller undoes what the other
          does, mostly in silence.
        ||| % k.number('Config Connector object shares', 'Config Connector objects share'),
      }),
      k.alert('ConfigConnectorDeletionTrap', {
        cause: 'leaving one member cluster would delete a cloud resource in use',
        severity: 'warning',
        'for': '15m',
        board: 'leases',
        page: '?problem=deletion_trap',
        show: ['class'],
        expr: conflicts('="deletion_trap"'),
        summary: 'Taking one member cluster away would delete a cloud resource in use.',
        description: |||
          %s placed on several member clusters without the deletion policy abandon: leaving one of these
          clusters deletes the resource for all.
        ||| % k.number('Config Connector object is', 'Config Connector objects are'),
      }),
      k.alert('ConfigConnectorLeaseExpired', {
        cause: 'the lease of a cloud resource has run out',
        severity: 'critical',
        'for': '5m',
        keep: '5m',
        board: 'leases',
        page: '?problem=lease_at_risk',
        show: ['class'],
        expr: conflicts('="expired"'),
        summary: 'The lease of a cloud resource has run out.',
        description: |||
          %s past: the holder has stopped reconciling, and any other controller can take the cloud
          resource.
        ||| % k.number('lease is', 'leases are'),
      }),
      k.alert('ConfigConnectorLeaseAtRisk', {
        comment: |||
          A lease that one snapshot shows to expire soon says so for less than twenty minutes: then it is
          past, and only another snapshot tells whether it was extended.
        |||,
        cause: 'a lease is not renewed, its holder is unknown, or the inventory is too old to tell',
        severity: 'warning',
        'for': '20m',
        keep: '5m',
        board: 'leases',
        page: '?problem=lease_at_risk',
        expr: k.any([
          k.tell('reason', 'expiring', one('expiring')),
          k.tell('reason', 'unknown_holder', one('unknown_holder')),
          k.tell('reason', 'snapshot_old', '%s\n> %g' % [
            'time() - ' + k.fold('karmada_configconnector_asset_snapshot_timestamp_seconds'),
            config.thresholds.assetSnapshotAgeSeconds,
          ]),
        ]),
        summary: 'Leases of cloud resources may not hold, or nobody can tell.',
        description: k.choose('reason', [
          [['expiring'], |||
            %s less than twenty minutes left, in one snapshot of the assets after the other.
          ||| % k.number('lease has', 'leases have')],
          [['unknown_holder'], |||
            %s held by an id that belongs to no known namespace.
          ||| % k.number('lease is', 'leases are')],
          [[], |||
            The asset inventory that leases are read from is {{ $value | humanizeDuration }} old, and a
            lease lasts forty minutes.
          |||],
        ]),
      }),
    ]
  )
