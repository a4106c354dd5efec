/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"

/* THE table of the formats of lists: the enumerator, its name for `format`, and its media type. */
#define LIST_FORMATS(FORMAT)                                                                       \
    FORMAT(JSON, "json", "application/json")                                                       \
    FORMAT(NDJSON, "ndjson", "application/x-ndjson")                                               \
    FORMAT(CSV, "csv", "text/csv; charset=utf-8; header=present")

#define LIST_FORMAT_ENUMERATOR(id, name, type) LIST_##id,
enum list_format { LIST_FORMATS(LIST_FORMAT_ENUMERATOR) LIST_FORMAT_COUNT };

extern const char *const list_format_types[LIST_FORMAT_COUNT];

/* The format of this name, LIST_FORMAT_COUNT if there is none; JSON for NULL. */
enum list_format list_format_named(const char *name);

/*
 * Where `format` was not given: set it to the one that the client's Accept prefers; JSON where that
 * names none of them.
 */
void list_format_accept(struct MHD_Connection *connection, struct query *query);
