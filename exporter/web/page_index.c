/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/page_index.h"

#define PAGE_ROW(id, handler, path, content_type, write) {handler, content_type, write},

const struct page_def page_defs[PAGE_COUNT] = {PAGES(PAGE_ROW)};

/* ---- the style sheet: light or dark as in the browser; for small screens as well ---- */

static const char style[] =
    ":root { color-scheme: light dark; --text: #1d2733; --faint: #57636f; --page: #f6f7f9;\n"
    "  --card: #ffffff; --line: #d5dbe1; --link: #0b5cad; --bad: #b3261e; --good: #1a6b3c; }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --text: #e4e8ec; --faint: #9aa7b4; --page: #12171c; --card: #1b2229;\n"
    "    --line: #37424d; --link: #7ab8f5; --bad: #ff8a80; --good: #7fd6a2; } }\n"
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; background: var(--page); color: var(--text); overflow-wrap: anywhere;\n"
    "  font: 16px/1.5 system-ui, sans-serif; }\n"
    "main, header, footer { max-width: 88rem; margin: 0 auto; padding: 0 1rem; }\n"
    "header { padding-top: .75rem; border-bottom: 1px solid var(--line); }\n"
    "h1 { font-size: 1.5rem; line-height: 1.3; margin: 1.25rem 0 .75rem; }\n"
    "h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; scroll-margin-top: .5rem; }\n"
    "h3 { font-size: 1rem; margin: 0; }\n"
    "p { margin: .5rem 0; }\n"
    "a { color: var(--link); }\n"
    "a:focus-visible, input:focus-visible, select:focus-visible, button:focus-visible,\n"
    "  [tabindex]:focus-visible { outline: 3px solid var(--link); outline-offset: 2px; }\n"
    ".skip { position: absolute; left: -100rem; }\n"
    ".skip:focus { left: 1rem; top: .25rem; background: var(--page); }\n"
    ".name { margin: 0; color: var(--faint); }\n"
    "nav { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }\n"
    "nav a { padding: .5rem 0; }\n"
    "nav a[aria-current] { color: var(--text); font-weight: bold; text-decoration: none; }\n"
    ".faint { color: var(--faint); font-weight: normal; }\n"
    ".bad { color: var(--bad); }\n"
    ".good { color: var(--good); }\n"
    ".tiles, .cards { display: grid; gap: .5rem; padding: 0; margin: .5rem 0; list-style: none; }\n"
    ".tiles { grid-template-columns: repeat(auto-fill, minmax(9rem, 1fr)); }\n"
    ".tiles a, .cards > li { display: block; height: 100%; background: var(--card);\n"
    "  border: 1px solid var(--line); border-radius: .4rem; padding: .5rem .75rem; }\n"
    ".tiles a { text-decoration: none; }\n"
    ".tiles b { display: block; font-size: 1.5rem; line-height: 1.2; }\n"
    ".cards p, .cards ul { margin: .25rem 0 0; }\n"
    ".cards ul { padding-left: 1.2rem; }\n"
    ".sides { display: grid; gap: 0 1.5rem;\n"
    "  grid-template-columns: repeat(auto-fit, minmax(min(18rem, 100%), 1fr)); }\n"
    ".facts { display: grid; grid-template-columns: minmax(6rem, max-content) 1fr;\n"
    "  gap: .25rem 1.25rem; margin: .5rem 0; }\n"
    ".facts dt { color: var(--faint); }\n"
    ".facts dd { margin: 0; }\n"
    ".told p { margin: .2rem 0; }\n"
    ".detail { padding-left: 1.5rem; color: var(--faint); }\n"
    "pre { overflow-x: auto; margin: .5rem 0; padding: .5rem .75rem; background: var(--card);\n"
    "  border: 1px solid var(--line); border-radius: .4rem; overflow-wrap: normal; }\n"
    ".wide { overflow-x: auto; }\n"
    "table { border-collapse: collapse; width: 100%; background: var(--card);\n"
    "  overflow-wrap: normal; }\n"
    "th, td { text-align: left; vertical-align: top; padding: .35rem .75rem;\n"
    "  border: 1px solid var(--line); }\n"
    "th { color: var(--faint); font-weight: 600; }\n"
    "td:first-child { min-width: 12rem; overflow-wrap: anywhere; }\n"
    ".problems td:first-child { min-width: 5rem; }\n"
    ".problems .subject { min-width: 10rem; overflow-wrap: anywhere; }\n"
    ".problems .sentence { min-width: 12.5rem; overflow-wrap: anywhere; }\n"
    "time, th { white-space: nowrap; }\n"
    ".ways a { margin-right: 1.25rem; }\n"
    ".number { text-align: right; }\n"
    "form { display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: end; margin: .5rem 0; }\n"
    "label { display: block; color: var(--faint); font-size: .875rem; }\n"
    "input, select, button { font: inherit; padding: .25rem .5rem; color: var(--text);\n"
    "  background: var(--card); border: 1px solid var(--faint); border-radius: .3rem;\n"
    "  max-width: 100%; min-height: 2.2rem; }\n"
    "footer { padding: 1rem; margin-top: 2rem; color: var(--faint); }\n";

void style_page_write(const struct health *h, struct strbuf *out)
{
    (void)h;
    strbuf_adds(out, style);
}
