/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/watch.h"

/* The query part of request URLs. */

/* Append the query of the request that a watch orders to be opened. */
void watch_query(const struct watch *w, struct strbuf *out);

/* The same after "?", with a field selector unless that is NULL. */
void query_watch(struct strbuf *out, const struct watch *w, const char *field_selector);

/* Append the path of a resource, in a namespace or ("") in all or none. */
void query_path(struct strbuf *out, const char *api_version, const char *ns, const char *resource);

/* The Accept header for a list, or for an object or a stream: of metadata where the server can. */
const char *query_accept(bool metadata_only, bool list);
