// SPDX-License-Identifier: Apache-2.0
// Checks of one page in Chromium. `fault(text)` is called for each fault.
import { readFileSync } from 'node:fs';

// A summary takes the focus; elements in closed details do not.
const FOCUSABLE = ['a[href]', 'input:not([type="hidden"])', 'select', 'button', 'summary', '[tabindex="0"]']
  .map((e) => `${e}:not(details:not([open]) > :not(summary) *)`).join(', ');

export function checksOf(folder, fault) {
  const axe = readFileSync(`${folder}/node_modules/axe-core/axe.min.js`, 'utf8');

  return {
    async runAxe(page) {
      for (const colorScheme of ['light', 'dark']) {
        await page.emulateMedia({ colorScheme });
        await page.evaluate(axe);
        const { violations, passes } = await page.evaluate('axe.run()');
        if (passes.length === 0)
          fault('axe looked at nothing');
        for (const v of violations)
          fault(`axe ${v.id} (${colorScheme}): ${v.help}: ${v.nodes[0].html}`);
      }
    },

    // Returns the height of the page in a window of this width.
    async measureWidth(page, width) {
      await page.setViewportSize({ width, height: 800 });
      const [wide, height] = await page.evaluate(() => [
        document.documentElement.scrollWidth, document.documentElement.scrollHeight]);
      if (wide > width)
        fault(`is ${wide} px wide in a window of ${width}`);
      return height;
    },

    // The Tab key visits all elements that take the focus, in the order of the page, and the focus is
    // visible. Returns the number of elements, at most `most`.
    async tabThrough(page, most = Infinity) {
      const wanted = await page.$$eval(FOCUSABLE, (all) => all.map((e) => e.outerHTML));
      const count = Math.min(wanted.length, most);
      for (let at = 0; at < count; at++) {
        await page.keyboard.press('Tab');
        const [html, outline] = await page.evaluate(() => {
          const style = getComputedStyle(document.activeElement);
          return [document.activeElement.outerHTML, `${style.outlineStyle} ${style.outlineWidth}`];
        });
        if (html !== wanted[at]) {
          fault(`Tab ${at + 1} goes to ${html.slice(0, 200)}, not to ${wanted[at].slice(0, 200)}`);
          return at;
        }
        if (/^none| 0px/.test(outline))
          fault(`one does not see the focus on ${html.slice(0, 200)}: ${outline}`);
      }
      return count;
    },

    // The first element that takes the focus leads to the content.
    async checkSkipLink(page) {
      const leads = await page.evaluate((focusable) => {
        const first = document.querySelector(focusable);
        const target = first?.getAttribute('href')?.startsWith('#') &&
          document.querySelector(first.getAttribute('href'));
        return target ? target.tagName : null;
      }, FOCUSABLE);
      if (leads !== 'MAIN')
        fault(`the first link leads to ${leads}, not to the content`);
    },

    // What scrolls sideways can be scrolled by keys.
    async checkRegions(page) {
      const stuck = await page.evaluate((focusable) => [...document.querySelectorAll('main *')]
        .filter((e) => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0 &&
          /auto|scroll/.test(getComputedStyle(e).overflowX) && !e.matches(focusable))
        .map((e) => e.outerHTML.slice(0, 120)), FOCUSABLE);
      for (const html of stuck)
        fault(`scrolls sideways, but not by keys: ${html}`);
    },

    // Reports messages in the console, dialogs and requests to other sites.
    watch(page, start) {
      page.on('console', (message) => fault(`console: ${message.text()}`));
      page.on('pageerror', (error) => fault(`script: ${error}`));
      page.on('dialog', (dialog) => {
        fault(`a dialog: ${dialog.message()}`);
        dialog.dismiss();
      });
      page.on('request', (request) => {
        if (!request.url().startsWith(start))
          fault(`asks elsewhere: ${request.url()}`);
      });
    },
  };
}
