// Is any policy not in force right now, and where to look.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds;
  local alerts = '{%s, %s=~"$cluster"}' % [kit.config.alertSelector, kit.config.clusterLabel];
  kit.b.board('overview', 'Overview', 'Is any Karmada policy not in force right now, and where to look.', [], [
    p.stat(
      'Exporters up',
      'Exporters that answer and have read everything, over all that Prometheus scrapes. At less than 100% the numbers here are not complete, unless the others are replicas.',
      'percentunit',
      'avg(%s or 0 * (%s))' % [q.series('karmada_policy_exporter_up'), q.targets()],
      w=3,
      link=p.to('Exporter health', 'exporter')
    ),
    p.stat('Conflicts', 'Dependencies whose referrers disagree on a field, both fields together.', 'short', q.sum('karmada_dependency_conflicts'), w=3, limits=limits.any, link=p.to('Dependency conflicts', 'conflicts')),
    p.stat('Unapplied', 'Attached bindings whose field has another value than their referrers result in: the rules were not carried out.', 'short', q.sum('karmada_dependency_unapplied_resolutions'), w=3, limits=limits.bad, link=p.to('Dependency conflicts', 'conflicts')),
    p.stat('Overdue', 'Stale templates for which Karmada should have acted by now.', 'short', q.orZero(q.sumAboveZero('karmada_templates_stale', 'phase="overdue"')), w=3, spark=false, limits=limits.bad, link=p.to('Policy drift', 'drift')),
    p.stat('Deferred', "Stale templates that wait by design for their user's next change: Lazy policies, or static take-over rules.", 'short', q.orZero(q.sumAboveZero('karmada_templates_stale', 'phase="deferred"')), w=3, spark=false, limits=limits.any, link=p.to('Policy drift', 'drift')),
    p.stat('Pending', 'Templates that no policy governs and nothing else propagates: they are in no member cluster.', 'short', q.orZero(q.sum('karmada_templates_pending', 'reason!="kind_not_selected"')), w=3, limits=limits.any, link=p.to('Pending and coverage', 'pending')),
    p.stat('Oldest pending', 'For how long the longest pending template may have been pending; 0 if none is.', 's', q.age('karmada_templates_pending_oldest_timestamp_seconds', 'reason!="kind_not_selected"', q.sum('karmada_templates_pending', 'reason!="kind_not_selected"')), w=3, limits=limits.pendingAge, link=p.to('Pending and coverage', 'pending')),
    p.stat('Stale share', 'Stale templates over all that are bound by a policy.', 'percentunit', q.orZero(q.share(q.sum('karmada_templates', 'state="stale"'), q.sum('karmada_templates', 'state=~"current|stale"'))), w=3, limits=limits.staleShare, link=p.to('Policy drift', 'drift')),

    p.stat('Last copy at risk', 'Templates whose only copy is deleted when its eviction times out, because no other cluster takes it.', 'short', q.orZero(q.sum('karmada_templates_last_copy_at_risk')), w=6, limits=limits.bad, link=p.to('From match to healthy', 'way')),
    p.stat('Not scheduled', 'Templates that the scheduler has not placed as they are now. Those that somebody suspended are left out.', 'short', q.orZero(q.sum('karmada_templates_delivery', 'stage="unscheduled", reason!="suspended"')), w=6, limits=limits.bad, link=p.to('From match to healthy', 'way')),
    p.stat('Not delivered', 'Templates that are scheduled, and that a member cluster has not got in their newest version. Those that somebody suspended are left out.', 'short', q.orZero(q.sum('karmada_templates_delivery', 'stage=~"undispatched|unapplied|undelivered", reason!="suspended"')), w=6, limits=limits.any, link=p.to('From match to healthy', 'way')),
    p.stat('Changes suspended', 'Templates with a change that waits behind a suspension of dispatching or scheduling.', 'short', q.orZero(q.sum('karmada_templates_suspended', 'waiting="true"')), w=6, limits=limits.any, link=p.to('From match to healthy', 'way')),

    p.row('Trends'),
    p.series('Templates by state', 'Each resource template is in exactly one state; the stack is all of them.', 'short', [p.query(q.sum('karmada_templates', '', 'state'), '{{state}}')], stack=true, overrides=p.stateColours),
    p.series('Stale templates by field', 'In which field binding and policy differ; a template may count in several, and in none where its policy was replaced or is gone. By policy they are on the board Policy drift.', 'short', [p.query(q.sum('karmada_templates_stale_field', '', 'field'), '{{field}}')]),
    p.series('Pending templates by reason', 'Why nothing propagates them.', 'short', [p.query(q.sum('karmada_templates_pending', '', 'reason'), '{{reason}}')], stack=true),
    p.series('Conflicts by field', 'Dependencies in dispute, and those that will be once bindings follow what the policies say now.', 'short', [
      p.query(q.sum('karmada_dependency_conflicts', '', 'field'), '{{field}}'),
      p.query(q.sum('karmada_dependency_conflicts_predicted', '', 'field'), '{{field}}, predicted'),
    ]),

    p.row('Where'),
    p.table(
      'Policies that are not in force',
      'Policies with stale templates: how many, and how many of these are overdue; the others wait by design.',
      p.policyLabels,
      [
        p.value('Stale', 'short', q.sumAboveZero('karmada_templates_stale', '', q.cluster(q.policy)), 80, limits.any),
        p.value('Overdue', 'short', q.sumAboveZero('karmada_templates_stale', 'phase="overdue"', q.cluster(q.policy)), 90, limits.bad),
      ],
      w=14
    ),
    p.table(
      'Alerts',
      'Alerts of this bundle that fire, or that hold and wait for their time to fire.',
      [p.clusterLabel, p.label('alertname', 'Alert'), p.label('severity', 'Severity', 90), p.label('alertstate', 'State', 75)],
      [p.value('Series', 'short', 'count by (%s) (ALERTS%s)' % [q.cluster('alertname, severity, alertstate'), alerts], 70)],
      w=10
    ),
  ])
