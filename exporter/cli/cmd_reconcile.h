/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/command.h"
#include "exporter/evaluation.h"
#include "exporter/options/options.h"
#include "exporter/text/text_table.h"
#include "metrics/base/error.h"
#include "metrics/base/json_writer.h"
#include "metrics/simulate/reconcile.h"

/*
 * Write the annotation of the templates that are chosen, or take it off, in batches, and wait for
 * each batch as the options say; the plan has ended. It goes on as long as everything goes as
 * planned: a template that nothing is to be done for any more is skipped, and the first one that
 * does not become what it should ends it, as SIGINT does after the present one.
 *
 * Each template is reported on standard output as it happens; where `w` is not NULL, instead at the
 * end as the member "results" of the object that is open there.
 *
 * STATUS_FOUND if it ended before the end, STATUS_UNREACHABLE if the server did not let it go on.
 */
enum exit_status reconcile_act(struct evaluation *e, const struct command *command,
                               const struct reconcile_filter *wish, const struct reconcile *r,
                               struct json_writer *w);

/*
 * What of the plan somebody has to accept first: bits in the order of the choices of --accept,
 * without those that are accepted.
 */
unsigned reconcile_refusals(const struct reconcile *r, const struct options *o);

/* Print what would be done, for people. `policy` is --policy's, NULL if there is none. */
void reconcile_print(const struct reconcile *r, const struct options *o, const struct entry *policy,
                     struct output *out);

/* Append the same as members of the object that is open. It calls plan_undo(). */
void reconcile_write(struct json_writer *w, const struct reconcile *r, const struct options *o);

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
