// Panels. A panel without title, description or unit does not compile.
function(config) {
  local p = self,
  local datasource = { type: 'prometheus', uid: '${datasource}' },
  local q = (import 'promql.libsonnet')(config),

  // Colours in steps. `limits` are [orange from, red from]; `good` is [orange from, green from], for values of
  // which less is worse. Without both the text has no colour.
  local no_limits = [null, null],
  local step(color, value) = { color: color, value: value },
  local steps(limits, good=null, base='green') =
    if good != null then [step('red', null), step('orange', good[0]), step('green', good[1])]
    else [step(if limits == no_limits then 'text' else base, null)]
         + [step('orange', limits[0]) for _ in [0] if limits[0] != null]
         + [step('red', limits[1]) for _ in [0] if limits[1] != null],

  local panel(type, title, description, unit, queries, w, h, thresholds=steps(no_limits)) =
    assert std.length(title) > 0 : 'a panel without a title';
    assert std.length(description) > 20 : 'panel "%s" needs a description' % title;
    assert std.length(unit) > 0 : 'panel "%s" needs a unit' % title;
    {
      type: type,
      title: title,
      description: description,
      datasource: datasource,
      targets: std.mapWithIndex(
        function(i, one) one { refId: std.char(65 + i), expr: if one.instant then q.now(one.expr) else q.overTime(one.expr) },
        queries
      ),
      gridPos: { w: w, h: h },
      fieldConfig: { defaults: { unit: unit, thresholds: { mode: 'absolute', steps: thresholds } }, overrides: [] },
      options: {},
    },

  cores:: 'suffix: cores',

  query(expr, legend=''):: {
    datasource: datasource,
    editorMode: 'code',
    expr: expr,
    legendFormat: if legend == '' then '__auto' else legend,
    instant: false,
    range: true,
    format: 'time_series',
  },
  local instant(query, format) = query { instant: true, range: false, format: format },

  // Link to another board, with the variables that both have.
  to(title, board, extra=''):: {
    title: title,
    targetBlank: false,
    url: '/d/%s%s?${datasource:queryparam}&${%s:queryparam}&${job:queryparam}&${__url_time_range}%s'
         % [config.uidPrefix, board, config.clusterLabel, extra],
  },
  // Link to a list on the page of the exporter: '/?problem=not_scheduled'.
  list(title, path):: { title: title, targetBlank: true, url: '${page}' + path },

  local property(id, value) = { id: id, value: value },
  local override(name, properties) = { matcher: { id: 'byName', options: name }, properties: properties },
  local fixed(colour) = property('color', { mode: 'fixed', fixedColor: colour }),
  // Colours of words, from the table of all boards. Lines that may coincide have several widths, so that a narrow
  // line is visible on a broad one.
  local widths = [5, 3, 1],
  colours(of, apart=false):: std.mapWithIndex(
    function(i, name) override(name, [fixed(config.colours[of][name])] + [property('custom.lineWidth', widths[i % 3]) for _ in [0] if apart]),
    std.objectFields(config.colours[of])
  ),
  // Style of a line. Of two lines that may coincide, the second is dashed or narrow.
  line(name, colour=null, dashed=false, width=null, kept=false):: override(
    name,
    [property('custom.hideFrom', { legend: false, tooltip: false, viz: false }) for _ in [0] if kept] +
    [fixed(colour) for _ in [0] if colour != null]
    + [property('custom.lineStyle', { fill: 'dash', dash: [10, 10] }) for _ in [0] if dashed]
    + [property('custom.lineWidth', width) for _ in [0] if width != null]
  ),
  // Hides lines that are always 0.
  local zeros_hidden = [{
    matcher: { id: 'byValue', options: { reducer: 'allIsZero', op: 'gte', value: 0 } },
    properties: [property('custom.hideFrom', { legend: true, tooltip: true, viz: true })],
  }],

  // One current number, coloured from the first limit on; with `severity`, in the colour of the severity from 1 on.
  stat(title, description, unit, expr, w=3, h=3, limits=no_limits, good=null, link=null, mappings=[], severity=null)::
    local colours =
      if severity == null then steps(limits, good)
      else [step('text', null), step(config.colours.severity[severity], config.thresholds.any[0])];
    panel('stat', title, description, unit, [instant(p.query(expr), 'time_series')], w, h, colours) {
      fieldConfig+: { defaults+: {
        [if unit == 'short' then 'decimals']: 0,
        noValue: 'no data',
        mappings: mappings,
        color: { mode: 'thresholds' },
        links: if link == null then [] else [link],
      } },
      options: {
        colorMode: 'value',
        graphMode: 'none',
        justifyMode: 'auto',
        orientation: 'auto',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        textMode: 'value',
      },
    },

  stages:: [
    'unmatched',
    'unbound',
    'outdated',
    'evicting',
    'unscheduled',
    'placed_nowhere',
    'undispatched',
    'unapplied',
    'undelivered',
    'unhealthy',
    'unreachable',
    'healthy',
  ],

  // Lines over time; stacked if the parts add up to a whole. `of` is the table of their colours; `shades` are
  // for few lines with free names. Lines that are always 0 are hidden, except a line that is `kept`. With `rows` a
  // line ends with its rows; else it continues over some minutes without an exporter.
  series(title, description, unit, queries, w=12, h=8, stack=false, max=null, limits=no_limits, of=null, overrides=[], points=null, rows=false, shades=false)::
    panel('timeseries', title, description, unit, queries, w, h, steps(limits)) {
      [if points != null then 'maxDataPoints']: points,
      fieldConfig+: {
        defaults+: {
          color: if shades then { mode: 'shades', fixedColor: 'blue' } else { mode: 'palette-classic' },
          [if unit == 'short' then 'decimals']: 0,
          min: 0,
          [if max != null then 'max']: max,
          custom: {
            drawStyle: 'line',
            lineInterpolation: 'linear',
            lineWidth: 1,
            fillOpacity: if stack then 30 else 0,
            showPoints: if rows then 'auto' else 'never',
            spanNulls: if rows then false else 300000,
            stacking: { group: 'A', mode: if stack then 'normal' else 'none' },
            thresholdsStyle: { mode: if limits == no_limits then 'off' else 'dashed' },
          },
        },
        overrides: zeros_hidden + (if of == null then [] else p.colours(of, !stack && of != 'quantile')) + overrides,
      },
      options: {
        legend: if w > 8 then
          { calcs: ['lastNotNull', 'max'], displayMode: 'table', placement: 'right', showLegend: true, sortBy: 'Last *', sortDesc: true }
        else
          { calcs: [], displayMode: 'list', placement: 'bottom', showLegend: true },
        tooltip: { mode: 'multi', sort: 'desc' },
      },
    },

  // Horizontal bars of current values. The bars of one query are sorted, without zeros; those of several queries
  // are in the order of the queries.
  bars(title, description, unit, expr, legend='', w=12, h=8, limits=no_limits, max=null, of=null)::
    local queries = if std.isArray(expr) then expr else [p.query('sort_desc((%s) > 0)' % expr, legend)];
    panel('bargauge', title, description, unit, [instant(one, 'time_series') for one in queries], w, h, steps(limits)) {
      fieldConfig+: {
        defaults+: {
          color: if limits == no_limits then { mode: 'fixed', fixedColor: 'blue' } else { mode: 'thresholds' },
          min: 0,
          [if max != null then 'max']: max,
          noValue: 'none',
        },
        overrides: if of == null then [] else p.colours(of),
      },
      options: {
        displayMode: 'basic',
        orientation: 'horizontal',
        reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false },
        showUnfilled: true,
        valueMode: 'color',
      },
    },

  // Column of a label: header, width, link, and text for an empty label. A `late` column is to the right of the
  // values; a `hidden` one is for links only.
  label(name, header, width=null, link=null, none='', mappings=[], late=false, hidden=false)::
    { name: name, header: header, width: width, link: link, none: none, mappings: mappings, late: late, hidden: hidden },
  // Column of a query: its value, coloured from the limits on.
  value(header, unit, expr, width=110, limits=no_limits, good=null, hide=false, mappings=[])::
    { header: header, unit: unit, expr: expr, width: width, limits: limits, good: good, hide: hide, mappings: mappings },
  clusterLabel:: p.label(config.clusterLabel, 'Control plane', 120),
  // Policies beyond the limit of the exporter are one row without a name.
  policyLabels(kind=190):: [
    p.clusterLabel,
    p.label('policy_kind', 'Kind', kind),
    p.label('policy_namespace', 'Namespace', 115),
    p.label('policy', 'Policy', null, p.to('Drift of this policy', 'drift', '&var-policy=${__value.text}'), none='all others'),
  ],

  local value_column(v, empty) = override(
    v.header,
    [property('unit', v.unit), property('custom.width', v.width)]
    + [property('noValue', '') for _ in [0] if empty != '']
    + [property('decimals', 0) for _ in [0] if v.unit == 'short']
    + [property('mappings', v.mappings) for _ in [0] if v.mappings != []]
    + (if v.limits == no_limits && v.good == null && v.mappings == [] then [] else [
         property('thresholds', { mode: 'absolute', steps: steps(v.limits, v.good, 'text') }),
         property('custom.cellOptions', { type: 'color-text' }),
       ])
  ),
  local label_column(l, empty) = override(
    l.header,
    [property('custom.width', l.width) for _ in [0] if l.width != null]
    + [property('links', [l.link]) for _ in [0] if l.link != null]
    + [property('mappings', [{ type: 'special', options: { match: 'empty', result: { text: l.none, index: 0 } } }]) for _ in [0] if l.none != '']
    + (if l.mappings == [] then [] else [property('mappings', l.mappings), property('custom.cellOptions', { type: 'color-text' })])
    + (if l.hidden then [property('custom.hidden', true), property('custom.hideFrom', { legend: true, tooltip: true, viz: true })] else [])
    + [property('noValue', '') for _ in [0] if empty != '']
  ),

  // Rows by label, and one query for each column of values, joined on the labels. The order is that of the
  // first value, largest first, or that of the label `sort`, or of several headers in ascending order. `hidden`:
  // the value has no column. `empty` is the text of a table without rows.
  table(title, description, labels, values, w=24, h=8, hidden=false, sort=null, desc=false, empty='')::
    local count = std.length(values);
    local names = [if count == 1 then 'Value' else 'Value #' + std.char(65 + i) for i in std.range(0, count - 1)];
    local by = if sort != null then sort else if hidden then labels[std.length(labels) - 1].name else null;
    local order = [l.name for l in labels if !l.late] + names + [l.name for l in labels if l.late];
    panel('table', title, description, 'short', [instant(p.query(v.expr), 'table') for v in values], w, h) {
      transformations: [
        { id: 'merge', options: {} },
        { id: 'organize', options: {
          excludeByName: { Time: true } + (if hidden then { [names[0]]: true } else {}) + { [names[i]]: true for i in std.range(0, count - 1) if values[i].hide },
          indexByName: { [order[i]]: i for i in std.range(0, std.length(order) - 1) },
          renameByName: { [l.name]: l.header for l in labels } + { [names[i]]: values[i].header for i in std.range(0, count - 1) },
        } },
      ],
      options: {
        cellHeight: 'sm',
        showHeader: true,
        sortBy: if std.isArray(by) then [{ displayName: header, desc: false } for header in by]
        else [if by == null then { displayName: values[0].header, desc: true } else { displayName: [l.header for l in labels if l.name == by][0], desc: desc }],
      },
      fieldConfig+: {
        defaults+: { noValue: empty, custom: { align: 'auto', filterable: false } },
        overrides: [value_column(v, empty) for v in values] + [label_column(l, empty) for l in labels if l.width != null || l.link != null || l.none != '' || l.mappings != [] || l.hidden || empty != ''],
      },
    },

  // Text. It has a description like every panel.
  text(title, description, content, w=12, h=8):: {
    type: 'text',
    title: title,
    description: description,
    gridPos: { w: w, h: h },
    options: { content: content, mode: 'markdown' },
  },

  row(title):: { type: 'row', title: title, collapsed: false, panels: [], gridPos: { w: 24, h: 1 } },
}
