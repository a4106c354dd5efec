/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/decision_flapping.h"

#include "metrics/rules/rule.h"

/* ---- templates that return to an earlier policy ---- */

enum {
    FLAPPING_RETURNS = 3,
    FLAPPING_SEEN_MAX = 32, /* Transitions examined; more return to one of so many anyway. */
};

/* The policy of a template, and the version of the policy that it runs. */
struct followed {
    const struct entry *policy;
    uint32_t version;
};

static struct followed followed_of(const struct moment *m)
{
    return (struct followed){m->claimed ? m->claimed : m->policy, m->version};
}

static bool is_equal(struct followed a, struct followed b)
{
    return a.policy == b.policy && a.version == b.version;
}

/* The changes of policy or version of a template within the window, newest first. */
struct followed_changes {
    struct followed before[FLAPPING_SEEN_MAX];
    struct followed after[FLAPPING_SEEN_MAX];
    int64_t time_ms[FLAPPING_SEEN_MAX];
    size_t count;
};

static void find_changes(const struct rule_context *c, const struct entry *template,
                         struct followed_changes *out)
{
    uint64_t below = UINT64_MAX;
    struct transition t;

    out->count = 0;
    while (out->count < FLAPPING_SEEN_MAX &&
           transitions_next_of_template(c->transitions, template, &below, &t) &&
           t.time_ms > c->now_ms - FLAPPING_WINDOW_MS) {
        struct followed before = followed_of(&t.before), after = followed_of(&t.after);

        if (!t.before.decided || !t.after.decided || is_equal(before, after))
            continue;
        out->before[out->count] = before;
        out->after[out->count] = after;
        out->time_ms[out->count++] = t.time_ms;
    }
}

/* Returns true if the change with this index returns to a policy and version that an older change
 * has left. */
static bool is_return(const struct followed_changes *changes, size_t at)
{
    for (size_t i = at + 1; i < changes->count; i++) {
        if (is_equal(changes->before[i], changes->after[at]))
            return true;
    }
    return false;
}

void state_flapping_condition(const struct rule_context *c, const struct entry *template,
                              struct condition_list *out, int64_t *due_ms)
{
    struct followed_changes changes;
    unsigned returns = 0;

    if (!c->transitions)
        return;
    find_changes(c, template, &changes);
    for (size_t i = 0; i < changes.count; i++) {
        int64_t end_ms = changes.time_ms[i] + FLAPPING_WINDOW_MS;

        if (!is_return(&changes, i) || ++returns < FLAPPING_RETURNS)
            continue;
        condition_list_add(out, (struct condition){PROBLEM_REASON_DECISION_FLAPPING_STATE,
                                                   changes.time_ms[i], false});
        if (end_ms < *due_ms)
            *due_ms = end_ms;
        return;
    }
}

/* ---- conflicts that begin again ---- */

void conflict_begins_note(struct conflict_begins *begins, int64_t now_ms)
{
    memmove(&begins->time_ms[1], &begins->time_ms[0],
            (FLAPPING_BEGINS - 1) * sizeof(begins->time_ms[0]));
    begins->time_ms[0] = now_ms;
}

bool conflict_begins_matter(const struct conflict_begins *begins, int64_t now_ms)
{
    return begins->time_ms[0] > 0 && now_ms < begins->time_ms[0] + FLAPPING_WINDOW_MS;
}

void conflict_flapping_condition(const struct conflict_begins *begins, int64_t now_ms,
                                 struct condition_list *out, int64_t *due_ms)
{
    int64_t end_ms = begins->time_ms[FLAPPING_BEGINS - 1] + FLAPPING_WINDOW_MS;

    if (begins->time_ms[FLAPPING_BEGINS - 1] == 0 || now_ms >= end_ms)
        return;
    condition_list_add(out, (struct condition){PROBLEM_REASON_DECISION_FLAPPING_CONFLICT,
                                               begins->time_ms[0], false});
    if (end_ms < *due_ms)
        *due_ms = end_ms;
}
