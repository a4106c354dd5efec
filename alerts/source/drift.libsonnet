// Templates that are not bound as their policy says now.
function(k, config)
  local limit = config.thresholds;
  // What Karmada can still act on; where a claim has lost its policy it leaves the binding as it is.
  local active = 'reason=~"policy_updated|policy_replaced|never_bound|template_updated"';
  local frozen = 'reason=~"selector_mismatch|policy_gone"';
  local policies = 'karmada_propagationpolicies_not_in_force';
  local templates(states) = 'sum %s (state:karmada_templates:sum{state=~"%s"})' % [k.by(), states];
  local follow = templates('current|stale');
  local overdue = 'karmada_policy:templates_overdue:acting';
  local spread = 'karmada_policy:policies_overdue:max';
  local flaps = 'karmada_policy:template_flaps:increase15m';
  local stale = templates('stale');
  local worst(matchers, same=[]) = k.policies('karmada_templates_stale', matchers, same, ['reason', 'phase']);

  k.concern(
    'drift',
    'Templates that are not bound as their policy says now.',
    records=[
      k.record('state:karmada_templates:sum', k.total('karmada_templates', ['state'])),
      k.record(overdue, |||
        %s
        - %s
      ||| % [
        k.fold('karmada_templates_overdue'),
        k.total('karmada_templates_stage', [], 'stage="outdated", ' + frozen),
      ], 'Without those whose policy is gone or selects them no more: nothing will be done about them.'),
      k.record(spread,
               k.fold(policies, [], 'phase="overdue", ' + active),
               'A policy may count under several reasons, so this is what there are at least.'),
      k.record(flaps, |||
        min %s (
          max %s (
            increase(karmada_template_transitions_total{from="current", to="stale"}[15m])
            or
            increase(karmada_template_transitions_total{from="stale", to="current"}[15m])
          )
        )
      ||| % [k.by(), k.by(['from', 'to'])], 'As often there as back.'),
    ],
    alerts=[
      k.alert('ControllersStuck', {
        comment: |||
          Overdue templates of several policies, growing or a large share, and for three quarters of an
          hour nothing was bound anew: one policy that is refused, a rollout that proceeds and a fleet in
          which nothing happens do not look like that.
        |||,
        cause: 'overdue spreads over policies, and nothing is applied',
        severity: 'critical',
        'for': '30m',
        keep: '10m',
        board: 'drift',
        page: '?problem=controllers_stuck',
        expr: |||
          %(overdue)s
          / %(on)s (%(follow)s > 0)
          and %(overdue)s >= %(templates)g
          and %(spread)s >= %(policies)g
          and (
            %(spread)s > min_over_time(%(spread)s[6h])
            or
            %(overdue)s > %(on)s %(share)g * %(follow)s
          )
          unless %(on)s %(applied)s > 0
        ||| % {
          overdue: overdue,
          spread: spread,
          on: k.on(),
          follow: follow,
          templates: limit.stuckTemplates,
          policies: limit.stuckPolicies,
          share: limit.overdueShare,
          applied: k.grown('karmada_template_transitions_total', '15m', [], 'from=~"stale|unbound", to="current"'),
        },
        summary: "Karmada's controllers do not work.",
        description: |||
          {{ $value | humanizePercentage }} of the templates with a policy wait for Karmada to bind them
          anew, of more and more policies or of many, and for 45 minutes it has bound none%s.
        ||| % worst('phase="overdue", ' + active),
      }),
      k.alert('PolicyNotInForce', {
        cause: 'Karmada should have bound templates anew, and has not',
        severity: 'warning',
        'for': '30m',
        keep: '10m',
        board: 'drift',
        page: '?problem=policy_not_in_force',
        expr: k.fold(policies, ['reason'], 'phase="overdue", ' + active) + ' > 0',
        summary: 'Templates do not follow their policy though Karmada should have acted.',
        description: |||
          %s templates that are still bound by something else than what the policy says
          now           ({{ $labels.reason }})%s.
        ||| % [k.number('policy has', 'policies have'), worst('phase="overdue"', ['reason'])],
      }),
      k.alert('PolicyFrozenTemplates', {
        cause: 'templates claim a policy that is gone or does not select them',
        severity: 'warning',
        'for': '30m',
        keep: '10m',
        board: 'drift',
        page: 'templates?state=stale&reason=selector_mismatch',
        expr: k.fold(policies, ['reason'], 'phase="overdue", ' + frozen) + ' > 0',
        summary: 'Templates claim a policy that is gone or no longer selects them.',
        description: |||
          %s claimed by templates though %s any more; Karmada leaves their bindings as they are, and
          changes of these templates do not reach the member clusters%s.
        ||| % [
          k.number('policy is', 'policies are'),
          k.choose('reason', [
            [['policy_gone'], '{{ if eq $value 1.0 }}it does not exist{{ else }}they do not exist{{ end }}'],
            [[], '{{ if eq $value 1.0 }}it does not select them{{ else }}they do not select them{{ end }}'],
          ]),
          worst('phase="overdue"', ['reason']),
        ],
      }),
      k.alert('PolicyStaleTooLong', {
        cause: "a template is stale for longer than the exporter's limit",
        severity: 'warning',
        'for': '15m',
        keep: '10m',
        board: 'drift',
        page: 'templates?state=stale',
        expr: |||
          %s
          > %s group_left ()
          %s
        ||| % [
          k.age('karmada_templates_stale_oldest_timestamp_seconds', ['phase']),
          k.on(),
          k.flag('stale_age'),
        ],
        summary: 'A template has been stale for longer than the limit.',
        description: |||
          A template has been stale for {{ $value | humanizeDuration }} (phase {{ $labels.phase }}); the
          limit is the exporter's --thresholds.stale-age%s.
        ||| % worst('', ['phase']),
      }),
      k.alert('PolicyDriftBurst', {
        cause: 'a change made many templates stale at once',
        severity: 'warning',
        'for': '5m',
        keep: '30m',
        board: 'drift',
        page: 'templates?state=stale',
        comment: 'Where nothing was known a quarter of an hour ago nothing fires.',
        expr: |||
          %(stale)s
          - %(then)s > %(templates)g
          and %(stale)s
          - %(then)s > %(on)s %(share)g * %(follow)s
        ||| % {
          stale: stale,
          'then': 'sum %s (state:karmada_templates:sum{state="stale"} offset 15m)' % k.by(),
          on: k.on(),
          follow: follow,
          templates: limit.burstTemplates,
          share: limit.burstShare,
        },
        summary: 'A change made many templates stale at once.',
        description: |||
          %s stale than a quarter of an hour ago%s.
        ||| % [k.number('more template is', 'more templates are'), worst('')],
      }),
      k.alert('DecisionsFlapping', {
        cause: 'templates, or conflicts, come and go again and again',
        severity: 'warning',
        'for': '5m',
        keep: '30m',
        board: 'drift',
        page: '?problem=decision_flapping',
        comment: |||
          In every quarter of the last hour. A start of the exporter counts all conflicts that are there as
          begun.
        |||,
        expr: k.alive(k.any([
          k.tell('what', 'templates', |||
            min_over_time(%(flaps)s[45m]) >= %(least)g
            and %(flaps)s offset 45m >= %(least)g
            and min_over_time(%(flaps)s[45m])
            >= %(on)s %(share)g * %(follow)s
          ||| % { flaps: flaps, least: limit.flappingTransitions, share: limit.flappingShare, on: k.on(), follow: follow }),
          k.tell('what', 'conflicts', |||
            max %s (
              sum %s (increase(karmada_dependency_conflict_transitions_total[1h]))
              unless max %s (changes(process_start_time_seconds{%s}[1h])) > 0
            ) > %g
          ||| % [k.by(), k.by(['instance']), k.by(['instance']), k.job, limit.conflictsPerHour]),
        ])),
        summary: 'What Karmada does is undone again and again.',
        description: k.choose('what', [
          [['templates'], |||
            At least {{ printf "%.0f" $value }} times in every quarter of the last hour a template became
            stale, and one current again;
          |||],
          [[], |||
            {{ printf "%.0f" $value }} conflicts between those that need a dependency began within an
            hour;
          |||],
        ]) + ' probably two tools or teams write the same policies or templates in turn.',
      }),
    ]
  )
