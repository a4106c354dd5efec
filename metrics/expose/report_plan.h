/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/simulate/plan.h"

/*
 * Append a plan and what plan_finish() has answered as one JSON document (product contract 7). For
 * what vanishes it calls plan_undo(). CPU is in cores, memory in bytes. `fails` is the value of the
 * member of that name as JSON; NULL for no such member.
 */
void report_plan(struct plan *p, const struct plan_result *r, const struct engine *engine,
                 const char *fails, struct strbuf *out);

/* The same, without `fails`, as an object of a larger document. */
void report_put_plan(struct writer *w, const char *key, struct plan *p, const struct plan_result *r,
                     const struct engine *engine);

/* What stands at one moment: {state, reason, policy, clusters or undetermined}, else null. */
void report_put_outcome(struct writer *w, const char *key, const struct outcome *o);
