// Templates that nothing propagates. Kinds that no policy selects at all are no finding.
function(k, config)
  local late(family, own, matchers, flag) = |||
    %s
    > %s group_left ()
    %s
  ||| % [k.age(family, own, matchers), k.on(), k.flag(flag)];

  k.concern('pending', 'Templates that nothing propagates. Kinds that no policy selects at all are no finding.', [
    k.alert('TemplateUnboundTooLong', {
      cause: "a template has a policy, and no binding for longer than the exporter's limit",
      severity: 'warning',
      'for': '5m',
      keep: '5m',
      board: 'pending',
      page: 'templates?state=unbound',
      expr: late('karmada_templates_unbound_oldest_timestamp_seconds', [], '', 'unbound_age'),
      summary: 'A template has a policy and yet no binding.',
      description: |||
        A template that a policy selects has waited {{ $value | humanizeDuration }} for its binding; the
        limit is the exporter's --thresholds.unbound-age%s.
      ||| % k.names('max by (reason) (karmada_templates_unbound{{of}}) > 0',
                    [],
                    'reason',
                    '{{ $row.Labels.reason }} ({{ $row.Value }})',
                    '. Templates without one, by reason:'),
    }),
    k.alert('TemplatePendingTooLong', {
      cause: "no policy governs a template for longer than the exporter's limit",
      severity: 'warning',
      'for': '5m',
      keep: '5m',
      board: 'pending',
      page: 'templates?state=pending&reason={{ $labels.reason }}',
      show: ['reason'],
      expr: late('karmada_templates_pending_oldest_timestamp_seconds',
                 ['reason'],
                 'reason!~"excluded|kind_not_selected"',
                 'pending_age'),
      summary: 'A template waits for a policy that does not come.',
      description: |||
        A template has been pending for {{ $value | humanizeDuration }} ({{ $labels.reason }}); the limit
        is the exporter's --thresholds.pending-age%s.
      ||| % k.names('max by (api_group, kind) (karmada_templates_pending{{of}}) > 0',
                    ['reason'],
                    'kind',
                    '{{ $row.Labels.kind }} ({{ $row.Value }})',
                    '. Kinds that wait for that reason:'),
    }),
  ])
