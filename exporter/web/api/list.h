/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api/api.h"
#include "exporter/web/api/paging.h"

/*
 * Writes lists of the API in the format that the client wants: a JSON object with "items" and,
 * where more follows, "metadata.continue"; newline-delimited JSON; or CSV. The last two have the
 * next page in the header Link.
 */

/* What a list is of. */
struct list_def {
    const char *kind;           /* "TemplateList" */
    const char *const *columns; /* Of CSV (metrics/expose/cells.h). */
};

/* Answer with rows of the call's view that the filter lets through. */
void list_rows(struct call *call, const struct list_def *def, const struct row_filter *filter);

/* Answer with the call's lines. */
void list_lines(struct call *call, const struct list_def *def);
