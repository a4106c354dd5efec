/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * JSON text that keeps the spelling of its plain values when it is changed and written again, as
 * Go's json.RawMessage does.
 */

/*
 * Parses a JSON text strictly (RFC 8259). Plain values other than null are nodes of the type
 * cJSON_Raw with their text. Returns the tree, owned by the caller; NULL with the reason if the
 * text is invalid or deeper than JSON_DEPTH_MAX.
 */
cJSON *json_verbatim_parse(const char *text, struct error *err) MUST_USE;

/*
 * Returns the tree as a text without white space, owned by the caller. As in Go, <, > and & are
 * escaped, and the line separators U+2028 and U+2029.
 */
char *json_verbatim_write(const cJSON *tree) MUST_USE;
