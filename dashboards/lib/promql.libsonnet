// Functions that write all queries of the boards.
//
// The replicas of an exporter show the same objects. A query first takes the largest (or smallest) value of the
// replicas, by control plane, job, shard and the labels of the family; then it adds up. Other labels of a target
// have no effect, so that an HA pair does not double a number.
//
// A selector is between two `§` until the panel decides how to ask. A query over time has the selector as it is.
// A query for now uses the last sample of some minutes ago while no exporter is ready, so that a pod that moves
// leaves no gap.
function(config) {
  local q = self,
  local families = import 'families.libsonnet',
  local cluster = config.clusterLabel,
  local selector = '%s=~"$%s", job=~"$job"' % [cluster, cluster],
  local target = [cluster, 'job'] + config.keepLabels,
  local list(labels) = std.join(', ', labels),

  // Selector of a family, with more label matchers.
  raw(family, matchers=''):: '%s{%s%s}' % [family, selector, if matchers == '' then '' else ', ' + matchers],
  series(family, matchers=''):: '§%s§' % q.raw(family, matchers),
  local ready = q.raw('karmada_policy_exporter_up'),
  local held(part) =
    if part == 'zero' then '0 * max(max_over_time(%s[%s]) == 1)' % [ready, config.gap]
    else '(%s or last_over_time(%s[%s]) unless on (%s, job) (%s == 1))' % [part, part, config.gap, cluster, ready],
  local plain(part) = if part == 'zero' then '0 * max(%s == 1)' % ready else part,
  local each(expr, how) = std.join('', std.mapWithIndex(
    function(i, part) if i % 2 == 1 then how(part) else part,
    std.split(expr, '§')
  )),
  // The expression for a query over time, and for now.
  overTime(expr):: each(expr, plain),
  now(expr):: each(expr, held),

  own(family):: list(target + families[family]),
  // Largest value of the replicas.
  fold(family, matchers='', above=null):: 'max by (%s) (%s%s)' % [
    q.own(family),
    q.series(family, matchers),
    if above == null then '' else ' > %d' % above,
  ],
  oldest(family, matchers=''):: 'min by (%s) (%s)' % [q.own(family), q.series(family, matchers)],
  local added(by, folded) = if by == '' then 'sum(%s)' % folded else 'sum by (%s) (%s)' % [by, folded],
  sum(family, matchers='', by=''):: added(by, q.fold(family, matchers)),

  // Like sum(), of values above 0 only: ten times cheaper for families with many zeros.
  sumAboveZero(family, matchers='', by=''):: added(by, q.fold(family, matchers, 0)),

  // Growth of a counter.
  increase(family, matchers='', by='', over='$__rate_interval')::
    added(by, 'max by (%s) (increase(%s[%s]))' % [q.own(family), q.raw(family, matchers), over]),
  // The quantile over all replicas; replicas observe the same values.
  quantile(p, family, matchers='', by='')::
    'histogram_quantile(%g, sum by (le%s) (rate(%s[$__rate_interval])))' % [
      p,
      if by == '' then '' else ', ' + by,
      q.raw(family + '_bucket', matchers),
    ],

  // Records for reviews: one sample an hour, replicas merged.
  recorded(record, matchers='', by='', ago='')::
    added(by, 'last_over_time(%s[%s]%s)' % [q.raw(record, matchers), config.reviewGap, if ago == '' then '' else ' offset ' + ago]),

  // `up` of the targets of jobs that had an exporter within a day, so that a stopped exporter counts as down.
  targets(matchers='')::
    '%s and on (%s, job) last_over_time(%s[1d])' % [q.raw('up', matchers), cluster, ready],
  // Share of the exporters that answer and have read everything.
  ready(matchers='')::
    'avg(%s or 0 * (%s))' % [q.raw('karmada_policy_exporter_up', matchers), q.targets(matchers)],

  // 0 if an exporter has read everything, else no row: unknown is not zero.
  zero:: '§zero§',
  orZero(expr):: '(%s) or %s' % [expr, q.zero],
  // Seconds since the oldest; 0 if the count is 0; no row if the start is unknown.
  age(family, matchers, count)::
    '(time() - min(%s)) or 0 * ((%s) == 0)' % [q.oldest(family, matchers), q.orZero(count)],
  // The lines with the highest values in the time range. A topk at each step would choose among equal lines anew
  // with each refresh.
  top(n, expr):: '%s and topk(%d, %s)' % [expr, n, each(expr, function(part) 'max_over_time(%s[$__range] @ end())' % part)],
  // A share; 0 if the whole is 0.
  share(part, whole):: '%s / clamp_min(%s, 1)' % [part, whole],
  // A column with a value for each row of another column: 0 for a missing one.
  orZeroOf(expr, rows):: '(%s or 0 * (%s))' % [expr, rows],

  // Adds the label `step`: the number and name of the stage, which sort in the order of stages.
  steps(stages, expr):: std.foldl(
    function(inner, i) 'label_replace(%s, "step", "%02d %s", "stage", "%s")' % [inner, i + 1, stages[i], stages[i]],
    std.range(0, std.length(stages) - 1),
    expr
  ),

  // Matchers that hold only if a variable is at All, or only if it is not: no series has the label, so its
  // value is empty, and of the values of a variable only that of All (.*) matches an empty value. A query
  // with both alternatives reads few sums for all namespaces, and the rows of a namespace for that one.
  ifAll(variable):: 'every=~"$%s"' % variable,
  unlessAll(variable):: 'every!~"$%s"' % variable,
  // Rows of the bundled rules, which merge replicas and cover a missed scrape.
  record(name, matchers='', by=''):: added(by, q.raw(name, matchers)),
  // 0 where the rules know a replica with current data, and no row otherwise.
  orZeroOfRules(expr):: '(%s) or 0 * max(%s == 1)' % [expr, q.raw('karmada_policy:replica_current:min')],
  // A family for all namespaces and its counterpart by namespace, of which one has rows.
  ofNamespaces(family, by_namespace, matchers='', by='')::
    local more = if matchers == '' then '' else ', ' + matchers;
    '%s or %s' % [
      q.sum(family, q.ifAll('namespace') + more, by),
      q.sum(by_namespace, 'namespace=~"$namespace", %s%s' % [q.unlessAll('namespace'), more], by),
    ],

  // The same with a record for all namespaces.
  ofNamespacesRecorded(record, by_namespace, matchers)::
    '%s or %s' % [
      q.record(record, q.ifAll('namespace') + ', ' + matchers),
      q.sum(by_namespace, 'namespace=~"$namespace", %s, %s' % [q.unlessAll('namespace'), matchers]),
    ],

  policy:: 'policy_kind, policy_namespace, policy',
  // Labels of a row of a table, with the control plane first.
  cluster(by=''):: if by == '' then cluster else cluster + ', ' + by,

  // The bundled alerts.
  alerts(matchers=''):: 'ALERTS{product="%s", %s=~"$%s"%s}' % [
    config.product,
    cluster,
    cluster,
    if matchers == '' then '' else ', ' + matchers,
  ],
}
