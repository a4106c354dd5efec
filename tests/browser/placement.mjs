// SPDX-License-Identifier: Apache-2.0
// placement.mjs FOLDER ADDRESS: print, by width of the screen, the lower edge in pixels of the verdict of each member
// cluster on the page of a template.
import { launch } from './chromium.mjs';

const SCREENS = { 1400: 900, 360: 800 };
const [folder, address] = process.argv.slice(2);
const browser = await launch(folder);
const page = await browser.newPage();
const edges = {};

for (const [width, height] of Object.entries(SCREENS)) {
  await page.setViewportSize({ width: Number(width), height });
  await page.goto(address, { waitUntil: 'load' });
  edges[width] = await page.evaluate(() => Object.fromEntries(
    [...document.querySelectorAll('#placement ~ dl.facts:first-of-type dt')].map((name) => [
      name.textContent, Math.round(name.nextElementSibling.getBoundingClientRect().bottom)])));
}
await browser.close();
console.log(JSON.stringify(edges));
