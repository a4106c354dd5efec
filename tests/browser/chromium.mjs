// SPDX-License-Identifier: Apache-2.0
import { createRequire } from 'node:module';

// Debian's Chromium, by playwright-core out of the folder with npm's packages.
export function launch(folder) {
  const { chromium } = createRequire(`${folder}/`)('playwright-core');
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    // Its sandbox does not work for root, as which tests run in containers.
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
  });
}
