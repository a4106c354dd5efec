/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/output.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/findings.h"

/*
 * Print the findings as sections of tables, for people. `fail_on` has the bits of the classes that
 * fail: each of their objects is in a section, also those of classes that are else only counted.
 */
void findings_print(const struct engine *engine, const struct findings *f, unsigned fail_on,
                    struct output *o);

/* Returns the sum of the numbers in the headings that findings_print() prints for no class. */
size_t findings_listed(const struct findings *f);

/* Print "Title (2)" as the heading of a section. */
void section_print(struct output *o, const char *title, size_t count);
