/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/text/findings.h"
#include "exporter/text/plan_failures.h"

/* Source of the places of objects, in the change or in the sources. */
struct plan_places {
    /* Returns false if the object is in no file. `entry` may be NULL. */
    bool (*find)(const void *context, const struct identity *object, const struct entry *entry,
                 struct location *out);
    const void *context;
};

/*
 * Adds the results of a plan: those in `failures`, bits by enum plan_failure, fail it; moves and
 * waits that do not fail it are only in the details. Sets summary, details and text of the
 * findings. Call it before plan_undo().
 */
void findings_add_plan(struct findings *f, const struct plan_result *r, unsigned failures,
                       const struct plan_places *places);
