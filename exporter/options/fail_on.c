/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/fail_on.h"

#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"

enum {
    REASONS_TEXT_MAX = 400,
    ABBREVIATION_MIN = 3, /* Bytes of a beginning that suggests a name: "warn" for "warning". */
};

#define PLAN_FAILURE_WORD(id, word) word,
const char *const plan_failure_names[PLAN_FAILURE_COUNT] = {PLAN_FAILURES(PLAN_FAILURE_WORD)};

const char *const normal_condition_names[NORMAL_CONDITION_COUNT] = {
    [NORMAL_KIND_NOT_SELECTED] = "not_propagated/kind_not_selected",
    [NORMAL_NO_MATCH] = "not_propagated/no_match",
    [NORMAL_WAITING] = "not_propagated/waiting",
};

/* Problems that a plan reports, by enum plan_failure. */
static const enum problem_id plan_problems[PLAN_FAILURE_FIRST_CONSEQUENCE] = {
    [PLAN_FAILURE_DEPENDENCY_CONFLICT] = PROBLEM_DEPENDENCY_CONFLICT,
    [PLAN_FAILURE_POLICY_NOT_IN_FORCE] = PROBLEM_POLICY_NOT_IN_FORCE,
    [PLAN_FAILURE_NOT_PROPAGATED] = PROBLEM_NOT_PROPAGATED,
    [PLAN_FAILURE_ORPHANED] = PROBLEM_ORPHANED,
    [PLAN_FAILURE_OVERRIDE_FAILED] = PROBLEM_OVERRIDE_FAILED,
};

/* ---- names ---- */

enum {
    PROBLEMS_AT = SEVERITY_COUNT, /* Index of the first problem in fail_on_names. */
    CONSEQUENCES_AT = PROBLEMS_AT + PROBLEM_COUNT,
    CONSEQUENCE_COUNT = PLAN_FAILURE_COUNT - PLAN_FAILURE_FIRST_CONSEQUENCE,
    NAME_COUNT = CONSEQUENCES_AT + CONSEQUENCE_COUNT,
};
static_assert(NAME_COUNT <= 64, "a bit for each");

#define PROBLEM_WORD(id, word, ...) word,
const char *const fail_on_names[NAME_COUNT + 1] = {
    "critical",      "warning", "info",     PROBLEMS(PROBLEM_WORD) "move",
    "lost",          "wait",    "overflow", "undetermined",
    "unsettled",     "nowhere", "refused",  "ignored",
    "not_simulated", NULL,
};

uint64_t fail_on_names_of_check(void)
{
    return (UINT64_C(1) << CONSEQUENCES_AT) - 1;
}

uint64_t fail_on_names_of_plan(void)
{
    uint64_t names = ((UINT64_C(1) << NAME_COUNT) - 1) & ~fail_on_names_of_check();

    for (unsigned i = 0; i < PLAN_FAILURE_FIRST_CONSEQUENCE; i++)
        names |= UINT64_C(1) << (PROBLEMS_AT + plan_problems[i]);
    return names;
}

/* Classes of findings of earlier releases, and the problems that replace them. */
static const struct {
    const char *name;
    const char *problems;
} former_classes[] = {
    {"conflict", "dependency_conflict replaces it"},
    {"predicted", "conflict_predicted replaces it"},
    {"pending", "not_propagated and excluded replace it"},
    {"stale", "policy_not_in_force, template_frozen and deferred_too_long replace it"},
    {"overdue", "policy_not_in_force and template_frozen replace it"},
    {"unbound", "not_propagated replaces it; for manifests not_propagated/waiting"},
    {"unmatched", "not_propagated and not_propagated/kind_not_selected replace it"},
    {"outdated", "policy_not_in_force and template_frozen replace it"},
    {"evicting", "eviction_stuck and last_copy_at_risk replace it"},
    {"unscheduled", "not_scheduled and placement_lost replace it"},
    {"placed_nowhere", "placement_lost replaces it, because zero replicas are no problem"},
    {"undispatched", "not_delivered replaces it"},
    {"unapplied", "not_delivered and override_failed replace it"},
    {"undelivered", "not_delivered replaces it"},
    {"unreachable", "member_cluster_unavailable replaces it"},
    {"risk", "last_copy_at_risk, placement_at_risk, on_fallback, two_copies_held, "
             "change_suspended and forbidden_placement replace it"},
    {"invalid", "policy_invalid replaces it"},
    {"broken", "reference_broken, binding_name_collision and deletion_stuck replace it"},
    {"connector", "cloud_resource_conflict, management_conflict, lease_at_risk, deletion_trap and "
                  "lease_unprotected replace it"},
    {"duplicate", "duplicate_object replaces it"},
};

/* Callback of suggest_name(): returns the name at the index *context and increments it, or NULL. */
static const char *next_name(void *context)
{
    size_t *at = context;

    return fail_on_names[*at] ? fail_on_names[(*at)++] : NULL;
}

/* Returns the name that begins with `typed`, else the most similar one; NULL without one. */
static const char *find_nearest_name(const char *typed)
{
    size_t len = strlen(typed), at = 0;

    for (size_t i = 0; len >= ABBREVIATION_MIN && fail_on_names[i]; i++) {
        if (strncmp(fail_on_names[i], typed, len) == 0)
            return fail_on_names[i];
    }
    return suggest_name(typed, next_name, &at);
}

static bool fail_name(const char *name, struct error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(former_classes); i++) {
        if (strcmp(name, former_classes[i].name) == 0)
            return fail(err, "there is no problem '%s': %s", name, former_classes[i].problems);
    }
    const char *nearest = find_nearest_name(name);

    if (nearest)
        return fail(err, "there is no problem '%s'; did you mean '%s'?", shown(name).text, nearest);
    return fail(err, "there is no problem or severity '%s'", shown(name).text);
}

/* Candidates of next_reason(). */
struct reason_walk {
    enum problem_id problem;
    unsigned at;
};

/* Callback of suggest_name(): returns the next reason of the problem, or NULL. */
static const char *next_reason(void *context)
{
    struct reason_walk *w = context;

    if (w->at < problem_reason_count(w->problem))
        return problem_reasons[problem_first_reason(w->problem) + w->at++].name;
    /* This reason is no problem, and so it is not in the table. */
    return w->problem == PROBLEM_NOT_PROPAGATED && w->at++ == problem_reason_count(w->problem)
               ? "kind_not_selected"
               : NULL;
}

static bool fail_reason(enum problem_id problem, const char *reason, struct error *err)
{
    struct reason_walk all = {.problem = problem}, walk = all;
    CLEANUP(strbuf_release) struct strbuf list = STRBUF_INIT(REASONS_TEXT_MAX);
    const char *nearest = suggest_name(reason, next_reason, &walk), *name;

    if (*problem_reasons[problem_first_reason(problem)].name == '\0')
        return fail(err, "%s has no reasons: write it without '/%s'", problem_names[problem],
                    shown(reason).text);
    if (nearest && *nearest != '\0')
        return fail(err, "%s has no reason '%s'; did you mean '%s'?", problem_names[problem],
                    shown(reason).text, nearest);
    while ((name = next_reason(&all)))
        strbuf_addf(&list, "%s%s", list.len > 0 ? ", " : "", name);
    return fail(err, "%s has no reason '%s'; its reasons are %s", problem_names[problem],
                shown(reason).text, list.data);
}

/* ---- text ---- */

static void add_reason(struct fail_on *f, unsigned reason)
{
    f->reasons[reason / 64] |= UINT64_C(1) << reason % 64;
}

/* Adds the problem with all its reasons. */
static void add_problem(struct fail_on *f, enum problem_id problem)
{
    unsigned first = problem_first_reason(problem);

    for (unsigned i = 0; i < problem_reason_count(problem); i++)
        add_reason(f, first + i);
}

/* Adds PROBLEM/REASON, with the condition of that name. `slash` points into `name`. */
static bool add_problem_with_reason(struct fail_on *f, const char *name, const char *slash,
                                    struct error *err)
{
    CLEANUP(free_cleanup) char *problem_name = xmemdup0(name, (size_t)(slash - name));
    enum problem_id problem = problem_find(problem_name);
    bool is_condition = false;
    enum problem_reason reason;

    if (problem == PROBLEM_COUNT)
        return fail_name(problem_name, err);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if (strcmp(name, normal_condition_names[i]) != 0)
            continue;
        f->conditions |= 1U << i;
        is_condition = true;
    }
    reason = problem_find_reason(problem, slash + 1);
    if (slash[1] == '\0' || (reason == PROBLEM_REASON_COUNT && !is_condition))
        return fail_reason(problem, slash + 1, err);
    if (reason != PROBLEM_REASON_COUNT)
        add_reason(f, reason);
    return true;
}

static bool add_name(struct fail_on *f, const char *name, struct error *err)
{
    const char *slash = strchr(name, '/');
    enum problem_id problem;

    if (*name == '\0')
        return fail(err, "a name is empty");
    if (slash)
        return add_problem_with_reason(f, name, slash, err);
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        if (strcmp(name, severity_names[i]) == 0) {
            f->severities |= (2U << i) - 1;
            return true;
        }
    }
    for (unsigned i = PLAN_FAILURE_FIRST_CONSEQUENCE; i < PLAN_FAILURE_COUNT; i++) {
        if (strcmp(name, plan_failure_names[i]) == 0) {
            f->consequences |= 1U << i;
            return true;
        }
    }
    problem = problem_find(name);
    if (problem == PROBLEM_COUNT)
        return fail_name(name, err);
    add_problem(f, problem);
    return true;
}

bool fail_on_parse(const char *text, struct fail_on *out, struct error *err)
{
    struct fail_on parsed = {.severities = 0};

    while (*text != '\0') {
        size_t len = strcspn(text, ",");
        CLEANUP(free_cleanup) char *name = xmemdup0(text, len);

        if (!add_name(&parsed, name, err))
            return false;
        text += len;
        if (*text == ',' && *++text == '\0')
            return fail(err, "nothing follows the last comma");
    }
    *out = parsed;
    return true;
}

bool fail_on_names_reason(const struct fail_on *f, enum problem_reason reason)
{
    return f->reasons[reason / 64] >> reason % 64 & 1;
}

/* Returns how many reasons of the problem the value has. */
static unsigned count_reasons(const struct fail_on *f, enum problem_id problem)
{
    unsigned first = problem_first_reason(problem), count = 0;

    for (unsigned i = 0; i < problem_reason_count(problem); i++)
        count += fail_on_names_reason(f, first + i);
    return count;
}

static void write_name(struct strbuf *out, size_t start, const char *name, const char *reason)
{
    strbuf_addf(out, "%s%s%s%s", out->len > start ? "," : "", name, reason ? "/" : "",
                reason ? reason : "");
}

static void write_problem(const struct fail_on *f, enum problem_id problem, size_t start,
                          struct strbuf *out)
{
    unsigned first = problem_first_reason(problem), count = problem_reason_count(problem);

    if (count_reasons(f, problem) == count) {
        write_name(out, start, problem_names[problem], NULL);
        return;
    }
    for (unsigned i = 0; i < count; i++) {
        if (fail_on_names_reason(f, first + i))
            write_name(out, start, problem_names[problem], problem_reasons[first + i].name);
    }
}

/* Returns true if write_problem() writes the name of the condition, which a reason also has. */
static bool is_written_as_reason(const struct fail_on *f, enum normal_condition condition)
{
    const char *reason = strchr(normal_condition_names[condition], '/') + 1;
    enum problem_reason found = problem_find_reason(PROBLEM_NOT_PROPAGATED, reason);

    return found != PROBLEM_REASON_COUNT && fail_on_names_reason(f, found) &&
           count_reasons(f, PROBLEM_NOT_PROPAGATED) < problem_reason_count(PROBLEM_NOT_PROPAGATED);
}

void fail_on_write(const struct fail_on *f, struct strbuf *out)
{
    size_t start = out->len;

    /* The severities include the higher ones: the lowest one stands for all. */
    for (unsigned i = SEVERITY_COUNT; i > 0; i--) {
        if (f->severities >> (i - 1) & 1) {
            write_name(out, start, severity_names[i - 1], NULL);
            break;
        }
    }
    for (unsigned i = 0; i < PROBLEM_COUNT; i++)
        write_problem(f, i, start, out);
    for (unsigned i = 0; i < NORMAL_CONDITION_COUNT; i++) {
        if (f->conditions >> i & 1 && !is_written_as_reason(f, i))
            write_name(out, start, normal_condition_names[i], NULL);
    }
    for (unsigned i = PLAN_FAILURE_FIRST_CONSEQUENCE; i < PLAN_FAILURE_COUNT; i++) {
        if (f->consequences >> i & 1)
            write_name(out, start, plan_failure_names[i], NULL);
    }
}

bool fail_on_equal(const struct fail_on *a, const struct fail_on *b)
{
    return memcmp(a->reasons, b->reasons, sizeof(a->reasons)) == 0 &&
           a->severities == b->severities && a->conditions == b->conditions &&
           a->consequences == b->consequences;
}

bool fail_on_is_empty(const struct fail_on *f)
{
    return fail_on_equal(f, &(struct fail_on){.severities = 0});
}

/* ---- commands ---- */

bool fail_on_accepted_by_check(const struct fail_on *f, struct error *err)
{
    for (unsigned i = PLAN_FAILURE_FIRST_CONSEQUENCE; i < PLAN_FAILURE_COUNT; i++) {
        if (f->consequences >> i & 1)
            return fail(err, "'%s' is a consequence of a change, which only 'plan' reports",
                        plan_failure_names[i]);
    }
    return true;
}

static bool is_plan_problem(enum problem_id problem)
{
    for (unsigned i = 0; i < PLAN_FAILURE_FIRST_CONSEQUENCE; i++) {
        if (plan_problems[i] == problem)
            return true;
    }
    return false;
}

bool fail_on_accepted_by_plan(const struct fail_on *f, struct error *err)
{
    for (unsigned i = 0; i < SEVERITY_COUNT; i++) {
        if (f->severities >> i & 1)
            return fail(err, "'plan' does not report problems by severity: name the problems");
    }
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        unsigned count = count_reasons(f, i);

        if (count > 0 && !is_plan_problem(i))
            return fail(err, "'plan' does not report '%s'", problem_names[i]);
        if (count > 0 && count < problem_reason_count(i))
            return fail(err, "'plan' reports '%s' only without a reason", problem_names[i]);
    }
    if (f->conditions)
        return fail(err, "'plan' reports '%s' only without a reason",
                    problem_names[PROBLEM_NOT_PROPAGATED]);
    return true;
}

unsigned fail_on_plan_failures(const struct fail_on *f)
{
    static const unsigned outcomes = 1U << PLAN_FAILURE_UNDETERMINED | 1U << PLAN_FAILURE_NOWHERE |
                                     1U << PLAN_FAILURE_REFUSED | 1U << PLAN_FAILURE_IGNORED;
    static const unsigned problems = (1U << PLAN_FAILURE_FIRST_CONSEQUENCE) - 1;
    unsigned failures = f->consequences;

    for (unsigned i = 0; i < PLAN_FAILURE_FIRST_CONSEQUENCE; i++)
        failures |= count_reasons(f, plan_problems[i]) > 0 ? 1U << i : 0;
    /* An effect that is not simulated may be the named one. */
    if (failures & (outcomes | problems))
        failures |= 1U << PLAN_FAILURE_NOT_SIMULATED;
    return failures;
}
