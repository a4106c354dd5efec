/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"
#include "exporter/evaluation.h"

/*
 * What verbs that look once have in common: the arguments are PATHs of manifests, beside
 * --manifests; without any an API server is read. Everything is read and decided. `over` (NULL:
 * none) are further PATHs, which go over all of it.
 *
 * NULL, having complained, if there is nothing to look at, an option is not valid, or the
 * server cannot be read; *status is then what to exit with. Else it is STATUS_OK, or STATUS_USAGE
 * if a PATH is missing or something in it could not be read. The caller frees the evaluation,
 * which has taken the command's options.
 */
struct evaluation *load_sources(struct command *command, const struct text_list *over,
                                enum exit_status *status) MUST_USE;

/* True if a problem means that something counts for nothing now. */
bool load_is_unread(enum problem_kind kind);

/* Complain of everything that could not be read, line by line. */
void load_complain(const struct evaluation *e, const struct command *command);
