/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/* Writing HTML from texts that others chose. */

/* Append a text so that it is shown as it is, inside an element or a quoted attribute. What HTML
 * has no place for, control characters and broken UTF-8, becomes U+FFFD. */
void html_text(struct strbuf *out, const char *text);

/* printf whose every result is such a text. For values, not for markup. */
void html_textf(struct strbuf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * A time in milliseconds since the epoch. With `now_ms`, also how long ago that was, in its largest
 * unit: "2026-01-31T23:59:59Z (3 d ago)"; 0: without.
 */
void html_time(struct strbuf *out, int64_t time_ms, int64_t now_ms);

/* Append since when something is so, behind what is said of it; `seen`: since when that is seen. */
void html_since(struct strbuf *out, int64_t time_ms, bool seen, int64_t now_ms);

/* Open a section with this id, heading and number of things; "</section>" ends it. */
void html_section(struct strbuf *out, const char *id, const char *title, size_t count);

/* Open a table with this label and headings, which end with NULL; html_table_end() ends it. */
void html_table(struct strbuf *out, const char *label, const char *const *heads);
void html_table_end(struct strbuf *out);

/* Of each class of things so many are shown: the pages are for a look, not for a search. */
enum { HTML_SHOWN_MAX = 100 };
/* Say how many more there are than are shown, if there are. */
void html_more(struct strbuf *out, size_t count);
