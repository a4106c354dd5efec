/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/* All families (families.h) as a list for documentation and for programs that check names. */

/* Each family as a row of a Markdown table, in the order of the page. */
void catalogue_markdown(struct strbuf *out);

/* The same as a JSON array of {name, type, unit, help, labels, stability, bound, detail, optIn}. */
void catalogue_json(struct strbuf *out);
