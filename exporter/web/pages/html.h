/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/* Writing HTML from texts that others chose. */

/* Append a text so that it is shown as it is, inside an element or a quoted attribute. What HTML
 * has no place for, control characters and broken UTF-8, becomes U+FFFD. */
void html_text(struct strbuf *out, const char *text);

/* printf whose every result is such a text. For values, not for markup. */
void html_textf(struct strbuf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Of each class of things so many are shown: the pages are for a look, not for a search. */
enum { HTML_SHOWN_MAX = 100 };
/* Say how many more there are than are shown, if there are. */
void html_more(struct strbuf *out, size_t count);
