// Functions from which all rules are made.
//
// Rules keep the labels of the control plane, the job and the shard, and labels that a rule names. Other labels of a
// target, such as its node or the hash of its pod, change when a pod moves. Replicas of an exporter show the same
// objects: rules merge them with max, or with min for a time.
// Rules read the last value of five minutes, so that a missed scrape ends nothing.
function(config) {
  local k = self,
  local comma(labels) = std.join(', ', labels),
  local roles = import 'roles.libsonnet',

  plane:: [config.clusterLabel, 'job'] + config.keepLabels,
  by(own=[]):: 'by (' + comma(k.plane + own) + ')',
  // Shards merged too.
  by_plane(own=[]):: 'by (' + comma([config.clusterLabel, 'job'] + own) + ')',
  on(own=[]):: 'on (' + comma(k.plane + own) + ')',
  job:: 'job="%s"' % config.jobName,

  series(family, matchers=''):: if matchers == '' then family else family + '{' + matchers + '}',
  last(family, matchers='', ago='')::
    'last_over_time(%s[5m]%s)' % [k.series(family, matchers), if ago == '' then '' else ' offset ' + ago],
  fold(family, own=[], matchers='', with='max'):: with + ' ' + k.by(own) + ' (' + k.last(family, matchers) + ')',

  // The sum over rows of each replica by itself, then the largest: replicas may leave out different rows for a moment.
  total(family, own=[], matchers='')::
    'max ' + k.by(own) + ' (sum ' + k.by(['instance'] + own) + ' (' + k.last(family, matchers) + '))',
  // Free resources of member clusters: Karmada's scheduler subtracts the same. `rows` returns the rows of a family. Each
  // shard reports the capacity in full. A missing part `allocating` means that no pod is being placed.
  free(rows)::
    local share(part) = 'max %s (%s)' % [k.by_plane(['member_cluster', 'resource', 'unit']), rows('karmada_member_cluster_' + part)];
    |||
      %s
      - %s
      - (
        %s
        or
        0 * %s
      )
    ||| % [share('allocatable'), share('allocated'), share('allocating'), share('allocatable')],
  // Seconds since the oldest time.
  age(family, own=[], matchers=''):: 'time() - ' + k.fold(family, own, matchers, 'min'),

  // Adds a label to the rows of an expression: rows of several expressions in one alert differ by it.
  tell(label, value, expr):: 'label_replace(\n' + k.indent(expr) + ',\n  "' + label + '", "' + value + '", "", ""\n)',
  // For each control plane the rows of the first expression that has some.
  first(exprs):: std.join('\nor %s\n' % k.on(), exprs),
  any(exprs):: std.join('\nor\n', exprs),
  indent(text):: std.join('\n', ['  ' + line for line in std.split(std.rstripChars(text, '\n'), '\n')]),

  // ---- texts of annotations; blanks and line breaks are the same

  words(text):: std.join(' ', [word for word in std.split(std.strReplace(text, '\n', ' '), ' ') if word != '']),
  // "1 template waits" or "5 templates wait".
  number(one, many)::
    '{{ if eq (printf "%.0f" $value) "1" }}1 ' + one + '{{ else }}{{ printf "%.0f" $value }} ' + many + '{{ end }}',
  // A text for each value of a label; the last one for all others.
  choose(label, texts):: k.choose_of('$labels.' + label, texts),
  choose_of(field, texts)::
    local condition(text) = 'eq ' + field + std.join('', [' "' + value + '"' for value in text[0]]);
    if std.length(texts) == 1 then std.rstripChars(texts[0][1], '\n')
    else std.join('', [
      (if i == 0 then '{{ if ' + condition(texts[i]) + ' }}'
       else if std.length(texts[i][0]) == 0 then '{{ else }}'
       else '{{ else if ' + condition(texts[i]) + ' }}')
      + std.rstripChars(texts[i][1], '\n')
      for i in std.range(0, std.length(texts) - 1)
    ]) + '{{ end }}',
  // ---- texts about problems, from rows of a record that exists while the alert is evaluated

  // The start of each open problem, with its subject.
  starts:: 'karmada_policy:problem_since_timestamp_seconds:min',
  // Result of a query for the rows of the record with the alert's values of these labels. `%s` in `rows` is the selector.
  rows(labels, rows='%s')::
    'printf "%s" %s | query' % [
      std.strReplace(rows % (k.starts + '{' + comma([label + '=%q' for label in labels]) + '}'), '"', '\\"'),
      std.join(' ', ['$labels.' + label for label in labels]),
    ],
  // Subject and start of the row that is the template's dot: "Deployment shop/web since 2026-01-31T23:59:59Z".
  object:: '{{ if not (match "ControlPlane|Source" .Labels.kind) }}{{ .Labels.kind }} {{ end }}'
           + '{{ with .Labels.namespace }}{{ . }}/{{ end }}{{ .Labels.name }}'
           + '{{ if gt .Value 0.0 }} since {{ (toTime .Value).UTC.Format "2006-01-02T15:04:05Z" }}{{ end }}',
  // ". Oldest: " and the five oldest objects; empty without rows.
  oldest(labels, rows='bottomk(5, %s)')::
    '{{ range $i, $row := %s }}{{ if $i }}, {{ else }}. Oldest: {{ end }}{{ with $row }}%s{{ end }}{{ end }}'
    % [k.rows(labels, rows), k.object],
  // The same for alerts of a namespace: "_others" are the namespaces without an alert of their own.
  oldestInNamespace(labels, counts)::
    local everywhere = [label for label in labels if label != 'namespace'];
    local others = 'bottomk(5, %%s unless on (%s) %s)' % [std.join(', ', labels), counts];
    '{{ if eq $labels.namespace "_others" }}%s{{ else }}%s{{ end }}' % [k.oldest(everywhere, others), k.oldest(labels)],
  // Action of a reason in the table of problems. `user` is the title of the role `user`.
  action(reason, user=roles.user)::
    'Action (%s): %s' % [(roles { user: user })[reason.actor], reason.action],

  // ---- rules

  record(name, expr, comment=''):: { record: name, expr: std.rstripChars(expr, '\n'), comment:: comment },

  // Resources without which the exporter judges nothing: policies and bindings.
  essential:: 'resource=~"(cluster)?propagationpolicy.policy.karmada.io|(cluster)?resourcebinding.work.karmada.io"',

  // An alert: its name without prefix, and its members:
  //   expr, summary, description
  //   severity       without one, the expression has the label
  //   for, keep      durations; none without them
  //   board, more    board of the link, and variables of it beside that of the control plane
  //   page, anchor   path of the exporter's page; section of the runbook
  //   problems, each, severities   columns of the table in README.md
  alert(short, what)::
    local page = 'Karmada' + short;
    local severity = std.get(config.severities, page, std.get(what, 'severity', null));
    local patience = std.get(config.patience, page, std.get(what, 'for', null));
    {
      comment:: k.words(std.get(what, 'comment', '')),
      page:: page,
      own:: what.board == 'exporter',
      row:: [if severity != null then severity else what.severities, what.problems, what.each, std.get(what, 'for', ''), std.get(what, 'keep', '')],
      board:: config.uidPrefix + what.board,
      alert: config.alertPrefix + short,
      expr: std.rstripChars(what.expr, '\n'),
      [if patience != null then 'for']: patience,
      [if std.objectHas(what, 'keep') then 'keep_firing_for']: what.keep,
      labels: {
        [if severity != null then 'severity']: severity,
        product: config.product,
      } + config.extraLabels,
      annotations: {
        summary: what.summary,
        description: k.words(what.description),
        runbook_url: '%s/%s.md%s' % [config.runbookUrl, page, if std.objectHas(what, 'anchor') then '#' + what.anchor else ''],
        dashboard_url: '%s/%s%s?var-%s={{ $labels.%s }}%s' % [
          config.boardUrl,
          config.uidPrefix,
          what.board,
          config.clusterLabel,
          config.clusterLabel,
          std.get(what, 'more', ''),
        ],
        page_url: '%s/%s' % [config.pageUrl, what.page],
      } + config.extraAnnotations,
    },

  // The rules of one concern: what is recorded is a group of its own, which comes first. Some records need a value
  // each five minutes only.
  concern(name, about, alerts, records=[], interval='1m', seldom=[]):: {
    local group(suffix, interval, rules) = if rules == [] then [] else [
      { name: 'karmada-policy.%s.%s' % [name, suffix], interval: interval, rules: rules },
    ],
    name: name,
    about: about,
    records: group('seldom', '5m', seldom) + group('records', interval, records),
    alerts: if alerts == [] then [] else [
      { name: 'karmada-policy.%s' % name, interval: interval, rules: alerts },
    ],
  },
}
