/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"

/* What the program is for, in one sentence. */
extern const char help_about[];

/* What --help, the manual page and the reference of options say of a row of the table. */
