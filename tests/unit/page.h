/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/exposition.h"
#include "tests/unit/world.h"

/* Series that follow a world's engine from now on. Free them before the world. */
struct registry *page_registry(struct world *w, const struct registry_options *options);

/* The page in the text format, of synced sources. The caller frees it. */
char *page_of(struct registry *r);

/* The sum of all samples of a family whose labels contain `part`; whole numbers. */
int64_t page_sum(const char *page, const char *family, const char *part);

/* Fail unless the page has the line `<series> <value>`. */
void page_has(const char *page, const char *series, const char *value);

/* Fail if the page has a line that begins so. */
void page_lacks(const char *page, const char *start);

/*
 * Drop the series that say what has happened, not what is: the only ones that may differ from those
 * of a fresh engine. They have tests of their own.
 */
void page_drop_history(char *page);

/* The same of a JSON report: which versions of policies there were, and who made a change that left
 * no time, is history. */
void report_drop_history(struct strbuf *report);
