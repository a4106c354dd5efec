// The few shapes of which all queries are made.
//
// A family is first folded over the replicas of an exporter, each of which shows the same objects,
// with max (or min) by the control plane, the job, the shard and the labels that are the family's
// own; only then is it added up. Whatever else tells targets apart does not matter: an HA pair does
// not double a number, in whichever labels it differs.
//
// A selector stands between two `§` until it is known how it is asked: for a line over time it
// stays as it is. For a number of now it falls back on the last one of a moment ago where no
// exporter is ready: a pod that moves to another node, or is new, leaves no hole.
function(config) {
  local q = self,
  local families = import 'families.libsonnet',
  local cluster = config.clusterLabel,
  local selector = '%s=~"$%s", job=~"$job"' % [cluster, cluster],
  local target = [cluster, 'job'] + config.keepLabels,
  local list(labels) = std.join(', ', labels),

  // A family's selector, with label matchers of its own.
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
  // An expression as it is asked for a line over time, and for a number of now.
  overTime(expr):: each(expr, plain),
  now(expr):: each(expr, held),

  own(family):: list(target + families[family]),
  // What a row that is joined with another is about.
  fold(family, matchers='', above=null):: 'max by (%s) (%s%s)' % [
    q.own(family),
    q.series(family, matchers),
    if above == null then '' else ' > %d' % above,
  ],
  oldest(family, matchers=''):: 'min by (%s) (%s)' % [q.own(family), q.series(family, matchers)],
  local added(by, folded) = if by == '' then 'sum(%s)' % folded else 'sum by (%s) (%s)' % [by, folded],
  sum(family, matchers='', by=''):: added(by, q.fold(family, matchers)),

  // The same of what is above 0 only: where most rows are 0, that is ten times cheaper.
  sumAboveZero(family, matchers='', by=''):: added(by, q.fold(family, matchers, 0)),

  // How much a counter grew, resets taken care of.
  increase(family, matchers='', by='', over='$__rate_interval')::
    added(by, 'max by (%s) (increase(%s[%s]))' % [q.own(family), q.raw(family, matchers), over]),
  // Replicas are not folded here: a quantile of both is that of one.
  quantile(p, family, matchers='', by='')::
    'histogram_quantile(%g, sum by (le%s) (rate(%s[$__rate_interval])))' % [
      p,
      if by == '' then '' else ', ' + by,
      q.raw(family + '_bucket', matchers),
    ],

  // What was recorded for reviews: a sample an hour, folded already.
  recorded(record, matchers='', by='', ago='')::
    added(by, 'last_over_time(%s[%s]%s)' % [q.raw(record, matchers), config.reviewGap, if ago == '' then '' else ' offset ' + ago]),

  // Whether targets answer, of the jobs that had an exporter within a day: one that went is missed.
  targets(matchers='')::
    '%s and on (%s, job) last_over_time(%s[1d])' % [q.raw('up', matchers), cluster, ready],
  // The share of exporters that answer and have read everything.
  ready(matchers='')::
    'avg(%s or 0 * (%s))' % [q.raw('karmada_policy_exporter_up', matchers), q.targets(matchers)],

  // 0 where an exporter has read everything, and nothing where none has: unknown is not zero.
  zero:: '§zero§',
  orZero(expr):: '(%s) or %s' % [expr, q.zero],
  // Seconds since the oldest, 0 if there are none, and nothing where there are some of which nobody
  // knows since when.
  age(family, matchers, count)::
    '(time() - min(%s)) or 0 * ((%s) == 0)' % [q.oldest(family, matchers), q.orZero(count)],
  // Of lines over time those whose parts were highest in the time shown. A topk of each moment would
  // draw anew among equals with each refresh: the order of what it chooses from is only the same for
  // a single moment.
  top(n, expr):: '%s and topk(%d, %s)' % [expr, n, each(expr, function(part) 'max_over_time(%s[$__range] @ end())' % part)],
  // A share that is 0, and not a division by zero, where there is nothing.
  share(part, whole):: '%s / clamp_min(%s, 1)' % [part, whole],
  // A column for rows that another column has: 0 where it has nothing to say of one.
  orZeroOf(expr, rows):: '(%s or 0 * (%s))' % [expr, rows],

  // The stages of rows with their place on the way before them, as the label `step`: they sort.
  steps(stages, expr):: std.foldl(
    function(inner, i) 'label_replace(%s, "step", "%02d %s", "stage", "%s")' % [inner, i + 1, stages[i], stages[i]],
    std.range(0, std.length(stages) - 1),
    expr
  ),

  policy:: 'policy_kind, policy_namespace, policy',
  // With the control plane first: what a row of a table is about.
  cluster(by=''):: if by == '' then cluster else cluster + ', ' + by,

  // The bundled alerts. Where their records are not there, neither are they: then it is unknown
  // whether one fires, and not 0.
  alerts(matchers=''):: 'ALERTS{product="%s", %s=~"$%s"%s}' % [
    config.product,
    cluster,
    cluster,
    if matchers == '' then '' else ', ' + matchers,
  ],
  alertsZero::
    if config.alertsRecord == '' then q.zero
    else '0 * max(last_over_time(%s[%s]))' % [q.raw(config.alertsRecord), config.reviewGap],
}
