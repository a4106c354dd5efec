/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verbs.h"
#include "exporter/evaluation.h"

/*
 * What verbs that look once have in common: the arguments are PATHs of
 * manifests, beside --manifests. Everything is read and decided. NULL, having
 * complained, if there is no PATH or an option is not valid; *complete is false
 * if a PATH is missing or something in it could not be read. The caller frees
 * the evaluation, which has taken the command's options.
 */
struct evaluation *load_manifests(struct command *command, bool *complete) MUST_USE;

/* True if a problem means that something counts for nothing now. */
bool load_is_unread(enum problem_kind kind);

/* Complain of everything that could not be read, line by line. */
void load_complain(const struct evaluation *e, const struct command *command);
