/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/output.h"
#include "exporter/findings.h"

/* The findings in the rules' conclusions as sections of tables, for people. */
void findings_print(const struct engine *engine, const struct findings *f, struct output *o);

/* "2 things" in the style of a section's heading. */
void section_print(struct output *o, const char *title, size_t count);
