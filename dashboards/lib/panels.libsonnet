// Panels. One without title, description or unit does not compile.
function(config) {
  local datasource = { type: 'prometheus', uid: '${datasource}' },
  local steps(limits) = [{ color: 'green', value: null }] + [
    { color: color, value: limit }
    for pair in [['orange', limits[0]], ['red', limits[1]]]
    for color in [pair[0]]
    for limit in [pair[1]]
    if limit != null
  ],
  local no_limits = [null, null],

  local panel(type, title, description, unit, queries, w, h, limits=no_limits) =
    assert std.length(title) > 0 : 'a panel without a title';
    assert std.length(description) > 20 : 'panel "%s" needs a description' % title;
    assert std.length(unit) > 0 : 'panel "%s" needs a unit' % title;
    {
      type: type,
      title: title,
      description: description,
      datasource: datasource,
      targets: std.mapWithIndex(function(i, q) q { refId: std.char(65 + i) }, queries),
      gridPos: { w: w, h: h },
      fieldConfig: {
        defaults: { unit: unit, thresholds: { mode: 'absolute', steps: steps(limits) } },
        overrides: [],
      },
      options: {},
    },

  query(expr, legend=''):: {
    datasource: datasource,
    editorMode: 'code',
    expr: expr,
    legendFormat: if legend == '' then '__auto' else legend,
    instant: false,
    range: true,
    format: 'time_series',
  },
  local instant(q, format) = q { instant: true, range: false, format: format },

  // Where a click goes: another board, with what was chosen here.
  to(title, board, extra=''):: {
    title: title,
    targetBlank: false,
    url: '/d/' + config.uidPrefix + board
         + '?${datasource:queryparam}&${cluster:queryparam}&${job:queryparam}'
         + '&${__url_time_range}' + extra,
  },

  // One number (or one a legend), coloured from the first limit on.
  stat(title, description, unit, expr, legend='', w=4, h=4, limits=no_limits, link=null, spark=true, names=false, mappings=[])::
    local q = $.query(expr, legend);
    panel('stat', title, description, unit, [if spark then q else instant(q, 'time_series')], w, h, limits) {
      fieldConfig+: { defaults+: {
        [if unit == 'short' then 'decimals']: 0,
        noValue: 'no data',
        mappings: mappings,
        color: { mode: 'thresholds' },
        links: if link == null then [] else [link],
      } },
      options: {
        colorMode: 'value',
        graphMode: if spark then 'area' else 'none',
        justifyMode: 'auto',
        orientation: 'auto',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        textMode: if names then 'value_and_name' else 'value',
      },
    },

  // States have the same colour on every board.
  local states = {
    current: 'green',
    attached: 'semi-dark-green',
    unbound: 'blue',
    stale: 'orange',
    orphaned: 'purple',
    pending: 'red',
    ignored: 'text',
  },
  stateColours:: [
    { matcher: { id: 'byName', options: state }, properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: states[state] } }] }
    for state in std.objectFields(states)
  ],

  // The stages of a template's way, in its order, and the colours that they have.
  local stages = [
    ['unmatched', 'red'],
    ['unbound', 'blue'],
    ['outdated', 'orange'],
    ['evicting', 'light-blue'],
    ['unscheduled', 'dark-orange'],
    ['placed_nowhere', 'text'],
    ['undispatched', 'yellow'],
    ['unapplied', 'dark-red'],
    ['undelivered', 'purple'],
    ['unhealthy', 'super-light-red'],
    ['unreachable', 'dark-purple'],
    ['healthy', 'green'],
  ],
  stages:: [stage[0] for stage in stages],
  stageColours:: [
    { matcher: { id: 'byName', options: stage[0] }, properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: stage[1] } }] }
    for stage in stages
  ],

  // What templates run, the newer the greener.
  local versions = { current: 'green', previous: 'yellow', older: 'orange', unknown: 'purple' },
  versionColours:: [
    { matcher: { id: 'byName', options: version }, properties: [{ id: 'color', value: { mode: 'fixed', fixedColor: versions[version] } }] }
    for version in std.objectFields(versions)
  ],

  // Lines over time; stacked where the parts add up to something.
  series(title, description, unit, queries, w=12, h=8, stack=false, max=null, limits=no_limits, overrides=[], points=null)::
    panel('timeseries', title, description, unit, queries, w, h, limits) {
      [if points != null then 'maxDataPoints']: points,
      fieldConfig+: { overrides: overrides, defaults+: {
        color: { mode: 'palette-classic' },
        min: 0,
        [if max != null then 'max']: max,
        custom: {
          drawStyle: 'line',
          lineInterpolation: 'linear',
          lineWidth: 1,
          fillOpacity: if stack then 30 else 8,
          showPoints: 'never',
          spanNulls: false,
          stacking: { group: 'A', mode: if stack then 'normal' else 'none' },
          thresholdsStyle: { mode: if limits == no_limits then 'off' else 'dashed' },
        },
      } },
      options: {
        legend: if w > 8 then
          { calcs: ['lastNotNull', 'max'], displayMode: 'table', placement: 'right', showLegend: true }
        else
          { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },

  // Horizontal bars of what is now, the longest being the largest; those of several queries stand
  // in the order of these.
  bars(title, description, unit, expr, legend='', w=12, h=8, limits=no_limits, max=null)::
    local queries = if std.isArray(expr) then expr else [$.query(expr, legend)];
    panel('bargauge', title, description, unit, [instant(q, 'time_series') for q in queries], w, h, limits) {
      fieldConfig+: { defaults+: {
        color: if limits == no_limits then { mode: 'fixed', fixedColor: 'blue' } else { mode: 'thresholds' },
        min: 0,
        [if max != null then 'max']: max,
        noValue: 'none',
      } },
      options: {
        displayMode: 'basic',
        orientation: 'horizontal',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        showUnfilled: true,
        valueMode: 'color',
      },
    },

  // A column of a label: header, and a width or what a click on it opens.
  label(name, header, width=null, link=null):: { name: name, header: header, width: width, link: link },
  // A column of a query: its value, coloured from the limits on.
  value(header, unit, expr, width=110, limits=no_limits, hide=false)::
    { header: header, unit: unit, expr: expr, width: width, limits: limits, hide: hide },
  clusterLabel:: $.label(config.clusterLabel, 'Control plane', 115),
  policyLabels:: [
    $.clusterLabel,
    $.label('policy_kind', 'Kind', 200),
    $.label('policy_namespace', 'Namespace', 120),
    $.label('policy', 'Policy', null, $.to('Drift of this policy', 'drift', '&var-policy=${__value.text}')),
  ],

  // Rows by label, one query a value column, joined on the labels; the first value sorts, or the
  // label that is named. `worst`: rows come sorted, the largest first. `empty` is said where there
  // are no rows.
  table(title, description, labels, values, w=24, h=8, hidden=false, sort=null, worst=false, empty='')::
    local count = std.length(values);
    local names = [if count == 1 then 'Value' else 'Value #' + std.char(65 + i) for i in std.range(0, count - 1)];
    local override(header, properties) = { matcher: { id: 'byName', options: header }, properties: properties };
    local property(id, value) = { id: id, value: value };
    panel('table', title, description, 'short', [instant($.query(v.expr), 'table') for v in values], w, h) {
      transformations: [
        { id: 'merge', options: {} },
      ] + (
        if sort == null && !worst then []
        else [{ id: 'sortBy', options: { fields: {}, sort: [if worst then { field: names[0], desc: true } else { field: sort, desc: false }] } }]
      ) + [
        { id: 'organize', options: {
          excludeByName: { Time: true } + (if hidden then { [names[0]]: true } else {}) + { [names[i]]: true for i in std.range(0, count - 1) if values[i].hide },
          indexByName: { [labels[i].name]: i for i in std.range(0, std.length(labels) - 1) }
                       + { [names[i]]: std.length(labels) + i for i in std.range(0, count - 1) },
          renameByName: { [l.name]: l.header for l in labels } + { [names[i]]: values[i].header for i in std.range(0, count - 1) },
        } },
      ],
      options: {
        cellHeight: 'sm',
        showHeader: true,
        sortBy: [
          if sort != null then { displayName: [l.header for l in labels if l.name == sort][0], desc: false }
          else { displayName: if hidden then labels[std.length(labels) - 1].header else values[0].header, desc: !hidden },
        ],
      },
      fieldConfig+: {
        defaults+: { noValue: empty, custom: { align: 'auto', filterable: false } },
        overrides: [
          override(v.header, [property('unit', v.unit), property('custom.width', v.width)]
                             + (if v.limits == no_limits then [] else [
                                  property('thresholds', { mode: 'absolute', steps: steps(v.limits) }),
                                  property('custom.cellOptions', { type: 'color-text' }),
                                ]))
          for v in values
        ] + [
          override(l.header, (if l.width == null then [] else [property('custom.width', l.width)])
                             + (if l.link == null then [] else [property('links', [l.link])])
                             + (if empty == '' then [] else [property('noValue', '')]))
          for l in labels
          if l.width != null || l.link != null || empty != ''
        ],
      },
    },

  // Words. They have a description too: a reader finds it in the same place on every panel.
  text(title, description, content, w=12, h=8):: {
    type: 'text',
    title: title,
    description: description,
    gridPos: { w: w, h: h },
    options: { content: content, mode: 'markdown' },
  },

  row(title):: { type: 'row', title: title, collapsed: false, panels: [], gridPos: { w: 24, h: 1 } },
}
