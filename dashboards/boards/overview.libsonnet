// Open problems with the objects that they are about, numbers of all problems, and trends.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local filters = 'problem=~"$problem", severity=~"$severity", namespace=~"$namespace", owner=~"$owner"';
  local severities = ['critical', 'warning', 'info'];
  local of_severity(severity) = shapes.open('severity="%s"' % severity, owner=true);
  kit.b.board('overview', 'Overview', 'Open problems of all control planes: severity, object, start, owner and actor. Select namespaces or an owner to see the board of one team.', [
    kit.b.variable('namespace', 'Namespace', 'karmada_policy:namespace_rank:topk'),
    kit.b.variable('problem', 'Problem', 'karmada_policy:problems:sum'),
    kit.b.custom('severity', 'Severity', severities),
    kit.b.variable('owner', 'Owner', 'karmada_policy:owner_problems:count'),
  ], [
    shapes.problems(
      'Open problems',
      'Open problems of the selected namespaces, problems, severities and owners. The table has at most 20 problems of a kind for each namespace, and 1,000 in total.',
      filters,
      h=12
    ),

    p.stat('Critical problems', 'Open problems of severity critical in the selected namespaces: copies are lost or about to be lost, two controllers write one cloud resource, or a control plane stands still. With a selected owner, at most 20 of a kind for each namespace count.', 'short', of_severity('critical'), w=5, severity='critical', link=p.list('Critical problems of all namespaces', '/?severity=critical')),
    p.stat('Warning problems', 'Open problems of severity warning in the selected namespaces: a person must act within a day. With a selected owner, at most 20 of a kind for each namespace count.', 'short', of_severity('warning'), w=5, severity='warning', link=p.list('Warnings of all namespaces', '/?severity=warning')),
    p.stat('Info problems', 'Open problems of severity info in the selected namespaces: review them once a week. With a selected owner, at most 20 of a kind for each namespace count.', 'short', of_severity('info'), w=5, severity='info', link=p.list('Problems of severity info of all namespaces', '/?severity=info')),
    p.stat('Stale', 'Templates of the selected namespaces with a binding that has an outdated version of their policy, or another policy. This includes templates that wait for a change by their user.', 'short', q.orZero(q.ofNamespaces('karmada_templates', 'karmada_namespace_templates', 'state="stale"')), w=5, limits=limits.any, link=p.list('Stale templates', '/templates?state=stale')),
    shapes.problem('not_propagated', 'Not propagated', 'Templates of the selected namespaces that should run in a member cluster, and that no policy propagates: open problems not_propagated.', w=4),

    p.row('Trends'),
    p.series('Open problems by severity', 'Open problems in the selected namespaces and of the selected owners, by severity.', 'short', [
      p.query(of_severity(severity), severity)
      for severity in severities
    ], stack=true, of='severity'),
    p.series('Opened and resolved problems', 'Problems that opened in each interval, and dashed those that were resolved, for the selected problems and severities. The exporter counts them for all namespaces together.', 'short', [
      p.query(q.increase('karmada_policy_problems_opened_total', 'problem=~"$problem", severity=~"$severity"'), 'opened'),
      p.query(q.increase('karmada_policy_problems_resolved_total', 'problem=~"$problem", severity=~"$severity"'), 'resolved'),
    ], overrides=[p.line('opened', 'yellow', width=3), p.line('resolved', 'text', dashed=true)]),
    p.series('Templates by state', 'Templates of the selected namespaces. Each template has exactly one state.', 'short', [p.query(q.ofNamespaces('karmada_templates', 'karmada_namespace_templates', '', 'state'), '{{state}}')], h=9, stack=true, of='state'),
    p.series('Templates by stage', 'Templates of the selected namespaces that are not healthy in all their member clusters. Each template has exactly one stage: the first that it did not complete.', 'short', [p.query(q.ofNamespaces('karmada_templates_stage', 'karmada_namespace_templates_stage', 'stage!="healthy"', 'stage'), '{{stage}}')], h=9, stack=true, of='stage'),
  ])
