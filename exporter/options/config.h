/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"

/*
 * The file of --config.file: one YAML mapping whose keys are the names of the
 * flags. An option that may be given several times takes a list, a set of
 * choices too. Strict: a key that is unknown, or there twice, is an error that
 * names the line.
 */

/* Set what the file says. A failure may leave some of it set. */
bool config_read(const char *path, struct options *o, struct error *err) MUST_USE;

/* The same for text that is read already; `path` is for errors. */
bool config_apply(const char *path, const char *text, size_t len, struct options *o,
                  struct error *err) MUST_USE;
