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
