// A board: the variables, links and annotations of all boards, and panels laid out left to right.
function(config) {
  local q = (import 'promql.libsonnet')(config),
  local datasource = { type: 'prometheus', uid: '${datasource}' },

  // A variable with the values of a label, All first. The value of All matches an empty label too.
  local variable(name, label, of, of_label, all='.*') = {
    type: 'query',
    name: name,
    label: label,
    datasource: datasource,
    query: { query: 'label_values(%s, %s)' % [of, of_label], refId: 'variable-' + name },
    refresh: 2,
    sort: 1,
    multi: true,
    includeAll: true,
    allValue: all,
    current: { selected: true, text: ['All'], value: ['$__all'] },
    options: [],
    hide: 0,
    regex: '',
    skipUrlSync: false,
  },
  variable(name, label, family, of_label=name):: variable(name, label, q.raw(family), of_label),
  // Several of a few values, All first.
  custom(name, label, values):: $.choice(name, label, values) {
    includeAll: true,
    multi: true,
    allValue: '.*',
    current: { selected: true, text: ['All'], value: ['$__all'] },
    options: [{ selected: false, text: value, value: value } for value in values],
  },
  // One of a few values, the first to begin with.
  choice(name, label, values):: {
    type: 'custom',
    name: name,
    label: label,
    query: std.join(', ', values),
    current: { selected: true, text: values[0], value: values[0] },
    options: [{ selected: value == values[0], text: value, value: value } for value in values],
    hide: 0,
    includeAll: false,
    multi: false,
    skipUrlSync: false,
  },

  local shared_variables = [
    {
      type: 'datasource',
      name: 'datasource',
      label: 'Data source',
      query: 'prometheus',
      current: { selected: false, text: 'default', value: 'default' },
      options: [],
      hide: 0,
      includeAll: false,
      multi: false,
      refresh: 1,
      regex: '',
      skipUrlSync: false,
    },
    // The variable has the name of the label: links of alerts use it.
    variable(config.clusterLabel, 'Control plane', 'karmada_policy_exporter_up', config.clusterLabel),
    variable('job', 'Job', 'karmada_policy_exporter_up{%s=~"$%s"}' % [config.clusterLabel, config.clusterLabel], 'job', '.+'),
  ],
  local page_variable = {
    type: 'textbox',
    name: 'page',
    label: 'Exporter page',
    query: config.pageUrl,
    current: { selected: true, text: config.pageUrl, value: config.pageUrl },
    options: [{ selected: true, text: config.pageUrl, value: config.pageUrl }],
    hide: 0,
    skipUrlSync: false,
  },

  local shared_links = [
    {
      type: 'dashboards',
      title: 'Karmada policy boards',
      tags: config.tags,
      asDropdown: true,
      includeVars: true,
      keepTime: true,
      icon: 'external link',
      targetBlank: false,
      tooltip: 'The other boards, with the same variables and time',
      url: '',
    },
    {
      type: 'link',
      title: 'Exporter page',
      tags: [],
      asDropdown: false,
      includeVars: false,
      keepTime: false,
      icon: 'doc',
      targetBlank: true,
      tooltip: 'Problems, templates and policies on the page of the exporter',
      url: '${page}/',
    },
  ] + if !config.csvExport then [] else [
    {
      type: 'link',
      title: 'Stale templates as CSV',
      tags: [],
      asDropdown: false,
      includeVars: false,
      keepTime: false,
      icon: 'doc',
      targetBlank: true,
      tooltip: 'One line for each stale template',
      url: '${page}/api/v1/stale?format=csv',
    },
  ],

  annotation(name, colour, expr, title, text, on=true):: {
    name: name,
    datasource: datasource,
    enable: on,
    hide: false,
    iconColor: colour,
    expr: q.overTime(expr),
    titleFormat: title,
    textFormat: text,
    step: '60s',
  },
  local alerts = $.annotation(
    'Critical alerts',
    config.colours.severity.critical,
    // One mark for each alert of a control plane.
    'max by (%s) (%s)' % [q.cluster('alertname'), q.alerts('alertstate="firing", severity="critical"')],
    '{{alertname}}',
    '{{%s}}' % config.clusterLabel
  ),

  // Panels from left to right; a panel that does not fit begins below the highest panel of its line.
  local place(panels) = std.foldl(
    function(at, panel)
      local wraps = at.x + panel.gridPos.w > 24;
      local x = if wraps then 0 else at.x;
      local y = if wraps then at.y + at.height else at.y;
      {
        x: x + panel.gridPos.w,
        y: y,
        height: if wraps then panel.gridPos.h else std.max(at.height, panel.gridPos.h),
        placed: at.placed + [panel { id: std.length(at.placed) + 1, gridPos+: { x: x, y: y } }],
      },
    panels,
    { x: 0, y: 0, height: 0, placed: [] }
  ).placed,

  board(name, title, description, variables, panels, links=[], annotations=[], from=config.from):: {
    uid: config.uidPrefix + name,
    title: config.titlePrefix + title,
    description: description,
    tags: config.tags,
    schemaVersion: 39,
    version: 1,
    editable: false,
    fiscalYearStartMonth: 0,
    graphTooltip: 1,
    refresh: config.refresh,
    timezone: 'utc',
    time: { from: from, to: 'now' },
    timepicker: {},
    links: shared_links + links,
    annotations: { list: [alerts] + annotations },
    templating: { list: shared_variables + variables + [page_variable] },
    panels: place(panels),
  },
}
