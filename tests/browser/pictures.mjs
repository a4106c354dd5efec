// SPDX-License-Identifier: Apache-2.0
// pictures.mjs FOLDER HIGHEST JSON...: a picture of each page, {"url", "file", "width", "scheme"}, of its
// whole height, but at most HIGHEST pixels.
import { launch } from './chromium.mjs';

const [folder, highest, ...pictures] = process.argv.slice(2);
const browser = await launch(folder);
const page = await browser.newPage();

for (const each of pictures) {
  const { url, file, width, scheme } = JSON.parse(each);
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 800 });
  const response = await page.goto(url);
  if (response.status() !== 200)
    throw new Error(`${url}: status ${response.status()}`);
  const height = Math.min(Number(highest), await page.evaluate(() => document.documentElement.scrollHeight));
  await page.screenshot({ path: file, clip: { x: 0, y: 0, width, height }, fullPage: true });
}
await browser.close();
console.log('null');
