// SPDX-License-Identifier: Apache-2.0
// A board drawn with the parts that Grafana's own panels are made of. It is not Grafana: no
// variables to choose, no folding rows, no links. It shows what a person would see in each panel.
import React from 'react';
import { createRoot } from 'react-dom/client';
import * as data from '@grafana/data';
import * as ui from '@grafana/ui';
import { TableNG } from '@grafana/ui/unstable';
import { initPluginTranslations } from '@grafana/i18n';
import { allValues, framesOf } from './data.js';
// Grafana's own fonts, from packages: or a picture would have those of the machine that draws it.
import '@fontsource/inter/400.css';
import '@fontsource/inter/500.css';
import '@fontsource/inter/600.css';
import '@fontsource/roboto-mono/400.css';

const asked = new URLSearchParams(window.location.search);
const WIDTH = 1600, ROW = 38;
const theme = data.createTheme({ colors: { mode: asked.get('mode') || 'dark' } });
const to = Number(asked.get('to')), from = to - Number(asked.get('seconds'));
const range = { from, to, step: Math.max(2, Math.floor((to - from) / 300)) };
const timeRange = {
  from: data.dateTime(from * 1000), to: data.dateTime(to * 1000),
  raw: { from: data.dateTime(from * 1000), to: data.dateTime(to * 1000) },
};
const same = (text) => text;

// The options of a field that overrides may set; a server would register them from its panels.
const option = (id, process, path = id) => ({
  id, path, name: id, description: id, isCustom: path !== id, process, shouldApply: () => true,
  override: () => null, editor: () => null, settings: {}, getItemsCount: () => 0,
});
data.standardFieldConfigEditorRegistry.setInit(() => [
  option('unit', data.unitOverrideProcessor), option('min', data.numberOverrideProcessor),
  option('max', data.numberOverrideProcessor), option('decimals', data.numberOverrideProcessor),
  option('displayName', data.displayNameOverrideProcessor),
  option('noValue', data.displayNameOverrideProcessor), option('color', same),
  option('thresholds', data.thresholdsOverrideProcessor),
  option('mappings', data.valueMappingsOverrideProcessor), option('links', () => []),
  option('custom.width', data.numberOverrideProcessor, 'width'),
  option('custom.cellOptions', same, 'cellOptions'),
  option('custom.lineStyle', same, 'lineStyle'), option('custom.lineWidth', same, 'lineWidth'),
  option('custom.hideFrom', same, 'hideFrom'),
]);
data.standardTransformersRegistry.setInit(() => {
  const known = Object.values(data.standardTransformers).filter((t) => t?.id && t.operator);
  return [...new Map(known.map((t) => [t.id, t])).values()].map((t) => ({
    id: t.id, name: t.name, transformation: () => Promise.resolve(t), editor: () => null,
  }));
});

const transform = (steps, frames) => new Promise((done, failed) => {
  data.transformDataFrame(steps, frames).subscribe({ next: done, error: failed });
});

async function load(panel, variables) {
  const several = panel.targets.length > 1;
  let frames = (await Promise.all(panel.targets.map((t) => framesOf(
    asked.get('prometheus'), t, several, variables, range)))).flat();
  if (panel.transformations) frames = await transform(panel.transformations, frames);
  frames = data.applyFieldOverrides({
    data: frames, fieldConfig: panel.fieldConfig, replaceVariables: same, theme, timeZone: 'utc',
  });
  const custom = panel.fieldConfig.defaults.custom || {};
  for (const frame of frames) {
    for (const field of frame.fields) {
      field.config = { ...field.config, custom: { ...custom, ...field.config.custom } };
    }
  }
  data.cacheFieldDisplayNames(frames);
  return frames;
}

const shown = (panel, frames) => data.getFieldDisplayValues({
  fieldConfig: panel.fieldConfig, reduceOptions: panel.options.reduceOptions,
  replaceVariables: same, theme, data: frames, timeZone: 'utc', sparkline: panel.type === 'stat',
});

function Stat({ panel, frames, width, height }) {
  const values = shown(panel, frames);
  return <div style={{ display: 'flex' }}>{values.map((value, i) => (
    <ui.BigValue key={i} theme={theme} width={width / values.length} height={height}
      value={value.display} sparkline={value.sparkline} colorMode={panel.options.colorMode}
      graphMode={panel.options.graphMode} textMode={panel.options.textMode} justifyMode="auto" />
  ))}</div>;
}

function Bars({ panel, frames, width, height }) {
  const values = shown(panel, frames);
  const longest = Math.max(1e-9, ...values.map((value) => value.display.numeric));
  const each = Math.min(40, height / values.length - 4);
  return <div>{values.map((value, i) => (
    <div key={i} style={{ marginBottom: 4 }}>
      <ui.BarGauge theme={theme} width={width} height={each} value={value.display} orientation="horizontal"
        field={{ ...value.field, min: 0, max: value.field.max ?? longest }}
        display={value.view?.getFieldDisplayProcessor?.(value.colIndex)}
        displayMode={panel.options.displayMode} />
    </div>))}</div>;
}

const Series = ({ panel, frames, width, height }) => (
  <ui.TimeSeries frames={frames} structureRev={1} timeRange={timeRange} timeZone="utc" width={width}
    height={height} legend={panel.options.legend} replaceVariables={same} tweakScale={same} tweakAxis={same} />
);

const Table = ({ panel, frames, width, height }) => (
  <TableNG data={frames[0]} width={width} height={height} sortBy={panel.options.sortBy}
    cellHeight="sm" noHeader={false} getActions={() => []} timeRange={timeRange} structureRev={1}
    fieldConfig={panel.fieldConfig} />
);

const drawn = { stat: Stat, bargauge: Bars, timeseries: Series, table: Table };

function Panel({ panel, variables }) {
  const [state, setState] = React.useState({ name: panel.targets ? 'loading' : 'done' });
  React.useEffect(() => {
    if (panel.targets) {
      load(panel, variables).then(
        (frames) => setState({ name: frames.some((f) => f.length) ? 'done' : 'no data', frames }),
        (fault) => setState({ name: 'fault', fault: String(fault) }));
    }
  }, []);
  const unit = WIDTH / 24, { x, y, w, h } = panel.gridPos;
  const place = { position: 'absolute', left: x * unit + 4, top: y * ROW + 4 };
  if (panel.type === 'row') {
    return <div style={{ ...place, font: '500 16px Inter', color: theme.colors.text.primary, paddingTop: 10, whiteSpace: 'nowrap' }}>
      ⌄ {panel.title}</div>;
  }
  const body = (width, height) => {
    if (panel.type === 'text') {
      return <div className="markdown-html" style={{ padding: 4 }}
        dangerouslySetInnerHTML={{ __html: data.renderTextPanelMarkdown(panel.options.content) }} />;
    }
    if (state.name === 'fault') return <pre style={{ color: 'red', whiteSpace: 'pre-wrap' }}>{state.fault}</pre>;
    if (state.name === 'no data') return <div style={{ padding: 20, color: '#999' }}>{panel.fieldConfig.defaults.noValue || 'No data'}</div>;
    const Drawn = drawn[panel.type];
    return state.frames ? <Drawn panel={panel} frames={state.frames} width={width} height={height} /> : null;
  };
  return <div style={place} data-panel={panel.title} data-state={panel.targets ? state.name : undefined} data-fault={state.fault}>
    <ui.PanelChrome title={panel.title} description={panel.description} width={Math.floor(w * unit) - 8}
      height={h * ROW - 8} padding={panel.type === 'stat' ? 'none' : 'md'}>{body}</ui.PanelChrome></div>;
}

// The log tells whoever waits outside how every panel came out.
function report() {
  const states = [...document.querySelectorAll('[data-state]')].map((e) => [
    e.dataset.panel, e.dataset.state, e.dataset.fault || '']);
  console.log('STATES ' + JSON.stringify(states));
}

const frame = () => new Promise((done) => requestAnimationFrame(done));

// Once every panel has its answers, some frames more: a graph is drawn after its legend is measured.
async function allDrawn() {
  while (document.querySelector('[data-state=loading]') || !document.querySelector('[data-state]')) await frame();
  await document.fonts.ready;
  for (let i = 0; i < 60; i++) await frame();
}

(async () => {
  // Before anything is measured.
  await Promise.all(['400', '500', '600'].map((weight) => document.fonts.load(`${weight} 14px Inter`)));
  await initPluginTranslations('boards', []);
  const board = await (await fetch(asked.get('board'))).json();
  const variables = allValues(board);
  const height = Math.max(...board.panels.map((p) => p.gridPos.y + p.gridPos.h)) * ROW;
  document.body.style.background = theme.colors.background.canvas;
  const text = { font: '500 18px Inter', color: theme.colors.text.primary, padding: '14px 10px' };
  createRoot(document.getElementById('root')).render(
    <data.ThemeContext.Provider value={theme}>
      <ui.GlobalStyles /><ui.PortalContainer />
      <div style={{ position: 'relative', width: WIDTH, height: height + 60 }}>
        <div style={text}>{board.title} <span style={{ color: theme.colors.text.secondary, fontSize: 13 }}>
          {board.description}</span></div>
        <div style={{ position: 'absolute', top: 50 }}>
          {board.panels.map((p) => <Panel key={p.id} panel={p} variables={variables} />)}</div>
      </div>
    </data.ThemeContext.Provider>);
  await allDrawn();
  report();
  await fetch('drawn');
})();
