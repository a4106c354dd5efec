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
 * within the last hour to a policy or version that it had left, at any time before. Needs the
 * transitions of the engine, and examines the newest of the template. A version is known by its
 * values: a policy that gets earlier values again returns to the earlier version. Lowers *due_ms to
 * the time at which the condition ends if no return follows.
 */
void state_flapping_condition(const struct rule_context *c, const struct entry *template,
                              struct condition_list *out, int64_t *due_ms);

/*
 * The changes of policy and version before a reload, of templates with such a change in the last
 * hour: a reload neither ends nor hides the problem.
 */
struct flapping_past;

/*
 * Returns the changes that the transitions of `last`, the context of the engine before the reload,
 * still have, with entries of `store`. Free them before the store.
 */
struct flapping_past *flapping_past_new(struct store *store,
                                        const struct rule_context *last) MUST_USE;
/* Accepts NULL. */
void flapping_past_free(struct flapping_past *past);

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
