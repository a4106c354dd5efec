/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/manifests/source.h"
#include "exporter/system/log.h"

/*
 * Tells each problem of the manifests once, in the log: when it appears, not
 * again while it stays, and again when it comes back.
 */
struct problem_log {
    uint64_t *told; /* Sorted hashes of what was there last time. */
    size_t count;
    uint64_t rejected; /* How many there were so far that kept an object out. */
};

void problem_log_release(struct problem_log *l);

/*
 * Write a line for each problem that was not there last time; of very many only
 * the first. False if the problems are those of last time.
 */
bool problem_log_update(struct problem_log *l, const struct manifests *m, const struct log *log);
