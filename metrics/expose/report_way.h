/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json_writer.h"
#include "metrics/rules/engine.h"

/* A target of a template's binding: where it is, and Karmada's own words ("" without any). */
struct target_place {
    const char *cluster;
    struct standing at;
    const char *message;
};
/* All `target_count` of the decision, in no order. The texts are borrowed; free() the array. */
struct target_place *target_places(const struct engine *engine, const struct entry *template);

/*
 * Where a template is on its way, as members of the open object: stage, delivery, Karmada's
 * message, and each member cluster under "targets".
 */
void report_put_way(struct writer *w, const struct engine *engine, const struct entry *template);
