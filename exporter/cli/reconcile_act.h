/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/verb.h"
#include "exporter/evaluation.h"
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
