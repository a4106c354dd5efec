/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"

/* What the program is for, in one sentence. */
extern const char help_about[];

/* Print what --help prints about one verb; NULL: about all. */
enum exit_status help_answer(struct command *command, const struct verb *verb);
