/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verbs.h"

/*
 * The verb `plan`: evaluates the manifests as they are and as they would be with
 * each --filename applied and each --delete done, and prints the differences
 * (metrics/rules/comparison.h). Exits with 1 if there are any.
 */
enum exit_status plan_run(struct command *command);
