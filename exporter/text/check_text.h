/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/check_result.h"
#include "exporter/text/text_table.h"

/*
 * Appends the result of `check` for people: a summary; files that could not be read; the problems,
 * grouped by problem and reason, with cause and action once and one line for each object; notes on
 * files; and the reason of the exit status, which names objects. Hidden problems are below their
 * cause. Conditions that are no problem are listed only if --fail-on names them, so that every
 * object that fails has its line. `now_ms`, milliseconds since the epoch, determines the ages.
 *
 * With `wide`, one table with all columns replaces the groups.
 */
void check_result_print(const struct check_result *r, const struct fail_on *fail_on, bool wide,
                        int64_t now_ms, struct output *o);
