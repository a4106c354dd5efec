/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Label values come from names that users chose, and one that a scraper refuses
 * would cost it the whole page.
 */

/* How long a value may become, in bytes before escaping. */
enum { LABEL_VALUE_MAX = 1024 };

/*
 * Append `value`, NULL as "", as it stands between the quotes of a label: what is
 * not UTF-8 and what is a control character as U+FFFD, the backslash and the quote
 * escaped. A longer one is cut on a character and ends in "..." and the hash of the
 * whole, so that two of them rarely become one.
 */
void label_text_add(struct strbuf *out, const char *value);
