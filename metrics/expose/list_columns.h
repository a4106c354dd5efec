/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Rows that are JSON objects, as CSV (RFC 4180) for spreadsheets: a column is the path of a member,
 * "policy.name". A text that a spreadsheet would take for a formula gets a "'" before it.
 */

/* Append the line of headings; the columns end with NULL. */
void csv_head(struct strbuf *out, const char *const *columns);

/*
 * Append the line of a row. Null and what is missing is empty; a list of texts is joined by "; ",
 * any other list, and an object, is its JSON. False if it is no JSON object.
 */
bool csv_row(struct strbuf *out, const char *const *columns, const char *json, size_t len) MUST_USE;
