/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verbs.h"

/* The verb `check`: evaluate manifests once, print the findings, answer the exit status. */
enum exit_status check_run(struct command *command);
