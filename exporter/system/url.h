/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/* Append "key=value" to a query, after "&" unless it is the first, with the value escaped. */
void url_add(struct strbuf *out, const char *key, const char *value);

/* Append "/" and a text as a segment of a path. */
void url_segment(struct strbuf *out, const char *text);
