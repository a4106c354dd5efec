/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/* Writing HTML from texts that others chose. */

/* Append a text so that it is shown as it is, inside an element or a quoted attribute. What HTML
 * has no place for, control characters and broken UTF-8, becomes U+FFFD. */
void html_text(struct strbuf *out, const char *text);

/* printf whose every result is such a text. For values, not for markup. */
void html_textf(struct strbuf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);
