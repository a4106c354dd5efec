// SPDX-License-Identifier: Apache-2.0
// schema.mjs FOLDER BOARD...: hold boards against the JSON Schema made of Grafana's own types;
// FOLDER holds the npm packages. A line for each fault.
import { execFileSync } from 'node:child_process';
import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const [folder, ...files] = process.argv.slice(2);
const load = createRequire(`${folder}/package.json`);
const Ajv = load('ajv').default;
const types = `${folder}/node_modules/@grafana/schema/dist/types/raw/dashboard/x/types.gen.d.ts`;
const schema = JSON.parse(execFileSync(`${folder}/node_modules/.bin/ts-json-schema-generator`, [
  '--path', types, '--type', 'Dashboard', '--no-type-check'], { maxBuffer: 1 << 26 }));

const ajv = new Ajv({ strict: false, allErrors: true });
ajv.addSchema(schema, 'grafana');
const against = (name) => ajv.compile({ $ref: `grafana#/definitions/${name}` });
const board = against('Dashboard'), panel = against('Panel'), row = against('RowPanel');
const annotations = JSON.parse(process.env.ANNOTATION_FIELDS);

let faults = 0;
const tell = (where, errors) => {
  for (const e of errors ?? []) {
    // The base type of annotations does not know what a Prometheus asks.
    const extra = e.params?.additionalProperty;
    if (e.instancePath.startsWith('/annotations/list/') && annotations.includes(extra)) continue;
    console.log(`${where}${e.instancePath}: ${e.message} ${JSON.stringify(e.params)}`);
    faults++;
  }
};
for (const file of files) {
  // A panel is one of several types: held against its own, or the faults of all would show.
  const { panels, ...rest } = JSON.parse(readFileSync(file));
  if (!board(rest)) tell(file, board.errors);
  for (const p of panels) {
    const check = p.type === 'row' ? row : panel;
    if (!check(p)) tell(`${file} '${p.title}'`, check.errors);
  }
}
console.log(`${files.length} boards, ${faults} faults`);
process.exit(faults ? 1 : 0);
