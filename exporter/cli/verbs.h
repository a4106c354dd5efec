/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"

/*
 * Do what the command line (after the program's name) says with one of `verbs`, which ends with
 * NULL and whose first is the default; print to `out` and complain to `err`. Answers the exit
 * status.
 *
 * `program` is the file that was run, NULL if nobody says. As kubectl-karmada_policy it is a plugin
 * of kubectl: texts say "kubectl karmada-policy", and without a verb it prints help, as plugins do,
 * rather than begin to serve.
 */
enum exit_status verbs_main(const struct verb *const *verbs, const char *program, int argc,
                            const char *const *argv, int out, int err);
