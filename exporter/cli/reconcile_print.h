/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/options/options.h"
#include "exporter/text/text_table.h"
#include "metrics/base/json_writer.h"
#include "metrics/simulate/reconcile.h"

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
