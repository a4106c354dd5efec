/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/watch.h"

/* The query part of request URLs. */

/* Append "key=value", after "&" unless it is the first, with the value escaped. */
void query_add(struct strbuf *out, const char *key, const char *value);

/* Append the query of the request that a watch orders to be opened. */
void watch_query(const struct watch *w, struct strbuf *out);
