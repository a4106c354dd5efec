// The few shapes of which all queries are made.
//
// A family is first folded over the replicas of an exporter with max (or min), for each shows the
// same objects, and only then added up: two replicas do not double a number.
function(config) {
  local selector = '%s=~"$cluster", job=~"$job"' % config.clusterLabel,

  // A family's selector, with label matchers of its own.
  series(family, matchers=''):: '%s{%s%s}' % [
    family,
    selector,
    if matchers == '' then '' else ', ' + matchers,
  ],
  fold(family, matchers='')::
    'max without (%s) (%s)' % [config.replicaLabels, $.series(family, matchers)],

  sum(family, matchers='', by='')::
    'sum%s (%s)' % [if by == '' then '' else ' by (%s)' % by, $.fold(family, matchers)],

  // The same of what is above 0 only: where most rows are 0, that is ten times cheaper.
  sumAboveZero(family, matchers='', by='')::
    'sum%s (max without (%s) (%s > 0))' % [
      if by == '' then '' else ' by (%s)' % by,
      config.replicaLabels,
      $.series(family, matchers),
    ],

  // How much a counter grew, resets taken care of.
  increase(family, matchers='', by='', over='$__rate_interval')::
    'sum%s (max without (%s) (increase(%s[%s])))' % [
      if by == '' then '' else ' by (%s)' % by,
      config.replicaLabels,
      $.series(family, matchers),
      over,
    ],
  rate(family, matchers='', by='')::
    'sum%s (rate(%s[$__rate_interval]))' % [
      if by == '' then '' else ' by (%s)' % by,
      $.series(family, matchers),
    ],
  quantile(q, family, by='')::
    'histogram_quantile(%g, sum by (le%s) (rate(%s[$__rate_interval])))' % [
      q,
      if by == '' then '' else ', ' + by,
      $.series(family + '_bucket'),
    ],

  // Whether targets answer, of the jobs that had an exporter within a day: one that went is missed.
  targets(matchers='')::
    '%s and on (job) last_over_time(%s[1d])' % [$.series('up', matchers), $.series('karmada_policy_exporter_up')],

  // 0 where an exporter has read everything, and nothing where none has: unknown is not zero.
  zero:: '0 * max(%s == 1)' % $.series('karmada_policy_exporter_up'),
  orZero(expr):: '(%s) or %s' % [expr, $.zero],
  // Seconds since the oldest, 0 if there are none, and nothing where there are some of which nobody
  // knows since when.
  age(family, matchers, count)::
    '(time() - min(%s)) or 0 * ((%s) == 0)' % [$.series(family, matchers), $.orZero(count)],
  // A share that is 0, and not a division by zero, where there is nothing.
  share(part, whole):: '%s / clamp_min(%s, 1)' % [part, whole],

  // The stages of rows with their place on the way before them, as the label `step`: they sort.
  steps(stages, expr):: std.foldl(
    function(inner, i) 'label_replace(%s, "step", "%02d %s", "stage", "%s")' % [inner, i + 1, stages[i], stages[i]],
    std.range(0, std.length(stages) - 1),
    expr
  ),

  policy:: 'policy_kind, policy_namespace, policy',
  // With the control plane first: what a row of a table is about.
  cluster(by):: config.clusterLabel + ', ' + by,
}
