/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/files/manifest_source.h"
#include "exporter/system/log.h"

/*
 * Logs each problem of the manifests when it appears, and again only after it was
 * gone in between.
 */
struct problem_log {
    uint64_t *logged; /* Sorted hashes of the last update's problems. */
    size_t count;
    uint64_t rejected; /* How many problems so far kept an object from being evaluated. */
};

void problem_log_release(struct problem_log *l);

/*
 * Log each problem that the last update did not have; of very many only the first, and how
 * many more there are. False if the problems are the same as then.
 */
bool problem_log_update(struct problem_log *l, const struct manifests *m, const struct log *log);
