// Panels and queries that several boards have.
function(kit) {
  local p = kit.p,
  local q = kit.q,
  local limits = kit.config.thresholds,
  local shapes = self,
  local by_policy = q.cluster(q.policy),

  // ---- capacity

  // The resources that a placement has to fit in.
  fits:: 'resource=~"cpu|memory|pods"',
  local by_resource = q.cluster('member_cluster, resource'),
  free(matchers, by=by_resource):: '(%s - %s - %s)' % [
    q.sum('karmada_member_cluster_allocatable', matchers, by),
    q.sum('karmada_member_cluster_allocated', matchers, by),
    // Nothing is on its way where no row says so.
    q.orZeroOf(q.sum('karmada_member_cluster_allocating', matchers, by), q.sum('karmada_member_cluster_allocatable', matchers, by)),
  ],
  requests(movement, matchers, by=by_resource)::
    q.sum('karmada_placement_drift_resource_requests', 'movement="%s", %s' % [movement, matchers], by),
  // What drift would bring, as a share of what is free; what comes to a full cluster shows as much.
  load(matchers, by=by_resource):: '(%s) / on (%s) clamp_min(%s, 0.001)' % [
    shapes.requests('arriving', matchers, by),
    by,
    shapes.free(matchers, by),
  ],

  // ---- alerts

  local rank(state, severity, number) = 'max by (%s) (%s) * %d' % [
    q.cluster('alertname, about'),
    // Joined with blanks for what an alert does not have: those go.
    'label_replace(label_join(%s, "about", " ", "reason", "item", "field", "class", "member_cluster", "resource", "stage", "policy_namespace", "policy", "instance"), "about", "$1", "about", " *(.*?) *")'
    % q.alerts('alertstate="%s", severity="%s"' % [state, severity]),
    number,
  ],
  // Severity first: the number that sorts is shown as the word that it stands for.
  local ranks = [
    ['firing', 'critical', 6, 'critical'],
    ['firing', 'warning', 5, 'warning'],
    ['firing', 'info', 4, 'info'],
    ['pending', 'critical', 3, 'soon critical'],
    ['pending', 'warning', 2, 'soon a warning'],
    ['pending', 'info', 1, 'soon info'],
  ],
  alerts(w=12, h=9):: p.table(
    'Alerts',
    'Alerts of this bundle that fire, the gravest first, and then those whose condition holds and that wait for their time. A click on one opens its runbook.',
    [
      p.clusterLabel,
      p.label('alertname', 'Alert', null, { title: 'Runbook', targetBlank: true, url: kit.config.runbookUrl + '/${__value.text}.md' }),
      p.label('about', 'About', 190),
    ],
    [p.value('Severity', 'short', std.join(' or ', [rank(r[0], r[1], r[2]) for r in ranks]), 125, mappings=[{
      type: 'value',
      options: { [std.toString(r[2])]: { text: r[3], color: if r[0] == 'firing' then kit.config.colours.severity[r[1]] else 'text', index: 6 - r[2] } for r in ranks },
    }])],
    w=w,
    h=h,
    empty='No alert fires, and none is about to.'
  ),

  // ---- policies

  policies(chosen, w=24, h=8)::
    local more = if chosen == '' then '' else ', ' + chosen;
    local stale = q.sumAboveZero('karmada_templates_stale', chosen, by_policy);
    p.table(
      'Policies that are not in force',
      'Policies with stale templates: how many of these are overdue, and how many there are; the rest waits by design. Beyond the limit of the exporter the others are one row.',
      p.policyLabels(),
      [
        p.value('Overdue', 'short', q.orZeroOf(q.sumAboveZero('karmada_templates_stale', 'phase="overdue"' + more, by_policy), stale), 80, limits.bad),
        p.value('Stale', 'short', stale, 70, limits.any),
      ],
      w=w,
      h=h,
      empty='Every policy is in force.'
    ),

  // ---- conflicts

  conflicts(field):: p.series(
    'Conflicts by field',
    'Dependencies in dispute: broad the one field, narrow the other. Dashed: those that will be once bindings follow what the policies say now.',
    'short',
    [
      p.query(q.sum('karmada_dependency_conflicts', field, 'field'), '{{field}}'),
      p.query(q.sum('karmada_dependency_conflicts_predicted', field, 'field'), '{{field}}, predicted'),
    ],
    of='field',
    overrides=[
      p.line('ConflictResolution', width=8),
      p.line('PreserveResourcesOnDeletion', width=2),
      p.line('ConflictResolution, predicted', 'orange', dashed=true, width=4),
      p.line('PreserveResourcesOnDeletion, predicted', 'blue', dashed=true, width=2),
    ]
  ),
}
