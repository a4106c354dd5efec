/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_table.h"

const char *const severity_names[SEVERITY_COUNT] = {"critical", "warning", "info"};

const char *const actor_names[ACTOR_COUNT] = {
    [ACTOR_USER] = "user",         [ACTOR_POLICY_OWNER] = "policy_owner",
    [ACTOR_PLATFORM] = "platform", [ACTOR_KARMADA] = "karmada",
    [ACTOR_CLUSTER] = "cluster",   [ACTOR_NONE] = "nobody",
};

#define PROBLEM_TABLE_ROW(id, word, severity, patience, line, flags, title, subject)               \
    {word, title, SEVERITY_##severity, patience, LINE_##line, flags, subject},
const struct problem_row problem_table[PROBLEM_COUNT] = {PROBLEMS(PROBLEM_TABLE_ROW)};

#define PROBLEM_NAME(id, word, ...) word,
const char *const problem_names[PROBLEM_COUNT] = {PROBLEMS(PROBLEM_NAME)};

#define REASON_TABLE_ROW(problem, id, word, actor) {word, PROBLEM_##problem, ACTOR_##actor},
const struct problem_reason_row problem_reasons[PROBLEM_REASON_COUNT] = {
    PROBLEM_REASONS(REASON_TABLE_ROW)};

enum problem_reason problem_first_reason(enum problem_id problem)
{
    unsigned low = 0, high = PROBLEM_REASON_COUNT;

    while (low < high) {
        unsigned middle = (low + high) / 2;

        if (problem_reasons[middle].problem < problem)
            low = middle + 1;
        else
            high = middle;
    }
    return (enum problem_reason)low;
}

unsigned problem_reason_count(enum problem_id problem)
{
    unsigned first = problem_first_reason(problem), count = 1;

    while (first + count < PROBLEM_REASON_COUNT &&
           problem_reasons[first + count].problem == problem)
        count++;
    return count;
}

enum problem_reason problem_find_reason(enum problem_id problem, const char *name)
{
    for (unsigned i = problem_first_reason(problem);
         i < PROBLEM_REASON_COUNT && problem_reasons[i].problem == problem; i++) {
        if (strcmp(problem_reasons[i].name, name) == 0)
            return (enum problem_reason)i;
    }
    return PROBLEM_REASON_COUNT;
}

enum problem_id problem_find(const char *name)
{
    unsigned problem = 0;

    while (problem < PROBLEM_COUNT && strcmp(problem_names[problem], name) != 0)
        problem++;
    return (enum problem_id)problem;
}

void problem_settings_reset(struct problem_settings *settings)
{
    *settings = (struct problem_settings){.resolve_delay_ms = 5 * 60 * 1000};
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        settings->severity[i] = (uint8_t)problem_table[i].severity;
        settings->patience_ms[i] = (int64_t)problem_table[i].patience_s * 1000;
    }
}
