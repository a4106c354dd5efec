/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/* Numbers as scrapers and people read them: whole ones in full, never as 1e+06. */

void number_add_int(struct strbuf *out, int64_t value);

/* As few digits as read back to the same double; NaN, +Inf and -Inf by those names. */
void number_add_double(struct strbuf *out, double value);

/* Milliseconds as seconds, exactly: 1500 is "1.5". */
void number_add_seconds(struct strbuf *out, int64_t ms);
