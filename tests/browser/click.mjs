// SPDX-License-Identifier: Apache-2.0
// click.mjs FOLDER LINK...: click each link on a page as a notification shows it, and print what one
// sees then: the address, the heading, the text from the link's section on, and the first object's
// page behind it.
import { launch } from './chromium.mjs';

const [folder, ...links] = process.argv.slice(2);
const browser = await launch(folder);
const page = await browser.newPage();
const seen = [];

// Once the page has moved there.
async function onScreen(id) {
  const inside = (wanted) => {
    const { top, bottom } = document.getElementById(wanted).getBoundingClientRect();
    return top >= 0 && bottom <= innerHeight;
  };
  return page.waitForFunction(inside, id, { timeout: 5000 }).then(() => true, () => false);
}

for (const link of links) {
  await page.goto('about:blank');
  await page.setContent('<a>the alert</a>');
  await page.$eval('a', (a, to) => { a.href = to; }, link);
  await page.click('a');
  await page.waitForLoadState('load');
  const id = new URL(page.url()).hash.slice(1);
  const target = page.locator(id ? `section:has(#${id})` : 'main');
  const found = await target.count();
  seen.push({
    url: page.url(),
    heading: await page.locator('h1').textContent(),
    text: found ? await target.first().innerText() : '',
    // Starts of problems are ages on the page; the exact time is an attribute.
    times: found ? await target.first().locator('time').evaluateAll((all) => all.map((t) => t.dateTime)) : [],
    // Is the section that it leads to on the screen?
    shown: !id || await onScreen(id),
  });
}
await browser.close();
console.log(JSON.stringify(seen));
