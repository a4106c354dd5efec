/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/check_environments.h"
#include "exporter/cli/command.h"
#include "exporter/text/baseline.h"

/* The problems of --baseline, from a report or from files of a Git repository. */
struct check_baseline;

/*
 * Opens a value of --baseline: reads the report, or extracts the files of git:REF. Prints warnings.
 * The caller frees the baseline. Returns NULL with the reason on errors.
 */
struct check_baseline *check_baseline_open(const struct invocation *invocation, const char *value,
                                           const struct environments *environments,
                                           struct error *err) MUST_USE;
/* Removes the extracted files. Accepts NULL. */
void check_baseline_free(struct check_baseline *b);

/*
 * Evaluates the files of git:REF for the environment; does nothing for a report. Returns false,
 * prints an error, and stores the exit status if the files cannot be evaluated.
 */
bool check_baseline_prepare(struct check_baseline *b, const struct invocation *invocation,
                            const struct environment *environment, int64_t now_ms,
                            enum exit_status *status) MUST_USE;

/* Returns the problems of the environments that were prepared. Borrowed. */
struct baseline *check_baseline_problems(const struct check_baseline *b);

/*
 * Sets the options to those of the command line, with the PATHs of the environment behind the other
 * PATHs as `manifests`. Releases the old options.
 */
bool check_options_of(const struct invocation *invocation, const struct environment *environment,
                      struct options *out, struct error *err) MUST_USE;
