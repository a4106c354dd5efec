/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/families.h"

/* The table of families as a list for documentation and for programs that check names. */

/* "gauge", "counter" or "histogram". */
const char *family_type_name(enum family_type type);

/* Each family as a row of a Markdown table, in the order of the table. */
void catalogue_markdown(struct strbuf *out);

/* The same as a JSON array of {name, type, unit, help, labels, stability, bound, detail, optIn}. */
void catalogue_json(struct strbuf *out);
