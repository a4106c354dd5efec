/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/evaluation.h"

/*
 * Read and evaluate everything once: the manifests of --manifests and of the arguments, which
 * are PATHs; an API server where there are none.
 *
 * NULL, having complained, if there is no source, an option is not valid or the server cannot be
 * read; *status is then what to exit with. Else it is STATUS_OK, STATUS_USAGE if a PATH is
 * missing or something in it could not be read, or STATUS_UNREACHABLE if a kind could not, having
 * named it. The caller frees the evaluation, which owns the
 * command's options from then on.
 */
struct evaluation *load_sources(struct invocation *invocation, enum exit_status *status) MUST_USE;

/* Complain of everything in manifests that could not be read, one line each. */
void load_print_problems(const struct manifests *m, const struct invocation *invocation);

/*
 * The object that somebody names (object_name.h): from the store, else read alone at the API
 * server, else, of a template that cannot be had, its binding. `classes` has a bit for each enum
 * object_class that may be meant. Of what is read the engine has decided. NULL with the reason and
 * the exit status if there is none of these.
 */
const struct entry *load_object(struct evaluation *e, unsigned classes, const char *typed,
                                enum exit_status *status, struct error *err) MUST_USE;
