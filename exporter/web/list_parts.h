/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/cards.h"
#include "exporter/web/list.h"
#include "metrics/expose/report.h"

/* What the pages of lists have in common. They have 100 elements each, unless more are asked for.
 */

/* Of a list without elements. */
#define LIST_NONE "<p>There is none.</p>\n"

/* The form that chooses whom the list has, filled in as the call has it. */
void list_form(struct call *call);

/*
 * Where to go on: to the next page (`token` is what its `continue` is; NULL: this is the last one),
 * to the first one, and to the same list for programs, if the API has it at `api`.
 */
void list_foot(struct call *call, const char *token, const char *api);

/* Of a side of a conflict in a list so many parties are shown. */
enum { LIST_PARTIES_MAX = 20 };

/* The elements of a list of the report, each as HTML that `write` appends. */
struct list_elements {
    enum report_list list;
    const struct health *health; /* Its evaluation is needed for the first page alone. */
    card_fn *write;
};

/*
 * Append those that the call asks for, as far as they are on its page; how many these are. What
 * `continue` of the next page is, NULL for the last one, goes to `token`. A list that is too large
 * is refused, and the call is answered: then it is false.
 */
bool list_elements(struct call *call, const struct list_elements *e, size_t *count,
                   const char **token) MUST_USE;
