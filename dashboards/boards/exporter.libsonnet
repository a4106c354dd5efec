// Can the other boards be believed: is everything read, how late is it, what was left out.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local one = 'instance=~"$instance"', of_resource = one + ', resource=~"$resource"';
  local own(name) = 'karmada_policy_exporter_' + name;
  local mine(family) = q.raw(family, one);
  // A replica: all else that a target is labelled with does not matter.
  local replica = q.cluster('job, ' + std.join(', ', kit.config.replicaLabels));
  local each(expr) = 'max by (%s) (%s)' % [replica, expr];
  local rate(family, by, matchers=one) = 'sum by (%s) (rate(%s[$__rate_interval]))' % [by, q.raw(family, matchers)];
  local grown(family, by='', matchers=of_resource) = q.increase(own(family), matchers, by);
  local lag(p) = 'histogram_quantile(%g, %s)' % [p, rate(own('event_lag_seconds_bucket'), 'le')];
  local dropped = 'sum by (family) (%s)' % q.fold(own('detail_series_dropped'), one);
  kit.b.board('exporter', 'Exporter health', 'Whether the other boards can be believed: is everything read, how late are the numbers, what was left out.', [
    kit.b.variable('instance', 'Instance', 'karmada_policy_exporter_up'),
    kit.b.variable('resource', 'Resource', own('objects')),
  ], [
    p.stat('Ready', 'Exporters that answer and have read everything, over all that Prometheus scrapes. Until then they show no other numbers.', 'percentunit', q.ready(one), good=limits.ready),
    p.stat('Age of the numbers', 'How long ago the page of the exporter that is furthest behind was brought up to date.', 's', 'time() - min(%s)' % mine(own('snapshot_timestamp_seconds')), limits=limits.pageAge),
    p.stat('Change to page', 'How long the first change after a page waited to be on the next, 99th percentile of the time shown.', 's', 'histogram_quantile(0.99, sum by (le) (increase(%s[$__range])))' % mine(own('event_lag_seconds_bucket')), limits=limits.eventLag),
    p.stat('Not synced', 'Resources whose changes are not followed just now; their last state counts.', 'short', q.orZero('count(%s == 0)' % q.raw(own('watch_synced'), of_resource)), limits=limits.bad),
    p.stat('Broken manifests', 'Manifest files that cannot be read as they are now; their last good content counts.', 'short', q.sum(own('manifest_errors'), one), limits=limits.any),
    p.stat('Not understood', 'Objects that could not be understood within the time shown; the version before them counts.', 'short', q.orZero(q.increase(own('decode_errors_total'), one, '', '$__range')), limits=limits.any),
    p.stat('Left out', 'Series about one object or policy that are not shown because there are more than the limits of the exporter.', 'short', q.orZero('sum(%s)' % dropped), limits=limits.any),
    p.stat('Configuration', '1 if the configuration in force is the last one that was given.', 'short', 'min(%s)' % mine(own('config_last_reload_successful')), mappings=[{
      type: 'value',
      options: { '0': { text: 'refused', color: 'red', index: 0 }, '1': { text: 'in force', color: 'green', index: 1 } },
    }]),

    p.row('Which'),
    p.table(
      'Exporters',
      'Each exporter that Prometheus scrapes: its build, whether it answers and is ready, and for how long it runs. A click opens its own page.',
      [
        p.clusterLabel,
        p.label('job', 'Job', 210),
        p.label('instance', 'Instance', null, { title: 'Page of this exporter', targetBlank: true, url: 'http://${__value.text}/' }),
        p.label('pod', 'Pod', 170),
        p.label('version', 'Version', 90),
        p.label('compiler', 'Compiler', 110),
      ],
      [
        p.value('Answers', 'percentunit', each(q.targets(one)), 90, good=limits.ready),
        p.value('Ready', 'percentunit', each(mine(own('up'))), 80, good=limits.ready),
        p.value('Runs for', 's', 'time() - ' + each(mine('process_start_time_seconds')), 100),
        p.value('Memory', 'bytes', each(mine('process_resident_memory_bytes')), 100),
        p.value('Series', 'short', each('%s and on (job, instance) %s' % [mine('scrape_samples_scraped'), mine(own('up'))]), 80),
        p.value('Build', 'short', 'max by (%s, version, compiler) (%s)' % [replica, mine(own('build_info'))], hide=true),
      ],
      h=5,
      sort='instance'
    ),
    p.table(
      'Trouble with resources',
      'Resources that are not synced (with a reason: not read even once, so that what depends on them is left out) or listed every 30 s for lack of connections, and kinds that policies select and the API server does not serve.',
      [p.clusterLabel, p.label('resource', 'Resource'), p.label('reason', 'Reason', 150), p.label('api_version', 'API version', 150), p.label('kind', 'Kind', 150)],
      [p.value('Rows', 'short', '%s or count by (%s) (%s == 0) or count by (%s) (%s == 1) or %s' % [
        q.sum(own('watch_late'), of_resource, q.cluster('resource, reason')),
        q.cluster('resource'),
        q.raw(own('watch_synced'), of_resource),
        q.cluster('resource'),
        q.raw(own('watch_polled'), of_resource),
        q.sum(own('selected_kind_not_served'), one, q.cluster('api_version, kind')),
      ])],
      w=16,
      h=5,
      hidden=true,
      sort='resource',
      empty='Every resource is read and followed.'
    ),
    p.stat('Resources followed', 'Resources of the API server that are followed, each namespace of --namespaces counted; 0 where manifests are read.', 'short', q.orZero('min(%s)' % mine(own('watches'))), w=4, h=5),
    p.stat('Kinds not served', 'Kinds that a policy selects and the API server does not serve: a typing error, or a definition that is missing.', 'short', q.orZero(q.sum(own('selected_kind_not_served'), one)), w=4, h=5, limits=limits.any),

    p.row('The way of the data'),
    p.series('Change to page over time', 'How long the first change after a page waited to be on the next.', 's', [
      p.query(lag(0.5), 'median'),
      p.query(lag(0.99), '99th percentile'),
    ], of='quantile', limits=limits.eventLag),
    p.series('Objects looked at', 'How many objects the rules look at in a second, each look counted.', 'ops', [p.query(rate(own('evaluations_total'), 'instance'), '{{instance}}')], shades=true),
    p.series('Objects in memory', 'By resource: a resource that falls to 0 was deleted or can no longer be read.', 'short', [p.query('max by (resource) (%s)' % q.raw(own('objects'), of_resource), '{{resource}}')]),
    p.series('Time of a slice of evaluation', 'How long the rules look at objects before pages are answered again, 99th percentile.', 's', [p.query('histogram_quantile(0.99, %s)' % rate(own('evaluation_duration_seconds_bucket'), 'le, instance'), '{{instance}}')], rows=true, shades=true),

    p.row('API server'),
    p.series('Silence of watches', 'For how long the API server has sent nothing about a resource, bookmarks included. A quiet resource rises to a minute or so; one that goes on rising is cut off.', 's', [p.query('time() - min by (resource) (%s)' % q.raw(own('watch_last_event_timestamp_seconds'), of_resource), '{{resource}}')], limits=limits.watchSilence, h=6),
    p.series('Watches that ended', 'Streams of changes that ended, by why. Some each few minutes are as it should be: the API server ends them.', 'short', [p.query(grown('watch_restarts_total', 'reason'), '{{reason}}')], stack=true, h=6),
    p.series('Lists', 'Requests for all objects of a resource, and dashed those that failed. Each costs the API server as much as the resource is large.', 'short', [
      p.query(grown('list_requests_total'), 'requests'),
      p.query(grown('list_request_failures_total'), 'failed'),
    ], overrides=[p.line('requests', 'blue', width=3), p.line('failed', 'red', dashed=true)], h=6),
    p.series('Audits', 'Comparisons of all objects of a resource with what the API server has, and objects that were otherwise, which must stay 0.', 'short', [
      p.query(grown('audits_total'), 'audits'),
      p.query(grown('audit_divergences_total', 'resource'), '{{resource}}, otherwise'),
    ], overrides=[p.line('audits', 'blue', width=3)], h=6),

    p.row('Manifests and what was left out'),
    p.series('Manifest files', 'Files that are followed.', 'short', [p.query('max(%s)' % mine(own('manifest_files')), 'files')], w=6, overrides=[p.line('files', 'blue')]),
    p.series('Manifests in doubt', 'Files that cannot be read as they are now, and dashed documents that a later one declares again.', 'short', [
      p.query('max(%s)' % mine(own('manifest_errors')), 'broken'),
      p.query('max(%s)' % mine(own('manifest_duplicates')), 'duplicates'),
    ], w=6, overrides=[p.line('broken', 'red', width=3), p.line('duplicates', 'orange', dashed=true)]),
    p.series('Objects not understood', 'Objects that could not be decoded, or were too large, by resource.', 'short', [p.query(grown('decode_errors_total', 'resource'), '{{resource}}'), p.query(grown('objects_rejected_total', 'resource'), '{{resource}}, too large')], w=6),
    p.series('Series left out', 'By family: more objects or policies than the limits of the exporter.', 'short', [p.query('sum(%s)' % dropped, 'in all'), p.query(dropped, '{{family}}')], w=6, overrides=[p.line('in all', 'blue', width=4, kept=true)]),

    p.row('Scrapes and the process'),
    p.series('Requests by handler and status', 'What is asked of the exporter, and how it answers.', 'reqps', [p.query(rate(own('http_requests_total'), 'handler, code'), '{{handler}} {{code}}')], w=8),
    p.series('Time of a scrape', 'As Prometheus measures it, by instance.', 's', [p.query(each('%s and on (job, instance) %s' % [mine('scrape_duration_seconds'), mine(own('up'))]), '{{instance}}')], w=8, shades=true),
    p.series('Series of a page', 'Samples that Prometheus takes at a scrape.', 'short', [p.query(each('%s and on (job, instance) %s' % [mine('scrape_samples_scraped'), mine(own('up'))]), '{{instance}}')], w=8, shades=true),
    p.series('Resident memory', 'Resident memory, by instance.', 'bytes', [p.query(each(mine('process_resident_memory_bytes')), '{{instance}}')], w=8, shades=true),
    p.series('CPU', 'Cores in use, by instance.', p.cores, [p.query(each('rate(%s[$__rate_interval])' % mine('process_cpu_seconds_total')), '{{instance}}')], w=8, shades=true),
    p.series('Open files', 'Descriptors in use, of the limit.', 'percentunit', [p.query('%s / %s' % [each(mine('process_open_fds')), each(mine('process_max_fds'))], '{{instance}}')], w=8, shades=true),
    p.series('Loop stands still', 'How long ago the loop that reads and evaluates last turned: it turns at least every two seconds, and beyond ten the exporter calls itself unhealthy.', 's', [p.query('time() - ' + each(mine(own('loop_heartbeat_timestamp_seconds'))), '{{instance}}')], w=8, shades=true),
    p.series('Log lines dropped', 'Lines of the log that nobody read in time: the exporter goes on and counts them, and its log tells how many are missing.', 'short', [p.query('sum(increase(%s[$__rate_interval]))' % mine(own('log_lines_dropped_total')), 'lines')], w=8, overrides=[p.line('lines', 'blue', kept=true)]),
    p.series('Clients sent away', 'Connections that were refused, or ended to make room for others, or that took too long with their request or their answer, by reason.', 'short', [p.query(q.orZero('sum(increase(%s[$__rate_interval]))' % mine(own('connections_refused_total'))), 'in all'), p.query('sum by (reason) (increase(%s[$__rate_interval]))' % mine(own('connections_refused_total')), '{{reason}}')], w=8, overrides=[p.line('in all', 'blue', width=4, kept=true)]),
  ])
