/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/output.h"
#include "exporter/cli/verbs.h"

/* What --help prints: about one verb, or about all if it is NULL. */
void help_print(const struct verb *verb, struct output *o);

/* What --version prints, the way of the exporter toolkit. */
void version_print(struct output *o);
