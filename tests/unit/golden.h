/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/unit/world.h"

/*
 * Golden files: tests/fixtures/golden/<name> holds objects, or what the program makes of them.
 * `make golden` runs the tests with GOLDEN=write, which rewrites the latter; what changed is then
 * read in `git diff`.
 */

/* Fail unless the file is exactly `text`, and print what differs. With GOLDEN=write, write it. */
void golden_check(const char *name, const char *text);

/* Put the array of objects in the file into the world. */
void golden_load(struct world *w, const char *name);
