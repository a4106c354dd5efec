/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/problems/condition_list.h"

/*
 * Problem decision_flapping (product contract 3.10): a template that returns again and again to
 * an earlier policy or version, and a conflict of a dependency that begins again and again.
 */

enum { FLAPPING_WINDOW_MS = 60 * 60 * 1000, FLAPPING_BEGINS = 4 };

/*
 * Appends the condition with the reason `state` if the template returned at least three times
 * within an hour to a policy or version that it had left. Needs the transitions of the engine.
 * Lowers *due_ms to the latest time at which the condition ends.
 */
void state_flapping_condition(const struct rule_context *c, const struct entry *template,
                              struct condition_list *out, int64_t *due_ms);

/* Times at which conflicts of a dependency began, newest first; 0 for unused elements. */
struct conflict_begins {
    int64_t time_ms[FLAPPING_BEGINS];
};

/* Notes that a conflict of the dependency began. */
void conflict_begins_note(struct conflict_begins *begins, int64_t now_ms);
/* Returns true while the newest beginning is less than an hour ago. */
bool conflict_begins_matter(const struct conflict_begins *begins, int64_t now_ms);
/*
 * Appends the condition with the reason `conflict` if conflicts began four times within an hour.
 * Lowers *due_ms to the time at which the condition ends.
 */
void conflict_flapping_condition(const struct conflict_begins *begins, int64_t now_ms,
                                 struct condition_list *out, int64_t *due_ms);
