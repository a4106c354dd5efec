// What the member clusters would have to take if every template whose placement drifts followed it.
function(k, config)
  local own = ['member_cluster', 'resource'];
  local free = 'member_cluster_resource:karmada_member_cluster_free:max';
  // What is undetermined stays where it is until the scheduler decides: it is no credit.
  local arriving = k.fold('karmada_placement_drift_resource_requests', own, 'movement="arriving"');

  k.concern(
    'capacity',
    'What member clusters would have to take if every template whose placement drifts followed it.',
    records=[
      k.record(free, k.free(own)),
    ],
    alerts=[
      k.alert('PolicyDriftCapacityAtRisk', {
        comment: 'Nothing free and something to come is +Inf, which is at risk too.',
        cause: 'what drift brings to a member cluster does not fit what is free there',
        severity: 'warning',
        'for': '30m',
        keep: '10m',
        board: 'capacity',
        page: 'templates?state=stale',
        show: ['member_cluster'],
        expr: |||
          %s
          / clamp_min(%s, 0)
          > %g
        ||| % [arriving, free, config.thresholds.capacityShare],
        summary: 'Bringing drifted templates up to date would fill a member cluster.',
        description: |||
          What drifted templates would bring to {{ $labels.member_cluster }} under their policies of today
          {{ if eq (printf "%%v" $value) "+Inf" }}needs {{ $labels.resource }}, and nothing of it is free
          there{{ else }}needs {{ $value | humanizePercentage }} of the {{ $labels.resource }} that is free
          there{{ end }}%s.
        ||| % k.policies(
          'karmada_propagationpolicy_placement_drift_replicas',
          'movement="arriving"',
          lead='. Policies that bring most replicas, to any member cluster:'
        ),
      }),
    ]
  )
