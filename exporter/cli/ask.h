/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"

/*
 * The verbs as a running exporter answers them (--server): it prints, and its findings make the
 * exit status.
 *
 * False if the command line names no exporter, and nothing that is for one: the verb looks for
 * itself. Else it is done, or refused, and *status is what to exit with.
 */
bool ask_check(const struct command *command, enum exit_status *status) MUST_USE;
/* `typed` is the object's name. */
bool ask_explain(const struct command *command, const char *typed,
                 enum exit_status *status) MUST_USE;
