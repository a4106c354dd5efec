// SPDX-License-Identifier: Apache-2.0
// first_screen.mjs FOLDER START ADDRESS...: check these pages of the site START in Chromium, and print a
// JSON object by address: bytes of HTML, height by width, and faults by check.
import { launch } from './chromium.mjs';
import { checksOf } from './page_checks.mjs';

const WIDTHS = [1400, 360];
const TABS_MAX = 150;
const [folder, start, ...addresses] = process.argv.slice(2);
const browser = await launch(folder);
const page = await browser.newPage();
const found = {};
let now;
const checks = checksOf(folder, (text) => now.list.push(text));
checks.watch(page, start);

// Faults of a check, and of the console meanwhile.
async function run(name, check) {
  const { faults } = found[now.address];
  now.list = faults[name] ??= [];
  const result = await check();
  for (const text of now.list.filter((one) => /^(console|script|a dialog|asks)/.test(one)))
    (faults.console ??= []).push(text);
  return result;
}

for (const address of addresses) {
  now = { address, list: [] };
  found[address] = { heights: {}, faults: { console: [] } };
  await page.setViewportSize({ width: WIDTHS[0], height: 900 });
  const response = await run('console', () => page.goto(address, { waitUntil: 'load' }));
  found[address].status = response.status();
  found[address].bytes = (await response.body()).length;
  await run('keyboard', async () => {
    await checks.checkSkipLink(page);
    await checks.tabThrough(page, TABS_MAX);
  });
  for (const width of WIDTHS) {
    found[address].heights[width] = await run('width', () => checks.measureWidth(page, width));
    await run('keyboard', () => checks.checkRegions(page));
  }
  await page.setViewportSize({ width: WIDTHS[0], height: 900 });
  await run('axe', () => checks.runAxe(page));
}
await browser.close();
console.log(JSON.stringify(found));
