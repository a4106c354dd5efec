/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/evaluation.h"

/*
 * Reads all sources once and evaluates all objects. The sources are the manifests of --manifests
 * and of the command's arguments, or an API server without these, and the asset file. Moves the
 * options out of the invocation. The caller frees the evaluation.
 *
 * Returns NULL, prints an error and stores the exit status in *status if an option is invalid, or
 * if a source is missing, cannot be opened, or is an API server that cannot be read. Otherwise
 * *status is STATUS_UNREACHABLE if the API server did not deliver some kinds, else STATUS_USAGE if
 * a file or a document could not be read, or manifests contain no object, else STATUS_OK. Prints
 * problems of kinds, asset file and feature gates, and an error for empty manifests; for manifests
 * call load_print_problems().
 */
struct evaluation *load_sources(struct invocation *invocation, enum exit_status *status) MUST_USE;

/* Functions of a caller that load_sources_with() calls; each may be NULL. */
struct load_hooks {
    /* Called before anything is read. */
    void (*opened)(void *context, struct evaluation *e);
    /* Returns true if this problem of the manifests, which blocks the evaluation, is accepted. */
    bool (*accepts)(void *context, const struct manifest_problem *problem);
    void *context;
    bool quiet; /* Print no warnings about gates and releases. */
};

/* Like load_sources(), with hooks. */
struct evaluation *load_sources_with(struct invocation *invocation, const struct load_hooks *hooks,
                                     enum exit_status *status) MUST_USE;

/*
 * Reads the kinds of engine_select_type() from the API server of an evaluation of load_sources(),
 * and evaluates all objects. Kinds that cannot be read stay incomplete.
 */
void load_planned_kinds(struct evaluation *e);

/* Judges the problems of an evaluation of load_sources(). */
void load_judge_problems(struct evaluation *e);

/*
 * Prints an error for each file and document of the manifests that could not be read, and a warning
 * for each kustomization and chart that was not rendered and for each repeated key.
 */
void load_print_problems(const struct manifests *m, const struct invocation *invocation);
/* Likewise, but passes the errors to `report`. */
void load_report_problems(const struct manifests *m, message_fn *report, void *context);

/* Prints a warning for each key that a mapping has twice, for commands that do not list them. */

/* Prints how many files and documents are skipped, by kind; nothing if there are none. */
void load_print_skipped(const struct manifests *m, const struct invocation *invocation);

/*
 * Returns the object with the name `typed` (object_name.h): an object of the store in a class of
 * `classes` (bits by enum object_class), else a template that is fetched from the API server and
 * evaluated, else the binding of the named template. Returns NULL with the reason in `err` and the
 * exit status in *status if no step finds exactly one object.
 */
const struct entry *load_object(struct evaluation *e, unsigned classes, const char *typed,
                                enum exit_status *status, struct error *err) MUST_USE;
