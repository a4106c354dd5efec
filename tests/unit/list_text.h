/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/expose/list_table.h"
#include "tests/unit/world.h"

/* Runs the engine of `w` until its problems are known; conditions become problems at once. */
void list_world_run(struct world *w, int64_t now_ms);

/* Returns all rows of a list as JSON objects, one per line. The caller frees it. */
char *list_rows(const struct world *w, const struct list *list);

/* Fails if `text` does not contain `part`. */
void check_has(const char *text, const char *part);
