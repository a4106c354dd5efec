/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/exposition.h"
#include "tests/unit/world.h"

/* Returns a registry that observes the engine of the world. Free it before the world. */
struct registry *page_registry(struct world *w, const struct registry_options *options);

/* Returns the metrics page in the text format, with synced sources. The caller frees it. */
char *page_of(struct registry *r);

/* Returns the sum, an integer, of the samples of a family on lines that contain `part`. */
int64_t page_sum(const char *page, const char *family, const char *part);

/* Fails unless the page has the line `<series> <value>`. */
void page_has(const char *page, const char *series, const char *value);

/* Fails if a line of the page begins with `start`. */
void page_lacks(const char *page, const char *start);

/*
 * Removes the series with history, and the counts of dropped ones. Only these lines may differ from
 * those of a fresh engine; other tests check them.
 */
void page_drop_history(char *page);

/* Removes the history from a JSON report: versions of policies, and authors of changes. */
void report_drop_history(struct strbuf *report);
