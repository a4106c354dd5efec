/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/text/findings_format.h"

/* Files of --report FORMAT=FILE: one evaluation writes findings in several formats. */

/*
 * Returns false if a value of --report is not FORMAT=FILE with a format of findings, if two values
 * have one file, or beside --server.
 */
bool report_files_check(const struct options *o, struct error *err) MUST_USE;

/*
 * Writes the findings to all files, after report_files_check(). Returns false and sets `err` to the
 * first file that cannot be written; the others are written.
 */
bool report_files_write(const struct text_list *reports, const struct findings *f,
                        const struct findings_end *end, struct error *err) MUST_USE;
