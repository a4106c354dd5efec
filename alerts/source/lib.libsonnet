// The few shapes of which all rules are made.
//
// Everything is told by control plane, job and shard and by the labels of its own that a rule names,
// never by what else a target carries: its node, its pod or a hash change when a pod moves. The
// replicas of an exporter show the same objects, so they are folded with max, or min of a time.
// A gauge is looked at with its last value of five minutes, so that a missed scrape ends nothing.
function(config) {
  local k = self,
  local comma(labels) = std.join(', ', labels),

  plane:: [config.clusterLabel, 'job'] + config.keepLabels,
  by(own=[]):: 'by (' + comma(k.plane + own) + ')',
  // Shards merged too.
  by_plane(own=[]):: 'by (' + comma([config.clusterLabel, 'job'] + own) + ')',
  on(own=[]):: 'on (' + comma(k.plane + own) + ')',
  job:: 'job="%s"' % config.jobName,

  series(family, matchers=''):: if matchers == '' then family else family + '{' + matchers + '}',
  last(family, matchers=''):: 'last_over_time(' + k.series(family, matchers) + '[5m])',
  fold(family, own=[], matchers='', with='max'):: with + ' ' + k.by(own) + ' (' + k.last(family, matchers) + ')',

  // The sum over rows, of each replica by itself: what one of them leaves out or adds up otherwise
  // for a moment is then not counted twice.
  total(family, own=[], matchers='')::
    'max ' + k.by(own) + ' (sum ' + k.by(['instance'] + own) + ' (' + k.last(family, matchers) + '))',
  // What a member cluster has left, by what Karmada's scheduler subtracts too.
  free(own)::
    local share(name) = k.fold('karmada_member_cluster_' + name, own);
    |||
      %s
      - %s
      - (
        %s
        or
        0 * %s
      )
    ||| % [share('allocatable'), share('allocated'), share('allocating'), share('allocatable')],
  // Seconds since the oldest of them.
  age(family, own=[], matchers=''):: 'time() - ' + k.fold(family, own, matchers, 'min'),
  // A limit that is a flag of the exporter (--thresholds.*), which shows it.
  flag(name):: k.fold('karmada_policy_exporter_threshold_seconds', [], 'threshold="%s"' % name),
  // How much a counter grew, by the replica that saw most; each window holds several scrapes.
  grown(family, over, own=[], matchers='')::
    'max %s (sum %s (increase(%s[%s])))' % [k.by(own), k.by(['instance'] + own), k.series(family, matchers), over],

  // Rows of several expressions in one alert, told apart by a label.
  tell(label, value, expr):: 'label_replace(\n' + k.indent(expr) + ',\n  "' + label + '", "' + value + '", "", ""\n)',
  // Where more than one holds the first is told, once for each control plane.
  first(exprs):: std.join('\nor %s\n' % k.on(), exprs),
  any(exprs):: std.join('\nor\n', exprs),
  // What counters say of an exporter that is gone is not said any longer than what gauges say.
  alive(expr):: k.group(expr) + '\nand ' + k.on() + ' ' + k.fold('karmada_policy_exporter_up'),
  group(expr):: '(\n' + k.indent(expr) + '\n)',
  indent(text):: std.join('\n', ['  ' + line for line in std.split(std.rstripChars(text, '\n'), '\n')]),

  // ---- texts: of an annotation, in which blanks and line breaks are one

  words(text):: std.join(' ', [word for word in std.split(std.strReplace(text, '\n', ' '), ' ') if word != '']),
  // "1 template waits" or "5 templates wait".
  number(one, many)::
    '{{ if eq (printf "%.0f" $value) "1" }}1 ' + one + '{{ else }}{{ printf "%.0f" $value }} ' + many + '{{ end }}',
  them:: '{{ if eq $value 1.0 }}it{{ else }}them{{ end }}',
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
  // The worst five, by a query that runs only while the alert fires: it has the alert's own control
  // plane, and `same`, labels of the alert. {of} is a place of the selector in the query. `lead` is said
  // before the first, and not where there is none.
  names(query, same, sort, row, lead)::
    local labels = k.plane + same;
    local selector = comma([label + '=%q' for label in labels]);
    local places = std.length(std.findSubstr('{of}', query));
    '{{- range $i, $row := printf "topk(5, ' + std.strReplace(std.strReplace(query, '"', '\\"'), '{of}', selector)
    + ')" ' + std.join(' ', std.repeat(['$labels.' + label for label in labels], places)) + ' | query | sortByLabel "' + sort + '" -}}'
    + '{{ if $i }},{{ else }}' + lead + '{{ end }} ' + row + ' {{- end }}',
  // The rest beyond the exporter's limit has no name, and is never listed as one.
  policies(family, matchers='', same=[], inner=[], lead='. Most are of')::
    k.names('sum by (policy_kind, policy_namespace, policy) (max by (%s) (%s{{of}, policy!=""%s}))'
            % [comma(['policy_kind', 'policy_namespace', 'policy'] + inner), family, if matchers == '' then '' else ', ' + matchers],
            same,
            'policy',
            '{{ $row.Labels.policy_kind }} {{ with $row.Labels.policy_namespace }}{{ . }}/{{ end }}{{ $row.Labels.policy }} ({{ $row.Value }})',
            lead),

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

  // The rules of one concern: what is recorded is a group of its own, which comes first.
  concern(name, about, alerts, records=[], interval='1m'):: {
    name: name,
    about: about,
    records: if records == [] then [] else [
      { name: 'karmada-policy.%s.records' % name, interval: interval, rules: records },
    ],
    alerts: if alerts == [] then [] else [
      { name: 'karmada-policy.%s' % name, interval: interval, rules: alerts },
    ],
  },
}
