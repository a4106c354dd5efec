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
