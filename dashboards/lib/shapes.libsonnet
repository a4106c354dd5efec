// Panels and queries that several boards have.
function(kit) {
  local p = kit.p,
  local q = kit.q,
  local limits = kit.config.thresholds,
  local shapes = self,
  local by_policy = q.cluster(q.policy),

  // ---- capacity

  // Resources of a placement.
  fits:: 'resource=~"cpu|memory|pods"',
  local by_resource = q.cluster('member_cluster, resource'),
  // The rules record both once a minute.
  free(matchers, by=by_resource):: q.record('karmada_policy:member_cluster_free:max', matchers, by),
  arriving(matchers, by=by_resource):: q.record('karmada_policy:member_cluster_arriving:sum', matchers, by),
  // Requests that drift would bring, as a share of the free resources; of a full cluster, a large number.
  load(matchers, by=by_resource):: '(%s) / on (%s) clamp_min(%s, 0.001)' % [
    shapes.arriving(matchers, by),
    by,
    shapes.free(matchers, by),
  ],

  // ---- problems

  // Number of open problems that fulfil the matchers, in the chosen namespaces; with `owner` also of the chosen
  // owners: the series of single problems, which alone have an owner, are read only if an owner is chosen.
  open(matchers, by='', owner=false)::
    local problems(more) = matchers + ', ' + more;
    local all_owners = if owner then ', ' + q.ifAll('owner') else '';
    q.orZeroOfRules(std.join(' or ', [
      q.record('karmada_policy:problems:sum', problems(q.ifAll('namespace') + all_owners), by),
      q.record('karmada_policy:namespace_problems:sum', problems('namespace=~"$namespace", ' + q.unlessAll('namespace') + all_owners), by),
    ] + [
      '%s (%s)' % [
        if by == '' then 'count' else 'count by (%s)' % by,
        q.raw('karmada_policy:problem_since_timestamp_seconds:min', problems('namespace=~"$namespace", owner=~"$owner", ' + q.unlessAll('owner'))),
      ]
      for _ in [0]
      if owner
    ])),
  // The number of open instances of one problem, with a link to their list. The subject of some problems has no
  // namespace: `namespaced` is false for them.
  problem(name, title, description, w=3, h=3, namespaced=true)::
    local one = 'problem="%s"' % name;
    local count = if namespaced then shapes.open(one) else q.orZeroOfRules(q.record('karmada_policy:problems:sum', one));
    p.stat(title, description, 'short', count, w=w, h=h, severity=severities[name], link=p.list('These problems', '/?problem=' + name)),
  // Matchers of a table of several problems: those of the selected namespaces, and those without a namespace.
  named(names):: 'problem=~"%s", namespace=~"$namespace|"' % std.join('|', names),

  local problem_table = import '../../alerts/source/problem_table.libsonnet',
  // KarmadaPolicyProblem is a second alert of problems of severity info, if a site raised their severity.
  local first_alerts = [alert for alert in problem_table.alerts if alert.name != 'KarmadaPolicyProblem'],
  local severities = { [row.name]: row.severity for alert in first_alerts for row in alert.problems },
  local replace(expr, to, value, from, regex) = 'label_replace(%s, "%s", "%s", "%s", "%s")' % [expr, to, value, from, regex],
  // Adds the label `alert`: the alert that reports the problem. Its runbook has the same name.
  local with_alert(expr) = std.foldl(
    function(inner, alert) replace(inner, 'alert', alert.name, 'problem', std.join('|', [row.name for row in alert.problems])),
    [alert for alert in first_alerts if alert.name != 'KarmadaPolicyReview'],
    replace(replace(expr, 'alert', 'KarmadaPolicyProblem', 'severity', '.+'), 'alert', 'KarmadaPolicyReview', 'severity', 'info')
  ),
  // Adds the label `anchor`: the problem with '-' instead of '_'. An expression replaces one '_'.
  local with_anchor(expr) =
    assert [row for alert in first_alerts for row in alert.problems if row.doc != std.strReplace(row.name, '_', '-')] == [];
    std.foldl(
      function(inner, _) replace(inner, 'anchor', '$1-$2', 'anchor', '(.*)_(.*)'),
      std.range(1, 3),
      replace(expr, 'anchor', '$1', 'problem', '(.*)')
    ),
  // Adds the label `object`: "Deployment shop/web", "Cluster member1".
  local with_object(expr) =
    local path = replace('label_join(%s, "object", "/", "namespace", "name")' % expr, 'object', '$1', 'object', '/(.*)');
    'label_join(%s, "object", " ", "kind", "object")' % path,
  // Severities with a number that sorts: text of the label, text that is shown.
  local ranks = [['critical', '1 critical'], ['warning', '2 warning'], ['info', '3 info']],
  local with_rank(expr) = std.foldl(function(inner, r) replace(inner, 'severity', r[1], 'severity', r[0]), ranks, expr),
  local roles = import '../../alerts/source/roles.libsonnet',
  local role_names = std.objectFields(roles),
  // Milliseconds; those of an unknown start sort last.
  local unknown = 1e13,
  local since(matchers) = '1000 * ((%s + %d) %% %d + 1)' % [
    q.raw('karmada_policy:problem_since_timestamp_seconds:min', matchers),
    unknown / 1000 - 1,
    unknown / 1000,
  ],

  // Open problems that fulfil the matchers, worst first.
  problems(title, description, matchers, w=24, h=9, empty='No open problem. If the numbers of this board show "no data", no exporter has current data.')::
    p.table(
      title,
      description + ' Worst first: by severity, then oldest. A click on a problem opens its list on the page of the exporter, with cause and action; a click on an alert opens its runbook. Needs the bundled rules.',
      [
        p.clusterLabel,
        p.label('severity', 'Severity', 85, mappings=[{
          type: 'value',
          options: { [ranks[i][1]]: { text: ranks[i][0], color: kit.config.colours.severity[ranks[i][0]], index: i } for i in std.range(0, std.length(ranks) - 1) },
        }]),
        p.label('problem', 'Problem', 190, p.list('These problems on the page of the exporter', '/?problem=${__value.text}&namespace=${__data.fields.Namespace}')),
        p.label('reason', 'Reason', 215),
        p.label('object', 'Object'),
        p.label('owner', 'Owner', 115, late=true),
        p.label('actor', 'Actor', 145, mappings=[{
          type: 'value',
          options: { [role_names[i]]: { text: roles[role_names[i]], color: 'text', index: i } for i in std.range(0, std.length(role_names) - 1) },
        }], late=true),
        p.label('alert', 'Alert and runbook', 280, { title: 'Runbook', targetBlank: true, url: kit.config.runbookUrl + '/${__value.text}.md#${__data.fields.Anchor}' }, late=true),
        p.label('namespace', 'Namespace', late=true, hidden=true),
        p.label('anchor', 'Anchor', late=true, hidden=true),
      ],
      [p.value('Since', 'dateTimeFromNow', 'min by (%s) (%s)' % [
        q.cluster('severity, problem, reason, object, namespace, owner, actor, alert, anchor'),
        with_rank(with_object(with_anchor(with_alert(since(matchers))))),
      ], 135, mappings=[{ type: 'value', options: { [std.toString(unknown)]: { text: 'unknown', index: 0 } } }])],
      w=w,
      h=h,
      sort=['Severity', 'Since'],
      empty=empty
    ),
  // ---- alerts

  local rank(state, severity, number, more) = 'max by (%s) (%s) * %d' % [
    q.cluster('alertname, about'),
    // Absent labels leave blanks, which are removed.
    'label_replace(label_join(%s, "about", " ", "problem", "reason", "shard", "instance"), "about", "$1", "about", " *(.*?) *")'
    % q.alerts('alertstate="%s", severity="%s"%s' % [state, severity, more]),
    number,
  ],
  // The number of a rank sorts, and is shown as a word.
  local alert_ranks = [
    ['firing', 'critical', 6, 'critical'],
    ['firing', 'warning', 5, 'warning'],
    ['firing', 'info', 4, 'info'],
    ['pending', 'critical', 3, 'pending critical'],
    ['pending', 'warning', 2, 'pending warning'],
    ['pending', 'info', 1, 'pending info'],
  ],
  alerts(w=12, h=9, matchers='')::
    local more = if matchers == '' then '' else ', ' + matchers;
    p.table(
      'Alerts',
      'Firing alerts of the bundled rules, most severe first, then pending alerts: their condition holds, and their time has not passed. A click on an alert opens its runbook.',
      [
        p.clusterLabel,
        p.label('alertname', 'Alert', 330, { title: 'Runbook', targetBlank: true, url: kit.config.runbookUrl + '/${__value.text}.md' }),
        p.label('about', 'About'),
      ],
      [p.value('Severity', 'short', std.join(' or ', [rank(r[0], r[1], r[2], more) for r in alert_ranks]), 125, mappings=[{
        type: 'value',
        options: { [std.toString(r[2])]: { text: r[3], color: if r[0] == 'firing' then kit.config.colours.severity[r[1]] else 'text', index: 6 - r[2] } for r in alert_ranks },
      }])],
      w=w,
      h=h,
      empty='No alert fires, and none is pending.'
    ),

  // ---- policies

  // The rules record the worst 50 of each control plane, so that a table reads few series.
  policies(chosen, w=24, h=8)::
    local more = if chosen == '' then '' else ', ' + chosen;
    local stale(phases) = q.record('karmada_policy:policy_templates_stale:topk', 'phase=~"%s"%s' % [phases, more], by_policy);
    p.table(
      'Policies with stale templates',
      'The 50 policies with most overdue, then most stale templates. Karmada should have updated overdue templates by now; the others wait for a change by their user. Policies beyond the limit of the exporter are one row.',
      p.policyLabels(),
      [
        p.value('Overdue', 'short', q.orZeroOf(stale('overdue'), stale('.+')), 80, limits.bad),
        p.value('Stale', 'short', stale('.+'), 70, limits.any),
      ],
      w=w,
      h=h,
      empty='No policy has stale templates. If the numbers of this board show "no data", no exporter has current data.'
    ),
}
