/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/request_queue.h"
#include "metrics/expose/list_table.h"

/* Filter and order of a list (list_table.h), from the query of a request. */

struct list_query {
    struct list_filter filter; /* Borrows texts of the request and of `where`. */
    struct list_order order;
    char *where; /* Copy of the parameter `where`, in parts. Owned. */
};

/*
 * Reads the filter and the order from the parameters that are columns of the list, `where` and
 * `sort`. Returns false with an error response if a value is not valid. The caller releases the
 * query even then. `now_ms` is the present for ages, in milliseconds since the epoch.
 */
bool list_query_from_request(struct queued_request *request, const struct list *list,
                             int64_t now_ms, struct list_query *out) MUST_USE;
void list_query_release(struct list_query *q);

/*
 * Sets `index` to the index of `value` in `names`; leaves `index` as it is if `value` is NULL.
 * Returns false if there is no such name, with an error that `lacks` begins: "there is no state".
 */
bool find_word(const char *lacks, const char *value, const char *const *names, size_t count,
               int *index, struct error *err) MUST_USE;
/* Like find_word(), with the name of the parameter for the error. */
bool parse_word(const char *what, const char *value, const char *const *names, size_t count,
                int *index, struct error *err) MUST_USE;

/* Returns the column that a parameter filters by; NULL without one. */
const struct list_column *list_filter_column(const struct list *list, enum parameter parameter);
/* Returns the parameter that filters by a column; PARAMETER_COUNT without one. */
enum parameter list_column_parameter(const struct list_column *column);
