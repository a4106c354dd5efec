// SPDX-License-Identifier: Apache-2.0
// A target's answer from a Prometheus, as frames for Grafana's panels.
import { FieldType, toDataFrame } from '@grafana/data';

// Grafana draws a gap where there is no number.
const number = (text) => (text === 'NaN' ? null : Number(text));

// The stories go on for minutes: so does the time since their last review.
const REVIEW = '3m';

// Every variable at All.
export const allValues = (board) => Object.fromEntries(board.templating.list.map((v) => [
  v.name, v.name === 'review' ? REVIEW : v.allValue || v.current.value]));

export function fill(expr, variables, range) {
  return expr
    .replace(/\$\{?__rate_interval\}?/g, '1m')
    .replace(/\$\{?__range\}?/g, `${range.to - range.from}s`)
    .replace(/\$\{?(\w+)\}?/g, (whole, name) => variables[name] ?? whole);
}

const legend = (target, labels) => (target.legendFormat === '__auto'
  ? labels.__name__ || 'Value'
  : target.legendFormat.replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => labels[label] ?? ''));

async function ask(prometheus, path, parameters) {
  const answer = await fetch(`${prometheus}/api/v1/${path}?${new URLSearchParams(parameters)}`);
  const said = await answer.json();
  if (said.status !== 'success') throw new Error(said.error);
  return said.data.result;
}

// One table of all rows, the columns being the labels, as Grafana's data source makes it.
function table(target, rows, ofSeveral) {
  const labels = [...new Set(rows.flatMap((row) => Object.keys(row.metric)))];
  return [toDataFrame({
    refId: target.refId,
    fields: [
      { name: 'Time', type: FieldType.time, values: rows.map((row) => row.value[0] * 1000) },
      ...labels.map((label) => ({
        name: label, type: FieldType.string, values: rows.map((row) => row.metric[label] ?? ''),
      })),
      {
        name: ofSeveral ? `Value #${target.refId}` : 'Value',
        type: FieldType.number,
        values: rows.map((row) => number(row.value[1])),
      },
    ],
  })];
}

const series = (target, rows, range) => rows.map((row) => {
  const values = row.values || [row.value];
  const name = legend(target, row.metric);
  return toDataFrame({
    refId: target.refId,
    name,
    fields: [
      {
        name: 'Time', type: FieldType.time, config: { interval: range.step * 1000 },
        values: values.map((v) => v[0] * 1000),
      },
      {
        name: 'Value', type: FieldType.number, labels: row.metric,
        config: { displayNameFromDS: name }, values: values.map((v) => number(v[1])),
      },
    ],
  });
});

export async function framesOf(prometheus, target, ofSeveral, variables, range) {
  const query = fill(target.expr, variables, range);
  if (target.instant) {
    const rows = await ask(prometheus, 'query', { query, time: range.to });
    return target.format === 'table' ? table(target, rows, ofSeveral) : series(target, rows, range);
  }
  return series(target, await ask(prometheus, 'query_range', {
    query, start: range.from, end: range.to, step: range.step,
  }), range);
}
