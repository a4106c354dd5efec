/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"
#include "metrics/base/json_writer.h"
#include "metrics/simulate/reconcile.h"

/*
 * What becomes of each of the templates that are reconciled, told as it happens: a line for each
 * change, and below them a bar where the output is a terminal.
 */

/* An enumerator, and a word for programs and people. */
#define FATES(ROW)                                                                                 \
    ROW(NOT_BEGUN, "not_begun")                                                                    \
    ROW(WRITTEN, "written") /* And it has not become what it should yet. */                        \
    ROW(SKIPPED, "skipped")                                                                        \
    ROW(DONE, "done")                                                                              \
    ROW(STOPPED, "stopped") /* All ended here. */

#define FATE_ENUMERATOR(id, word) FATE_##id,
enum fate { FATES(FATE_ENUMERATOR) FATE_COUNT };

struct template_fate {
    enum fate fate;
    char *reason;     /* For people; NULL if there is none. */
    uint64_t version; /* Of the template once it was written; 0 if unknown. */
};

struct fates {
    const struct reconcile_list *list; /* Borrowed. */
    struct template_fate *items;       /* In its order. */
    int out;                           /* -1: nothing is told. */
};

void fates_init(struct fates *f, const struct reconcile_list *list, int out);
void fates_release(struct fates *f);

/* Something has become of a template. `reason` may be NULL. False if nobody can be told. */
bool fates_set(struct fates *f, size_t at, enum fate fate, const char *reason) MUST_USE;
/* The last line: "Stopped: 4 of 10 done, ...". */
void fates_summarise(struct fates *f, const char *how);
/* Append all as the member "results" of the object that is open. */
void fates_write(const struct fates *f, struct json_writer *w);
