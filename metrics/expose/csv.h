/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * CSV (RFC 4180) for spreadsheets from rows that are JSON objects. A column is the path of a
 * member, such as "policy.name". A text that a spreadsheet may evaluate as a formula begins with
 * "'".
 */

/* Appends the line of headings; `columns` ends with NULL. */
void csv_add_headings(struct strbuf *out, const char *const *columns);

/*
 * Appends the line of a row. Null and missing members are empty, lists of strings are joined by
 * "; ", and other lists and objects are JSON. Returns false if `json` is not an object.
 */
bool csv_add_row(struct strbuf *out, const char *const *columns, const char *json,
                 size_t len) MUST_USE;
