/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verbs.h"

/* The verb `serve`: evaluate all the time and serve the findings, until told to end. */
enum exit_status serve_run(struct command *command);
