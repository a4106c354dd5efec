/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * CSV (RFC 4180) for spreadsheets; each row is made from a JSON object. A column is the path of a
 * member, such as "policy.name". If a spreadsheet could evaluate a text as a formula, the cell
 * begins with "'".
 */

/* Appends the paths of the columns as the first line; `columns` ends with NULL. */
void csv_add_headings(struct strbuf *out, const char *const *columns);

/*
 * Appends the line of a row. Cells are empty for null and missing members. Elements of a list of
 * strings are joined by "; " up to 1 MiB, later ones are left out; other lists and objects are JSON
 * text. Returns false and appends nothing if `json` is not an object.
 */
bool csv_add_row(struct strbuf *out, const char *const *columns, const char *json,
                 size_t len) MUST_USE;
