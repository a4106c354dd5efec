/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verbs.h"

/*
 * The verb `explain`: KIND[.GROUP]/[NAMESPACE/]NAME, then PATHs; the decision
 * about that template, step by step, losers included. Exits with 2 if there is
 * no such template, naming the nearest ones, or more than one.
 */
enum exit_status explain_run(struct command *command);
