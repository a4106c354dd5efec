// Sums and worst rows that boards show, so that a refresh reads few series.
function(k, config)
  local problems = 'karmada_policy:namespace_problems:sum';
  local since = 'karmada_policy:problem_since_timestamp_seconds:min';
  local policy = ['policy_kind', 'policy_namespace', 'policy'];
  // Replicas merged by the largest.
  local merged(labels, expr) = 'max %s (%s)' % [k.by(labels), expr];
  // Rows that order subjects may be some minutes old.
  local last(family, labels, matchers='') = merged(labels, k.last(family, matchers));
  // Rows that are shown are those of now; while a pod moves the last ones, so that unknown does not look like 0.
  local held(family, labels, matchers='') = merged(labels, '%s or %s unless %s (karmada_policy_exporter_up == 1)' % [
    k.series(family, matchers),
    k.last(family, matchers),
    k.on(),
  ]);
  local sum(labels, expr) = 'sum %s (%s)' % [k.by_plane(labels), expr];
  local topk(count, expr) = 'topk %s (%d,\n%s\n)' % [k.by_plane(), count, k.indent(expr)];
  // The rows of the subjects with the largest values.
  local rows_of(count, subject, rows, value) =
    '%s\nand on (%s)\n%s' % [rows, std.join(', ', [config.clusterLabel, 'job'] + subject), topk(count, value)];

  local added(labels, family, matchers='') = sum(labels, held(family, labels, matchers));
  local of_cluster = ['member_cluster', 'resource', 'unit'], fits = 'resource=~"cpu|memory|pods"', reached = ['stage', 'reason'];
  local templates = 'karmada_namespace_templates', stages = 'karmada_namespace_templates_stage';
  local stale = 'karmada_templates_stale', reasons = policy + ['reason', 'phase'];
  local rollout = 'karmada_propagationpolicy_rollout_templates', versions = policy + ['version'];
  local replicas = 'karmada_propagationpolicy_placement_drift_replicas', movements = policy + ['movement'];
  local requests = 'karmada_namespace_placement_drift_resource_requests', resources = ['namespace', 'resource', 'unit', 'movement'];

  k.concern('boards', 'Sums and worst rows that boards show.', [], [
    k.record(
      'karmada_policy:problems:sum',
      '%s\nor\n0 * max %s (%s)' % [
        sum(['problem', 'severity'], problems),
        k.by_plane(['problem', 'severity']),
        k.last('karmada_policy_problems'),
      ],
      'Open problems of all namespaces; 0 for a problem without open instances.'
    ),
    k.record('karmada_policy:owner_problems:count', 'count %s (%s{owner!=""})' % [k.by_plane(['owner']), since]),
    k.record(
      'karmada_policy:namespace_templates_not_healthy:topk',
      topk(20, sum(['namespace'], held(stages, ['namespace', 'stage'], 'namespace!="_others", stage!~"unmatched|healthy"'))),
      'The 20 namespaces with the most templates that have a policy and are not healthy.'
    ),
    k.record(
      'karmada_policy:policy_templates_stale:topk',
      rows_of(50, policy, sum(policy + ['phase'], held(stale, reasons)), sum(policy, '1e6 * %s or %s' % [
        last(stale, reasons, 'phase="overdue"'),
        last(stale, reasons),
      ])),
      'The 50 policies with the most overdue, then most stale templates, by phase.'
    ),
    k.record(
      'karmada_policy:policy_rollout_templates:topk',
      rows_of(50, policy, sum(versions, held(rollout, versions)), sum(policy, last(rollout, versions, 'version!="current"'))),
      'The 50 policies with the most templates that run an outdated version, by version.'
    ),
    k.record(
      'karmada_policy:policy_placement_drift_replicas:topk',
      rows_of(50, policy, sum(movements, held(replicas, movements)), sum(policy, last(replicas, movements, 'movement!="staying"'))),
      'The 50 policies with the most replicas that would move, by movement.'
    ),
    k.record(
      'karmada_policy:namespace_placement_drift_requests:topk',
      rows_of(20, ['namespace'], sum(resources, held(requests, resources)), sum(['namespace'], last(requests, resources, 'resource="pods", movement!="staying"'))),
      'The 20 namespaces with the most pods that would move, by resource and movement.'
    ),
    k.record('karmada_policy:templates_stage:sum', added(reached, 'karmada_templates_stage') + ' > 0', 'Templates by stage and reason, without zeros.'),
    k.record('karmada_policy:templates_delivery:sum', added(reached, 'karmada_templates_delivery') + ' > 0', 'Deliveries by stage and reason, without zeros.'),
    k.record(
      'karmada_policy:member_cluster_free:max',
      k.free(function(family) held(family, of_cluster, fits)),
      'Free CPU, memory and pods of each member cluster.'
    ),
    k.record(
      'karmada_policy:member_cluster_arriving:sum',
      added(of_cluster, 'karmada_placement_drift_resource_requests', 'movement="arriving", ' + fits),
      'Requests of arriving replicas in each member cluster.'
    ),
  ], seldom=[
    k.record(
      'karmada_policy:namespace_rank:topk',
      topk(200, sum(['namespace'], '1e6 * %s{namespace!="", namespace!="_others"} or %s' % [
        problems,
        last(templates, ['namespace', 'state'], 'namespace!="_others"'),
      ])),
      'The 200 namespaces with the most open problems, then most templates.'
    ),
  ])
