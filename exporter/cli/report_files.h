/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/text/findings_format.h"

/* Files of --report FORMAT=FILE: one evaluation writes findings in several formats. */

/* Returns false if a value is not FORMAT=FILE with a format of findings, or names a file again. */
bool report_files_check(const struct text_list *reports, struct error *err) MUST_USE;

/*
 * Writes the findings to all files, after report_files_check(). Returns false and sets `err` to the
 * first file that cannot be written; the others are written.
 */
bool report_files_write(const struct text_list *reports, const struct findings *f,
                        const struct findings_end *end, struct error *err) MUST_USE;
