/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/watch.h"

/* Queries of URLs. */

/* Append "key=value", after "&" unless it is the first; the value as a URL wants it. */
void query_add(struct strbuf *out, const char *key, const char *value);

/* Append the query of the request that a watch orders to be opened. */
void watch_query(const struct watch *w, struct strbuf *out);
