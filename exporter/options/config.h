/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"

/*
 * The file of --config.file: one YAML mapping whose keys are the names of the
 * flags. An option that may be given several times, and a set of choices, may
 * have a list. A key that is unknown or occurs twice is an error that names the line.
 */

/*
 * The options that a command line means: the defaults, then what its
 * --config.file says, then its flags. Initialises `o`, which the caller releases
 * also after a failure.
 */
bool config_load(struct options *o, int argc, const char *const *argv, struct error *err) MUST_USE;

/* Set what the text of a file says; `path` is for errors. A failure may leave some of it set. */
bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err) MUST_USE;
