/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/*
 * Golden files tests/fixtures/golden/<name> contain objects or expected output. `make golden` runs
 * the tests with GOLDEN=write, which rewrites the expected output: review it with `git diff`.
 */

/*
 * Fails and prints the differences unless the file equals `text`. With GOLDEN=write, writes `text`
 * to the file instead.
 */
void golden_check(const char *name, const char *text);
/* The same with a path from the root of the repository, for a file outside of that folder. */
void golden_check_path(const char *path, const char *text);

/* Puts the objects of the file, a JSON array, into the world. */
void golden_load(struct world *w, const char *name);
