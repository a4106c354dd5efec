/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/* Append "&name=value" with this separator; of the value whatever a query may not have is escaped.
 */
void url_add(struct strbuf *out, char separator, const char *name, const char *value);
