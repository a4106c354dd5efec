/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"

/* What --help, the manual page and the reference of options say of a row of the table. */

/* Append its help, with the words of a set and whether it may be repeated; maybe the default. */
void option_describe(struct strbuf *out, const struct option_def *def, bool with_default);

/* Append the names of the verbs with one of the bits, "check, plan"; "all" if they all have. */
void option_verbs_add(struct strbuf *out, const struct verb *const *verbs, unsigned bits);
