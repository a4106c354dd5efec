// Policies and bindings that do nothing, or not what they seem to do. These change slowly, so they
// are looked at every five minutes.
function(k, config)
  local not_served = 'karmada_policy_exporter_selected_kind_not_served';
  k.concern(
    'hygiene',
    'Policies and bindings that do not do what they seem to. They change slowly, so they are looked at every five minutes.',
    [
      k.alert('PolicyInvalid', {
        cause: 'something in a policy cannot work as it is written',
        severity: 'warning',
        'for': '10m',
        board: 'pending',
        page: '?problem=policy_invalid',
        expr: k.group(k.any([
          k.fold('karmada_propagationpolicy_invalid', ['reason']),
          k.tell('reason', 'kind_not_served', k.total(not_served)),
        ])) + ' > 0',
        summary: 'Something in a policy cannot work as it is written.',
        description: k.choose('reason', [
          [['kind_not_served'], |||
            Policies select %s that Karmada's API server does not serve, so they get no template of
            {{ if eq $value 1.0 }}it{{ else }}them{{ end }}%s.
          ||| % [
            k.number('kind', 'kinds'),
            k.names('max by (api_version, kind) (%s{{of}}) > 0' % not_served,
                    [],
                    'kind',
                    '{{ $row.Labels.kind }} of {{ $row.Labels.api_version }}',
                    ':'),
          ]],
          [[], |||
            %s a fault that the API server accepts and Karmada silently ignores ({{ $labels.reason }}).
          ||| % k.number('policy has', 'policies have')],
        ]),
      }),
      k.alert('BindingNameCollision', {
        cause: 'two templates share one binding name, and one is not propagated',
        severity: 'warning',
        'for': '10m',
        board: 'drift',
        page: '?problem=binding_name_collision',
        expr: k.fold('karmada_binding_name_collisions') + ' > 0',
        summary: 'Two templates share one binding name.',
        description: |||
          %s, or would have, a binding of the same name as another's, because Karmada leaves the API group
          out of it; one of the two is not propagated.
        ||| % k.number('template has', 'templates have'),
      }),
    ],
    interval='5m'
  )
