/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"

/* What --help prints about one verb. */
void help_print(const struct verb *verb, struct output *o);

/* What it prints about all, the first being the default; NULL ends them. */
void help_print_all(const struct verb *const *verbs, struct output *o);

/* What --version prints, as exporters of the Prometheus project do. */
void version_print(struct output *o);
