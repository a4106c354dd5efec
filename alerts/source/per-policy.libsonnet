// Off by default: one alert for each policy that is not in force, for those who route by its namespace.
// Where many are overdue at once, so many alerts fire.
function(k, config)
  k.concern('per-policy', 'One alert for each policy and reason, for those who route by the namespace of a policy. Off unless loaded.', [
    k.alert('PolicyOverdue', {
      comment: 'What the exporter adds up beyond its limit has no name, and is left out.',
      cause: 'opt-in: the same by policy',
      severity: 'warning',
      'for': '30m',
      keep: '10m',
      board: 'drift',
      page: 'policy?kind={{ $labels.policy_kind }}&namespace={{ $labels.policy_namespace }}&name={{ $labels.policy }}',
      show: ['policy'],
      expr: k.fold('karmada_templates_stale',
                   ['policy_kind', 'policy_namespace', 'policy', 'reason'],
                   'phase="overdue", policy!=""') + ' > 0',
      summary: 'Templates do not follow their policy though Karmada should have acted.',
      description: |||
        %s {{ $labels.policy_kind }}
        {{ with $labels.policy_namespace }}{{ . }}/{{ end }}{{ $labels.policy }}
        {{ if eq $value 1.0 }}is{{ else }}are{{ end }} bound by something else than what it says now ({{ $labels.reason }}).
      ||| % k.number('template of', 'templates of'),
    }),
  ])
