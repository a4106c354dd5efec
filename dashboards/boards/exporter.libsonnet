// Can the other boards be believed: is everything read, how late is it, what was left out.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local one = 'instance=~"$instance"';
  local own(name) = 'karmada_policy_exporter_' + name;
  local replica = q.cluster('job, instance');
  local mine(family) = q.series(family, one);
  local read(family) = q.series(own(family), one + ', resource=~"$resource"');
  kit.b.board('exporter', 'Exporter health', 'Whether the other boards can be believed: is everything read, how late are the numbers, what was left out.', [
    kit.b.variable('instance', 'Instance', 'karmada_policy_exporter_up'),
    kit.b.variable('resource', 'Resource', own('objects')),
  ], [
    p.stat('Ready', 'Exporters that answer and have read everything, over all that Prometheus scrapes. Until then they show no other numbers.', 'percentunit', 'avg(%s or 0 * (%s))' % [mine(own('up')), q.targets(one)], w=3, spark=false),
    p.stat('Age of the numbers', 'How long ago the page of the exporter that is furthest behind was brought up to date.', 's', 'time() - min(%s)' % mine(own('snapshot_timestamp_seconds')), w=3, spark=false),
    p.stat('Change to page', 'How long the first change after a page waited to be on the next, 99th percentile.', 's', 'histogram_quantile(0.99, sum by (le) (rate(%s[$__rate_interval])))' % mine(own('event_lag_seconds_bucket')), w=3, limits=limits.eventLag),
    p.stat('Broken manifests', 'Manifest files that cannot be read as they are now; their last good content counts.', 'short', 'sum(%s)' % mine(own('manifest_errors')), w=3, limits=limits.any),
    p.stat('Not understood', 'Objects that could not be understood within the time shown; the version before them counts.', 'short', q.orZero('sum(increase(%s[$__range]))' % mine(own('decode_errors_total'))), w=3, limits=limits.any),
    p.stat('Left out', 'Series with one object each that are not shown because there are more than the detail limit.', 'short', q.orZero('sum(%s)' % mine(own('detail_series_dropped'))), w=3, limits=limits.any),
    p.stat('Configuration', '1 if the configuration in force is the last one that was given.', 'short', 'min(%s)' % mine(own('config_last_reload_successful')), w=3, spark=false, mappings=[{
      type: 'value',
      options: { '0': { text: 'refused', color: 'red', index: 0 }, '1': { text: 'in force', color: 'green', index: 1 } },
    }]),
    p.stat('Memory', 'Resident memory of the largest exporter.', 'bytes', 'max(%s)' % mine('process_resident_memory_bytes'), w=3),

    p.row('Which'),
    p.table(
      'Exporters',
      'Each exporter that Prometheus scrapes: its build, whether it answers and is ready, and for how long it runs. A click opens its own page.',
      [
        p.clusterLabel,
        p.label('job', 'Job', 220),
        p.label('instance', 'Instance', null, { title: 'Page of this exporter', targetBlank: true, url: 'http://${__value.text}/' }),
        p.label('version', 'Version', 150),
        p.label('compiler', 'Compiler', 150),
      ],
      [
        p.value('Answers', 'short', 'max by (%s) (%s)' % [replica, q.targets(one)], 90),
        p.value('Ready', 'short', 'max by (%s) (%s)' % [replica, mine(own('up'))], 80),
        p.value('Runs for', 's', 'time() - max by (%s) (%s)' % [replica, mine('process_start_time_seconds')], 110),
        p.value('Build', 'short', 'max by (%s, version, compiler) (%s)' % [replica, mine(own('build_info'))], hide=true),
      ],
      w=24,
      h=5
    ),

    p.row('The way of the data'),
    p.series('Change to page', 'How long the first change after a page waited to be on the next.', 's', [
      p.query('histogram_quantile(0.5, sum by (le) (rate(%s[$__rate_interval])))' % mine(own('event_lag_seconds_bucket')), 'median'),
      p.query('histogram_quantile(0.99, sum by (le) (rate(%s[$__rate_interval])))' % mine(own('event_lag_seconds_bucket')), '99th percentile'),
    ]),
    p.series('Objects looked at', 'How many objects the rules look at in a second, each look counted.', 'ops', [p.query('sum by (instance) (rate(%s[$__rate_interval]))' % mine(own('evaluations_total')), '{{instance}}')]),
    p.series('Objects in memory', 'By resource: a resource that falls to 0 was deleted or can no longer be read.', 'short', [p.query('max by (resource) (%s)' % read('objects'), '{{resource}}')]),
    p.series('Time of a slice of evaluation', 'How long the rules look at objects before pages are answered again, 99th percentile.', 's', [p.query('histogram_quantile(0.99, sum by (le, instance) (rate(%s[$__rate_interval])))' % mine(own('evaluation_duration_seconds_bucket')), '{{instance}}')]),

    p.row('API server'),
    p.stat('Resources followed', 'Resources of the API server that are followed, each namespace of --namespaces counted; 0 where manifests are read.', 'short', q.orZero('min(%s)' % mine(own('watches'))), h=4),
    p.stat('Not synced', 'Resources whose changes are not followed just now; their last state counts.', 'short', q.orZero('count(%s == 0)' % read('watch_synced')), h=4, limits=limits.bad),
    p.stat('Kinds not served', 'Kinds that a policy selects and the API server does not serve: a typing error, or a definition that is missing.', 'short', q.orZero('sum(max without (%s) (%s))' % [kit.config.replicaLabels, mine(own('selected_kind_not_served'))]), h=4, limits=limits.any),
    p.table(
      'Trouble with resources',
      'Resources that are not synced (with a reason: not read even once, so that what depends on them is left out) or listed every 30 s for lack of connections, and kinds that policies select and the API server does not serve.',
      [p.clusterLabel, p.label('resource', 'Resource'), p.label('reason', 'Reason', 150), p.label('api_version', 'API version', 150), p.label('kind', 'Kind', 150)],
      [p.value('Rows', 'short', 'max by (%s) (%s) or count by (%s) (%s == 0) or count by (%s) (%s == 1) or max by (%s) (%s)' % [q.cluster('resource, reason'), read('watch_late'), q.cluster('resource'), read('watch_synced'), q.cluster('resource'), read('watch_polled'), q.cluster('api_version, kind'), mine(own('selected_kind_not_served'))])],
      w=12,
      h=4,
      hidden=true
    ),
    p.series('Silence of watches', 'For how long the API server has sent nothing about a resource, bookmarks included. A quiet resource rises to a minute or so; one that goes on rising is cut off.', 's', [p.query('time() - min by (resource) (%s)' % read('watch_last_event_timestamp_seconds'), '{{resource}}')], w=8, limits=limits.watchSilence),
    p.series('Watches that ended', 'Streams of changes that ended, by why. Some each few minutes are as it should be: the API server ends them.', 'short', [p.query('sum by (reason) (increase(%s[$__rate_interval])) > 0' % read('watch_restarts_total'), '{{reason}}')], w=8, stack=true),
    p.series('Lists', 'Requests for all objects of a resource, and those that failed. Each costs the API server as much as the resource is large.', 'short', [
      p.query('sum(increase(%s[$__rate_interval]))' % read('list_requests_total'), 'requests'),
      p.query('sum(increase(%s[$__rate_interval]))' % read('list_request_failures_total'), 'failed'),
    ], w=8),

    p.series('Audits', 'Comparisons of all objects of a resource with what the API server has, and objects that were otherwise, which must stay 0.', 'short', [
      p.query('sum(increase(%s[$__rate_interval]))' % read('audits_total'), 'audits'),
      p.query('sum by (resource) (increase(%s[$__rate_interval])) > 0' % read('audit_divergences_total'), '{{resource}}, otherwise'),
    ], w=8),

    p.row('Manifests and what was left out'),
    p.series('Manifest files', 'Files that are followed, those that cannot be read as they are now, and documents that a later one declares again.', 'short', [
      p.query('max(%s)' % mine(own('manifest_files')), 'files'),
      p.query('max(%s)' % mine(own('manifest_errors')), 'broken'),
      p.query('max(%s)' % mine(own('manifest_duplicates')), 'duplicates'),
    ], w=8),
    p.series('Objects not understood', 'Objects that could not be decoded, by resource.', 'short', [p.query('sum by (resource) (increase(%s[$__rate_interval]))' % read('decode_errors_total'), '{{resource}}'), p.query('sum by (resource) (increase(%s[$__rate_interval]))' % read('objects_rejected_total'), '{{resource}}, too large')], w=8),
    p.series('Series left out', 'By family: more objects than the detail limit.', 'short', [p.query('max by (family) (%s)' % mine(own('detail_series_dropped')), '{{family}}')], w=8),

    p.row('Scrapes and the process'),
    p.series('Requests by handler and status', 'What is asked of the exporter, and how it answers.', 'reqps', [p.query('sum by (handler, code) (rate(%s[$__rate_interval])) > 0' % mine(own('http_requests_total')), '{{handler}} {{code}}')], w=8),
    p.series('Time of a scrape', 'As Prometheus measures it, by instance.', 's', [p.query('%s and on (job, instance) %s' % [mine('scrape_duration_seconds'), mine(own('up'))], '{{instance}}')], w=8),
    p.series('Series of a page', 'Samples that Prometheus takes at a scrape.', 'short', [p.query('%s and on (job, instance) %s' % [mine('scrape_samples_scraped'), mine(own('up'))], '{{instance}}')], w=8),
    p.series('Memory', 'Resident memory, by instance.', 'bytes', [p.query(mine('process_resident_memory_bytes'), '{{instance}}')], w=8),
    p.series('CPU', 'Cores in use, by instance.', 'short', [p.query('rate(%s[$__rate_interval])' % mine('process_cpu_seconds_total'), '{{instance}}')], w=8),
    p.series('Open files', 'Descriptors in use, and the limit.', 'percentunit', [p.query('%s / %s' % [mine('process_open_fds'), mine('process_max_fds')], '{{instance}}')], w=8),
    p.series('Loop stands still', 'How long ago the loop that reads and evaluates last turned: it turns at least every two seconds, and beyond ten the exporter calls itself unhealthy.', 's', [p.query('time() - max by (instance) (%s)' % mine(own('loop_heartbeat_timestamp_seconds')), '{{instance}}')], w=8),
    p.series('Log lines dropped', 'Lines of the log that nobody read in time: the exporter goes on and counts them, and its log tells how many are missing.', 'short', [p.query('sum by (instance) (increase(%s[$__rate_interval]))' % mine(own('log_lines_dropped_total')), '{{instance}}')], w=8),
    p.series('Clients sent away', 'Connections that were refused, or ended to make room for others, or that took too long with their request or their answer, by reason.', 'short', [p.query('sum by (reason) (increase(%s[$__rate_interval])) > 0' % mine(own('connections_refused_total')), '{{reason}}')], w=8, stack=true),
  ])
