/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verbs.h"

/* The verb `metrics`: the catalogue of families (metrics/expose/catalogue.h). */
enum exit_status metrics_run(struct command *command);
