/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/problems/problem_table.h"

/* Lists of conditions of problems (problem_conditions.h). */

struct rule_context;

/* A condition that holds, or of which an input is not readable. */
struct condition {
    enum problem_reason reason; /* Row of the table; it determines the problem. */
    /*
     * The latest time that an object proves for the beginning of the condition, in milliseconds
     * since the epoch; 0 without proof. The creation of an object counts only if the condition
     * holds since then.
     */
    int64_t since_ms;
    /* An input is late, forbidden or undetermined: the problem keeps its status. */
    bool unknown;
};

/* Growing list; all zero is the empty list. */
struct condition_list {
    struct condition *items;
    size_t count;
    size_t capacity;
};

void condition_list_add(struct condition_list *list, struct condition condition);
void condition_list_release(struct condition_list *list);

/*
 * Returns the condition of the problem of `reason`; if the problem is by reason, that of the reason
 * itself. NULL without one.
 */
struct condition *condition_list_find(const struct condition_list *list,
                                      enum problem_reason reason);

/*
 * Removes the conditions of disabled problems, all but the first of each line, all but the first of
 * a problem that is not by reason, and, in a `snapshot`, those that need observation over time.
 */
void condition_list_filter(struct condition_list *list, const struct problem_settings *settings,
                           bool snapshot);
