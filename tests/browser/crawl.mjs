// SPDX-License-Identifier: Apache-2.0
// crawl.mjs FOLDER URL: follow every link of a site in Chromium, look at each page as people do, and
// print a JSON object of what was seen and of what is wrong. FOLDER has the npm packages.
import { createRequire } from 'node:module';
import { launch } from './chromium.mjs';
import { checksOf } from './page_checks.mjs';

const [folder, start] = process.argv.slice(2);
const require = createRequire(`${folder}/`);
const { HtmlValidate } = require('html-validate');

// Of pages with the same path so many are looked at in every way; of the others, all but these.
const FULL_PER_PATH = 3;
const PAGES_MAX = 400;
const WIDTHS = [360, 1600];

const validator = new HtmlValidate({
  extends: ['html-validate:standard'],
  rules: {
    // Its names are those of objects, which are as long as they are.
    'long-title': 'off',
    // It is the same server's.
    'require-sri': 'off',
    // A region that can be moved by keys needs both of these on a div.
    'prefer-native-element': ['error', { exclude: ['region'] }],
  },
});

const faults = [];
const seen = { pages: 0, full: 0, others: 0, focused: 0, paths: {} };
let where = '';
const fault = (text) => faults.push(`${where}: ${text}`);
const checks = checksOf(folder, fault);

async function follow(page, address) {
  const response = await page.goto(address, { waitUntil: 'load' });
  const headers = response.headers();
  if (response.status() !== 200)
    fault(`status ${response.status()}`);
  const policy = headers['content-security-policy'] ?? '';
  if (!policy.includes("default-src 'none'") || /unsafe|\*|https?:/.test(policy))
    fault(`Content-Security-Policy is "${policy}"`);
  const report = await validator.validateString(await response.text());
  for (const result of report.results) {
    for (const m of result.messages)
      fault(`HTML ${m.line}:${m.column} ${m.ruleId}: ${m.message}`);
  }
  return page.$$eval('a[href]', (all) => all.map((a) => a.href));
}

async function visit(context, page, address) {
  const url = new URL(address);
  const answer = await context.request.get(address);
  where = decodeURIComponent(url.pathname + url.search);
  if (!(answer.headers()['content-type'] ?? '').startsWith('text/html')) {
    seen.others++;
    if (answer.status() !== 200)
      fault(`status ${answer.status()}`);
    return [];
  }
  const path = url.pathname.slice(new URL(start).pathname.length);
  seen.paths[path] = (seen.paths[path] ?? 0) + 1;
  seen.pages++;
  await page.setViewportSize({ width: 1600, height: 800 });
  const links = await follow(page, address);
  if (seen.paths[path] <= FULL_PER_PATH) {
    seen.focused += await checks.tabThrough(page);
    await checks.runAxe(page);
    for (const width of WIDTHS)
      await checks.measureWidth(page, width);
    seen.full++;
  }
  return links;
}

const browser = await launch(folder);
const context = await browser.newContext();
const page = await context.newPage();
checks.watch(page, start);
// Filters, orders and formats of lists can be combined without end: of these, one at a time. Pages
// of one object have its `name`.
const isCombined = (link) => {
  const { searchParams } = new URL(link);
  return !searchParams.has('name') && searchParams.size > 1;
};
const known = new Set([start]);
for (const address of known) {
  for (const link of await visit(context, page, address)) {
    const to = link.split('#')[0];
    if (!to.startsWith(start))
      fault(`leads elsewhere: ${link}`);
    else if (!isCombined(to))
      known.add(to);
  }
  if (seen.pages + seen.others >= PAGES_MAX) {
    fault(`there are more than ${PAGES_MAX} pages`);
    break;
  }
}
await browser.close();
console.log(JSON.stringify({ seen, faults }));
