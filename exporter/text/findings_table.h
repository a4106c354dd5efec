/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/findings.h"
#include "exporter/text/output.h"
#include "metrics/rules/engine.h"

/* Print the findings as sections of tables, for people. */
void findings_print(const struct engine *engine, const struct findings *f, struct output *o);

/* Print "Title (2)" as the heading of a section. */
void section_print(struct output *o, const char *title, size_t count);
