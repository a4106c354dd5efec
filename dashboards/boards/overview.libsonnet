// Is any policy not in force right now, what is wrong, and where to look.
function(kit)
  local p = kit.p, q = kit.q, limits = kit.config.thresholds, shapes = (import '../lib/shapes.libsonnet')(kit);
  local firing(severity) = '(count(count by (%s) (%s))) or %s' % [
    q.cluster('alertname'),
    q.alerts('alertstate="firing", severity="%s"' % severity),
    q.alertsZero,
  ];
  local delivery(stages) = q.orZero(q.sum('karmada_templates_delivery', 'stage=~"%s", reason!="suspended"' % stages));
  local in_namespace(states) = q.sumAboveZero('karmada_namespace_templates', 'state=~"%s"' % states, q.cluster('namespace'));
  local underway = q.sumAboveZero('karmada_namespace_templates_stage', 'stage!~"unmatched|unbound|outdated|healthy"', q.cluster('namespace'));
  local namespaces = '(%s or %s)' % [in_namespace('stale|pending|unbound|orphaned'), underway];
  local at(stages) = q.sum('karmada_member_cluster_templates_stage', 'stage=~"%s"' % stages, q.cluster('member_cluster'));
  local reached = 'undispatched|unapplied|undelivered|unhealthy|unreachable';
  kit.b.board('overview', 'Overview', 'Is any Karmada policy not in force right now, what is wrong, and where to look.', [], [
    p.stat('Critical alerts', 'Alerts of this bundle that fire and that somebody is paged for, each counted once a control plane. No data: the bundled rules are not loaded, or not yet evaluated.', 'short', firing('critical'), limits=limits.bad),
    p.stat('Warnings', 'Alerts of this bundle that fire and that want a look within the day, each counted once a control plane.', 'short', firing('warning'), limits=limits.any),
    p.stat('Exporters up', 'Exporters that answer and have read everything, over all that Prometheus scrapes. At less than 100% the numbers here are not complete, unless the others are replicas.', 'percentunit', q.ready(), good=limits.ready, link=p.to('Exporter health', 'exporter')),
    p.stat('Overdue', 'Stale templates for which Karmada should have acted by now.', 'short', q.sum('karmada_templates_overdue'), limits=limits.bad, link=p.to('Policy drift', 'drift')),
    p.stat('Last copy at risk', 'Templates whose only copy is deleted when its eviction times out, because no other cluster takes it.', 'short', q.orZero(q.sum('karmada_templates_last_copy_at_risk')), limits=limits.bad, link=p.to('From match to healthy', 'way')),
    p.stat('Not scheduled', 'Templates that the scheduler has not placed as they are now. Those that somebody suspended are left out.', 'short', delivery('unscheduled'), limits=limits.bad, link=p.to('From match to healthy', 'way')),
    p.stat('Not delivered', 'Templates that are scheduled, and that a member cluster has not got in their newest version. Those that somebody suspended are left out.', 'short', delivery('undispatched|unapplied|undelivered'), limits=limits.any, link=p.to('From match to healthy', 'way')),
    p.stat('Unapplied', 'Attached bindings whose field has another value than their referrers result in: the rules were not carried out. No data where Karmada does not resolve them, before 1.16.', 'short', q.sum('karmada_dependency_unapplied_resolutions'), limits=limits.bad, link=p.to('Dependency conflicts', 'conflicts')),

    p.stat('Conflicts', 'Dependencies whose referrers disagree on a field, both fields together.', 'short', q.sum('karmada_dependency_conflicts'), limits=limits.any, link=p.to('Dependency conflicts', 'conflicts')),
    p.stat('Pending', 'Templates that no policy governs and nothing else propagates: they are in no member cluster.', 'short', q.orZero(q.sum('karmada_templates_pending', 'reason!="kind_not_selected"')), limits=limits.any, link=p.to('Pending and coverage', 'pending')),
    p.stat('Oldest pending', 'For how long the longest pending template may have been pending; 0 if none is.', 's', q.age('karmada_templates_pending_oldest_timestamp_seconds', 'reason!="kind_not_selected"', q.sum('karmada_templates_pending', 'reason!="kind_not_selected"')), limits=limits.pendingAge, link=p.to('Pending and coverage', 'pending')),
    p.stat('Policies overdue', 'Policies of which at least one template is overdue.', 'short', q.sum('karmada_propagationpolicies_not_in_force', 'phase="overdue"'), limits=limits.bad, link=p.to('Policy drift', 'drift')),
    p.stat('Deferred', "Stale templates that wait by design for their user's next change: Lazy policies, or static take-over rules.", 'short', q.orZero(q.sumAboveZero('karmada_templates_stale', 'phase="deferred"')), limits=limits.any, link=p.to('Policy drift', 'drift')),
    p.stat('Stale share', 'Stale templates over all that are bound by a policy.', 'percentunit', q.orZero(q.share(q.sum('karmada_templates', 'state="stale"'), q.sum('karmada_templates', 'state=~"current|stale"'))), limits=limits.staleShare, link=p.to('Policy drift', 'drift')),
    p.stat('Tightest cluster', 'The largest share of what is free in a member cluster, of CPU, memory or pods, that drift would bring there once it is applied, as far as it is determined.', 'percentunit', q.orZero('max(%s)' % shapes.load(shapes.fits)), limits=limits.load, link=p.to('Capacity review', 'capacity')),
    p.stat('Changes suspended', 'Templates with a change that waits behind a suspension of dispatching or scheduling.', 'short', q.orZero(q.sum('karmada_templates_suspended', 'waiting="true"')), limits=limits.any, link=p.to('From match to healthy', 'way')),

    p.row('What is wrong, and where'),
    shapes.alerts(w=12, h=9),
    shapes.policies('', w=12, h=9),
    p.table(
      'Namespaces',
      'Whose templates they are: how many are stale, pending, without binding, orphaned, or bound and not yet healthy in all their member clusters. A click opens the board of that team.',
      [p.clusterLabel, p.label('namespace', 'Namespace', null, p.to('Board of this team', 'team', '&var-namespace=${__value.text}'))],
      [
        p.value('In all', 'short', 'sum by (%s) (%s or label_replace(%s, "way", "1", "", ""))' % [q.cluster('namespace'), in_namespace('stale|pending|unbound|orphaned'), underway], 65),
        p.value('Stale', 'short', in_namespace('stale'), 65, limits.any),
        p.value('Pending', 'short', in_namespace('pending'), 80, limits.any),
        p.value('Unbound', 'short', in_namespace('unbound'), 85, limits.any),
        p.value('Orphaned', 'short', in_namespace('orphaned'), 90, limits.any),
        p.value('On their way', 'short', underway, 110, limits.any),
      ],
      w=12,
      h=9,
      empty='Every template is where its policy wants it.'
    ),
    p.table(
      'Member clusters',
      'How many templates have not come to a cluster in their newest version, or are not healthy there, and how much of what is free there drift would take.',
      [p.clusterLabel, p.label('member_cluster', 'Member cluster', null, p.to('From match to healthy', 'way', '&var-member_cluster=${__value.text}'))],
      [
        p.value('Not healthy', 'short', q.orZeroOf(at(reached), '%s > 0' % at('.+')), 100, limits.any),
        p.value('Not delivered', 'short', at('undispatched|unapplied|undelivered') + ' > 0', 115, limits.any),
        p.value('Unreachable', 'short', at('unreachable') + ' > 0', 105, limits.bad),
        p.value('Drift over free', 'percentunit', 'max by (%s) (%s)' % [q.cluster('member_cluster'), shapes.load(shapes.fits)], 120, limits.load),
      ],
      w=12,
      h=9
    ),

    p.row('Trends'),
    p.series('Templates by state', 'Each resource template is in exactly one state; the stack is all of them.', 'short', [p.query(q.sum('karmada_templates', '', 'state'), '{{state}}')], stack=true, of='state'),
    p.series('Templates that are not healthy by stage', 'How far those have come that are not healthy yet everywhere; each is in one stage.', 'short', [p.query(q.sum('karmada_templates_stage', 'stage!="healthy"', 'stage'), '{{stage}}')], stack=true, of='stage'),
    p.series('Policies not in force by reason', 'Policies of which at least one template is bound by something else than what they say now, by why; a policy may count for several reasons.', 'short', [p.query(q.sum('karmada_propagationpolicies_not_in_force', '', 'reason'), '{{reason}}')], of='reason'),
    p.series('Pending templates by reason', 'Why nothing propagates them.', 'short', [p.query(q.sum('karmada_templates_pending', '', 'reason'), '{{reason}}')], stack=true, of='reason'),
    shapes.conflicts(''),
    p.series('Stale templates by field', 'In which field binding and policy differ; a template may count in several, and in none where its policy was replaced or is gone. By policy they are on the board Policy drift.', 'short', [p.query(q.sum('karmada_templates_stale_field', '', 'field'), '{{field}}')], of='field'),
  ])
