// Completeness and age of the data of the exporter, and its use of resources.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local one = 'instance=~"$instance"', of_resource = one + ', resource=~"$resource"';
  local own(name) = 'karmada_policy_exporter_' + name;
  local mine(family) = q.raw(family, one);
  // A replica: other labels of a target have no effect.
  local replica = q.cluster('job, ' + std.join(', ', kit.config.replicaLabels));
  local each(expr) = 'max by (%s) (%s)' % [replica, expr];
  local rate(family, by, matchers=one) = 'sum by (%s) (rate(%s[$__rate_interval]))' % [by, q.raw(family, matchers)];
  local grown(family, by='', matchers=of_resource) = q.increase(own(family), matchers, by);
  // Growth of a counter that has no row before its first increment.
  local grown_or_zero(family, matchers=of_resource) = q.orZero(grown(family, '', matchers));
  local lag(p) = 'histogram_quantile(%g, %s)' % [p, rate(own('event_lag_seconds_bucket'), 'le')];
  local dropped = 'sum by (family) (%s)' % q.fold(own('detail_series_dropped'), one);
  local samples = each('%s and on (job, instance) %s' % [mine('scrape_samples_scraped'), mine(own('up'))]);
  local broken = q.orZero(q.sum(own('manifest_errors'), one));
  local state = p.list('State of the exporter', '/exporter');
  kit.b.board('exporter', 'Exporter health', 'Completeness and age of the data on all boards, and the use of resources by the exporters.', [
    kit.b.variable('instance', 'Instance', 'karmada_policy_exporter_up'),
    kit.b.variable('resource', 'Resource', own('objects')),
  ], [
    shapes.problems(
      'Data problems',
      'Open problems data_incomplete: resources and files that the exporter cannot read completely.',
      'problem="data_incomplete"',
      h=6
    ),
    shapes.alerts(w=24, h=6, matchers='alertname=~"%sPolicyExporter.*"' % kit.config.alertPrefix),

    p.stat('Ready', 'Share of the scraped exporters that have read all data. An exporter that is not ready exports no other numbers.', 'percentunit', q.ready(one), good=limits.ready, w=2, link=state),
    p.stat('Age of the numbers', 'Time since the exporter with the oldest page updated its page.', 's', 'time() - min(%s)' % mine(own('snapshot_timestamp_seconds')), limits=limits.pageAge, link=state),
    p.stat('Change to page, time range', 'Time from the first change after a page to the next page: 99th percentile of the time range.', 's', 'histogram_quantile(0.99, sum by (le) (increase(%s[$__range])))' % mine(own('event_lag_seconds_bucket')), limits=limits.eventLag, w=4, link=state),
    p.stat('Not synced', 'Resources with a watch that fails now. The exporter uses their last known objects.', 'short', q.orZero('count(%s == 0)' % q.raw(own('watch_synced'), of_resource)), limits=limits.bad, w=2, link=state),
    p.stat('Rejected input, time range', 'Objects that the exporter could not decode in the time range, plus manifest files with errors. It uses their last good version.', 'short', '(%s) + (%s)' % [q.orZero(q.increase(own('decode_errors_total'), one, '', '$__range')), broken], limits=limits.any, w=4, link=state),
    p.stat('Series left out', 'Series of single objects or policies that the exporter does not export because of its limits. All counts are complete.', 'short', q.orZero('sum(%s)' % dropped), limits=limits.any, link=state),
    p.stat('Kinds not served', 'Kinds that a policy selects and that the API server does not serve. Correct the policy, or install the CustomResourceDefinition.', 'short', q.orZero(q.sum(own('selected_kind_not_served'), one)), limits=limits.any, link=state),
    p.stat('Configuration', 'Result of the last configuration reload. After a refused reload the exporter keeps its previous configuration.', 'short', 'min(%s)' % mine(own('config_last_reload_successful')), link=state, mappings=[{
      type: 'value',
      options: { '0': { text: 'refused', color: 'red', index: 0 }, '1': { text: 'in force', color: 'green', index: 1 } },
    }]),

    p.row('Exporters and resources'),
    p.table(
      'Exporters',
      'Exporters that Prometheus scrapes: build, availability, uptime, size, and time until the certificate expires. A click on an instance opens its page.',
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
        p.value('Uptime', 's', 'time() - ' + each(mine('process_start_time_seconds')), 100),
        p.value('Memory', 'bytes', each(mine('process_resident_memory_bytes')), 100),
        p.value('Series', 'locale', samples, 80),
        p.value('Certificate', 's', each(mine(own('web_certificate_not_after_timestamp_seconds'))) + ' - time()', 110, good=limits.certificateLeft),
        p.value('Build', 'short', 'max by (%s, version, compiler) (%s)' % [replica, mine(own('build_info'))], hide=true),
      ],
      h=5,
      sort='instance',
      empty='Prometheus scrapes no exporter.'
    ),
    p.table(
      'Resources with errors',
      'Resources that are late with their reason, not synced, or listed every 30 s for lack of connections, and selected kinds that the API server does not serve.',
      [p.clusterLabel, p.label('resource', 'Resource'), p.label('reason', 'Reason', 150), p.label('api_version', 'API version', 150), p.label('kind', 'Kind', 150)],
      [p.value('Rows', 'short', '%s or count by (%s) (%s == 0) or count by (%s) (%s == 1) or %s' % [
        q.sum(own('watch_late'), of_resource, q.cluster('resource, reason')),
        q.cluster('resource'),
        q.raw(own('watch_synced'), of_resource),
        q.cluster('resource'),
        q.raw(own('watch_polled'), of_resource),
        q.sum(own('selected_kind_not_served'), one, q.cluster('api_version, kind')),
      ])],
      w=24,
      h=7,
      hidden=true,
      sort='resource',
      empty='The exporter reads and follows every resource.'
    ),

    p.row('Data'),
    p.series('Change to page over time', 'Time from the first change after a page to the next page: median and 99th percentile.', 's', [
      p.query(lag(0.5), 'median'),
      p.query(lag(0.99), '99th percentile'),
    ], of='quantile', limits=limits.eventLag),
    p.series('Evaluated objects', 'Evaluations of objects by the rules in each second. An object counts once for each evaluation.', 'ops', [p.query(rate(own('evaluations_total'), 'instance'), '{{instance}}')], shades=true),
    p.series('Objects in memory', 'Objects by resource. A resource that falls to 0 was deleted, or the exporter cannot read it any more.', 'short', [p.query('max by (resource) (%s)' % q.raw(own('objects'), of_resource), '{{resource}}')], h=9),
    p.series('Duration of evaluation', 'Time that the loop evaluates objects before it answers requests for pages again: 99th percentile.', 's', [p.query('histogram_quantile(0.99, %s)' % rate(own('evaluation_duration_seconds_bucket'), 'le, instance'), '{{instance}}')], h=9, rows=true, shades=true),
    p.series('Sources', 'Resources of the API server that the exporter watches, counted for each namespace of --namespaces, and manifest files that it reads.', 'short', [
      p.query(q.orZero('max(%s)' % mine(own('watches'))), 'watched resources'),
      p.query(q.orZero('max(%s)' % mine(own('manifest_files'))), 'manifest files'),
    ], overrides=[p.line('watched resources', 'blue', width=3), p.line('manifest files', 'text', dashed=true)]),
    p.series('Rejected input over time', 'Objects that the exporter could not decode or that were too large, manifest files with errors, and duplicate documents in manifests.', 'short', [
      p.query(grown_or_zero('decode_errors_total'), 'not decoded'),
      p.query(grown_or_zero('objects_rejected_total'), 'too large'),
      p.query(broken, 'files with errors'),
      p.query(q.orZero(q.sum(own('manifest_duplicates'), one)), 'duplicate documents'),
    ], overrides=[
      p.line('not decoded', 'purple', width=5, kept=true),
      p.line('too large', 'dark-orange', width=3),
      p.line('files with errors', 'red', width=2),
      p.line('duplicate documents', 'orange', dashed=true),
    ]),
    p.series('Series left out by family', 'Series of single objects or policies that the exporter does not export because of its limits.', 'short', [p.query('sum(%s)' % dropped, 'in total'), p.query(dropped, '{{family}}')], h=6, overrides=[p.line('in total', 'blue', width=4, kept=true)]),
    p.series('Notifications by result', 'Alerts that the exporters handed to Alertmanager (--alertmanager.url), by result. An alert counts each time that it is sent.', 'short', [
      p.query(grown_or_zero('alertmanager_notifications_total', one + ', result="sent"'), 'sent'),
      p.query(grown_or_zero('alertmanager_notifications_total', one + ', result="failed"'), 'failed'),
      p.query(grown_or_zero('alertmanager_notifications_total', one + ', result!~"sent|failed"'), 'replaced by newer'),
    ], h=6, overrides=[p.line('sent', 'blue', width=3, kept=true), p.line('failed', 'red', dashed=true), p.line('replaced by newer', 'orange')]),

    p.row('API server'),
    p.series('Silence of watches', 'Time since the API server sent the last event or bookmark of a resource. A quiet resource stays near one minute; a line that only rises shows a broken watch. API servers send no bookmarks for Events, so these are left out.', 's', [p.query('time() - min by (resource) (%s)' % q.raw(own('watch_last_event_timestamp_seconds'), of_resource + ', resource!="event"'), '{{resource}}')], limits=limits.watchSilence, h=6),
    p.series('Watches that ended', 'Ended watches by reason. The API server ends each watch every few minutes, which is normal.', 'short', [p.query(grown('watch_restarts_total', 'reason'), '{{reason}}')], stack=true, h=6),
    p.series('Lists', 'Requests for all objects of a resource, and dashed the failed ones. The cost for the API server grows with the number of objects.', 'short', [
      p.query(grown('list_requests_total'), 'requests'),
      p.query(grown('list_request_failures_total'), 'failed'),
    ], overrides=[p.line('requests', 'blue', width=3), p.line('failed', 'red', dashed=true)], h=6),
    p.series('Audits', 'Comparisons of all objects of a resource with the API server, and objects that differed. Each difference is an error.', 'short', [
      p.query(grown('audits_total'), 'audits'),
      p.query(grown('audit_divergences_total', 'resource'), '{{resource}}, different'),
    ], overrides=[p.line('audits', 'blue', width=3)], h=6),

    p.row('Scrapes and process'),
    p.series('Requests by handler and status', 'HTTP requests to the exporter by handler and status code.', 'reqps', [p.query(rate(own('http_requests_total'), 'handler, code'), '{{handler}} {{code}}')], w=8),
    p.series('Scrape duration', 'Duration of a scrape, measured by Prometheus, by instance.', 's', [p.query(each('%s and on (job, instance) %s' % [mine('scrape_duration_seconds'), mine(own('up'))]), '{{instance}}')], w=8, shades=true),
    p.series('Samples of a scrape', 'Samples that Prometheus stores for a scrape, by instance.', 'locale', [p.query(samples, '{{instance}}')], w=8, shades=true),
    p.series('Resident memory', 'Resident memory of the process, by instance.', 'bytes', [p.query(each(mine('process_resident_memory_bytes')), '{{instance}}')], w=8, shades=true),
    p.series('CPU', 'Cores that the process uses, by instance.', p.cores, [p.query(each('rate(%s[$__rate_interval])' % mine('process_cpu_seconds_total')), '{{instance}}')], w=8, shades=true),
    p.series('Open files', 'Open file descriptors as a share of the limit, by instance.', 'percentunit', [p.query('%s / %s' % [each(mine('process_open_fds')), each(mine('process_max_fds'))], '{{instance}}')], w=8, shades=true),
    p.series('Age of the loop heartbeat', 'Time since the last turn of the event loop, which turns at least every two seconds. After ten seconds the exporter reports that it is unhealthy.', 's', [p.query('time() - ' + each(mine(own('loop_heartbeat_timestamp_seconds'))), '{{instance}}')], w=8, shades=true),
    p.series('Dropped log lines', 'Log lines that the exporter dropped because the reader of its output was too slow.', 'short', [p.query('sum(increase(%s[$__rate_interval]))' % mine(own('log_lines_dropped_total')), 'lines')], w=8, overrides=[p.line('lines', 'blue', kept=true)]),
    p.series('Refused connections', 'Connections that the exporter refused, or ended for a new one or because of a timeout, by reason.', 'short', [p.query(q.orZero('sum(increase(%s[$__rate_interval]))' % mine(own('connections_refused_total'))), 'in total'), p.query('sum by (reason) (increase(%s[$__rate_interval]))' % mine(own('connections_refused_total')), '{{reason}}')], w=8, overrides=[p.line('in total', 'blue', width=4, kept=true)]),
  ])
