/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"

/* What the program is for, in one sentence. */
extern const char help_about[];

/* Print what --help prints about one verb; NULL: about all. */
enum exit_status help_answer(struct command *command, const struct verb *verb);

/* What --help, the manual page and the reference of options say of a row of the table. */

/* Append its help, with the words of a set and whether it may be repeated; maybe the default. */
void option_describe(struct strbuf *out, const struct option_def *def, bool with_default);

/* Append the names of the verbs with one of the bits, "check, plan"; "all" if they all have. */
void option_verbs_add(struct strbuf *out, const struct verb *const *verbs, unsigned bits);

/* Append the reference of all options as Markdown: exporter/docs/configuration.md. */
void reference_markdown(const struct verb *const *verbs, struct strbuf *out);
