/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_families.h"

#include "metrics/base/map.h"
#include "metrics/expose/problem_text.h"
#include "metrics/expose/registry.h"

#define PROBLEM_ROW(family_id, family_type, family_name, words, ...)                               \
    [family_id] = {.name = (family_name),                                                          \
                   .type = (family_type),                                                          \
                   .help = (words),                                                                \
                   .aggregation = AGGREGATE_PROBLEMS,                                              \
                   .remembers = true,                                                              \
                   __VA_ARGS__},

static const struct family_def families[] = {PROBLEM_FAMILIES(PROBLEM_ROW)};
const struct family_group problem_families = {families, ARRAY_LEN(families)};

enum {
    NAMESPACES_MAX = 100,      /* Namespaces with rows, for each reason. */
    NAMESPACE_ROWS_MAX = 2000, /* Rows by namespace. */
    FIRST_ROWS = 20,           /* Rows with names of each problem, before all other rows. */
    SINCE_ROWS_MAX = 1000,     /* Rows with names. */
    /*
     * Bytes for rows by namespace and rows with names. Together with the rows of 1,000 policies, a
     * page stays below 2 MB.
     */
    ROWS_MAX_BYTES = 400 * 1000,
    /* Bytes of a row without the values of its labels. */
    NAMESPACE_ROW_BYTES = 90,
    SINCE_ROW_BYTES = 200,
    GROUP_MAX_BYTES = 64 << 10,
};

/* ---- the first problems in the order of lists ---- */

/* Problem with its place in the order, which spares most comparisons a look at the problem. */
struct ranked {
    const struct problem *problem;
    int64_t since_ms; /* problem_since_ms(); INT64_MAX if unknown. */
    enum problem_severity severity;
};

/*
 * The first of many problems in the order of problem_compare(): a heap with the last of them at the
 * front. All zero is the empty heap.
 */
struct first_problems {
    struct ranked *items;
    size_t count;
    size_t capacity;
};

static int compare_ranked(const struct problems *ps, const struct ranked *a, const struct ranked *b)
{
    if (a->severity != b->severity)
        return a->severity < b->severity ? -1 : 1;
    if (a->since_ms != b->since_ms)
        return a->since_ms < b->since_ms ? -1 : 1;
    return problem_compare(ps, a->problem, b->problem);
}

/* Moves the problem at the end of the array to its place in the heap. */
static void sift_up(const struct problems *ps, struct first_problems *first)
{
    size_t at = first->count - 1;
    struct ranked moved = first->items[at];

    for (; at > 0 && compare_ranked(ps, &first->items[(at - 1) / 2], &moved) < 0; at = (at - 1) / 2)
        first->items[at] = first->items[(at - 1) / 2];
    first->items[at] = moved;
}

/* Replaces the front of the heap. */
static void replace_front(const struct problems *ps, struct first_problems *first,
                          struct ranked fresh)
{
    size_t at = 0;

    for (size_t below = 1; below < first->count; below = 2 * at + 1) {
        if (below + 1 < first->count &&
            compare_ranked(ps, &first->items[below], &first->items[below + 1]) < 0)
            below++;
        if (compare_ranked(ps, &fresh, &first->items[below]) >= 0)
            break;
        first->items[at] = first->items[below];
        at = below;
    }
    first->items[at] = fresh;
}

/* Adds a problem; then drops the last one if there are more than `limit`. */
static void add_limited(const struct problems *ps, struct first_problems *first, size_t limit,
                        struct ranked fresh)
{
    if (first->count == limit) {
        if (limit > 0 && compare_ranked(ps, &fresh, &first->items[0]) < 0)
            replace_front(ps, first, fresh);
        return;
    }
    if (first->count == first->capacity) {
        first->capacity = first->capacity ? 2 * first->capacity : 2;
        first->items = xreallocarray(first->items, first->capacity, sizeof(*first->items));
    }
    first->items[first->count++] = fresh;
    sift_up(ps, first);
}

/* Returns true if the heap, which all candidates were added to, has kept this candidate. */
static bool has_kept(const struct problems *ps, const struct first_problems *first,
                     const struct ranked *candidate)
{
    return first->count > 0 && compare_ranked(ps, candidate, &first->items[0]) <= 0;
}

/* ---- problems by namespace ---- */

/* Problems of one kind and reason in one namespace. */
struct reason_group {
    struct reason_group *next; /* Next reason of the same problem and namespace. */
    enum problem_reason reason;
    bool shown; /* The group has a row of its own. */
    size_t count;
    struct ranked oldest;
};

/* Problems of one kind in one namespace. */
struct namespace_group {
    struct namespace_group *next;
    enum problem_id id;
    const char *ns;
    struct reason_group *reasons;
    struct first_problems first; /* Candidates for rows with names. */
};

struct namespace_groups {
    struct map map;
    struct namespace_group *last; /* List of all groups, linked by `next`. */
    size_t limit;                 /* Maximal number of candidates of each group. */
};

/* Key of a look-up; each namespace has an address of its own (problem_ns). */
struct namespace_key {
    enum problem_id id;
    const char *ns;
};

static bool is_group_of(const void *item, const void *key)
{
    const struct namespace_group *group = item;
    const struct namespace_key *wanted = key;

    return group->ns == wanted->ns && group->id == wanted->id;
}

static struct namespace_group *find_or_add_group(struct namespace_groups *groups,
                                                 const struct problem *p)
{
    struct namespace_key key = {problem_id(p), problem_ns(p)};
    uint64_t hash = map_hash(&key.id, sizeof(key.id), map_hash_address(key.ns));
    struct namespace_group *group = map_get(&groups->map, hash, &key);

    if (group)
        return group;
    group = xcalloc(1, sizeof(*group));
    group->id = key.id;
    group->ns = key.ns;
    group->next = groups->last;
    groups->last = group;
    map_add(&groups->map, hash, group);
    return group;
}

static struct reason_group *find_or_add_reason(struct namespace_group *group,
                                               const struct ranked *p)
{
    struct reason_group *r = group->reasons;

    while (r && r->reason != p->problem->reason)
        r = r->next;
    if (r)
        return r;
    r = xcalloc(1, sizeof(*r));
    r->reason = p->problem->reason;
    r->oldest = *p;
    r->next = group->reasons;
    group->reasons = r;
    return r;
}

static void add_to_group(const struct problems *ps, struct namespace_groups *groups,
                         struct ranked p)
{
    struct namespace_group *group = find_or_add_group(groups, p.problem);
    struct reason_group *r = find_or_add_reason(group, &p);

    r->count++;
    if (compare_ranked(ps, &p, &r->oldest) < 0)
        r->oldest = p;
    add_limited(ps, &group->first, groups->limit, p);
}

static void release_groups(struct namespace_groups *groups)
{
    while (groups->last) {
        struct namespace_group *group = groups->last;

        groups->last = group->next;
        while (group->reasons) {
            struct reason_group *next = group->reasons->next;

            free(group->reasons);
            group->reasons = next;
        }
        free(group->first.items);
        free(group);
    }
    map_release(&groups->map);
}

/* ---- counts ---- */

/* Everything that the families show, from one visit of all problems. */
struct tally {
    const struct problems *problems;
    struct registry *registry;
    size_t counts[PROBLEM_COUNT];
    struct ranked oldest[PROBLEM_COUNT];         /* `problem` is NULL without a problem. */
    size_t hidden[PROBLEM_COUNT][PROBLEM_COUNT]; /* By problem and its cause. */
    struct namespace_groups groups;
    size_t bytes; /* Estimated bytes of rows by namespace and with names. */
};

static void count_problem(struct tally *t, const struct problem *p)
{
    enum problem_id id = problem_id(p);
    int64_t since_ms = problem_since_ms(t->problems, p);
    struct ranked ranked = {p, since_ms ? since_ms : INT64_MAX, problem_severity(t->problems, id)};

    if (p->status == PROBLEM_HIDDEN && p->cause)
        t->hidden[id][problem_id(p->cause)]++;
    if (!problem_counts(p))
        return;
    t->counts[id]++;
    if (!t->oldest[id].problem || compare_ranked(t->problems, &ranked, &t->oldest[id]) < 0)
        t->oldest[id] = ranked;
    add_to_group(t->problems, &t->groups, ranked);
}

static const char *severity_of(const struct tally *t, enum problem_id id)
{
    return severity_names[problem_severity(t->problems, id)];
}

static double seconds(int64_t ms)
{
    return (double)ms / 1000;
}

static void set_counts(struct tally *t)
{
    struct registry *r = t->registry;

    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        enum problem_id id = (enum problem_id)i;
        const char *name = problem_names[i], *severity;

        if (problem_severity(t->problems, id) == (enum problem_severity)SEVERITY_OFF)
            continue;
        severity = severity_of(t, id);
        *PROBLEM_VALUE(r, PROBLEM_FAMILY_OPEN, name, severity) = (double)t->counts[i];
        *PROBLEM_VALUE(r, PROBLEM_FAMILY_OPENED, name, severity) =
            (double)problems_opened_total(t->problems, id);
        *PROBLEM_VALUE(r, PROBLEM_FAMILY_RESOLVED, name, severity) =
            (double)problems_resolved_total(t->problems, id);
        if (t->oldest[i].problem)
            *PROBLEM_VALUE(r, PROBLEM_FAMILY_OLDEST, name, severity) =
                seconds(t->oldest[i].problem->since_ms);
        for (unsigned cause = 0; cause < PROBLEM_COUNT; cause++) {
            if (t->hidden[i][cause] > 0)
                *PROBLEM_VALUE(r, PROBLEM_FAMILY_HIDDEN, name, problem_names[cause]) =
                    (double)t->hidden[i][cause];
        }
    }
}

/* ---- rows by namespace ---- */

/*
 * Marks the groups that have rows of their own: for each reason the oldest NAMESPACES_MAX, of these
 * the first so that all rows are at most NAMESPACE_ROWS_MAX, with a row for the others of each
 * reason.
 */
static void select_namespaces(const struct tally *t)
{
    struct first_problems oldest[PROBLEM_REASON_COUNT] = {{0}}, all = {0};
    size_t reasons = 0;

    for (const struct namespace_group *g = t->groups.last; g; g = g->next) {
        for (struct reason_group *r = g->reasons; r; r = r->next)
            add_limited(t->problems, &oldest[r->reason], NAMESPACES_MAX, r->oldest);
    }
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++)
        reasons += oldest[i].count > 0;
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        for (size_t k = 0; k < oldest[i].count; k++)
            add_limited(t->problems, &all, NAMESPACE_ROWS_MAX - reasons, oldest[i].items[k]);
    }
    for (const struct namespace_group *g = t->groups.last; g; g = g->next) {
        for (struct reason_group *r = g->reasons; r; r = r->next)
            r->shown = has_kept(t->problems, &oldest[r->reason], &r->oldest) &&
                       has_kept(t->problems, &all, &r->oldest);
    }
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++)
        free(oldest[i].items);
    free(all.items);
}

static void set_namespace_row(struct tally *t, enum problem_reason reason, const char *ns,
                              size_t count)
{
    enum problem_id id = problem_reasons[reason].problem;
    const char *problem = problem_names[id], *name = problem_reasons[reason].name;

    /* Namespaces can have the same label value (registry_problem_value). */
    *PROBLEM_VALUE(t->registry, PROBLEM_FAMILY_BY_NAMESPACE, ns, problem, severity_of(t, id),
                   name) += (double)count;
    t->bytes += NAMESPACE_ROW_BYTES + strlen(ns) + strlen(problem) + strlen(name);
}

static void set_namespace_rows(struct tally *t)
{
    size_t others[PROBLEM_REASON_COUNT] = {0};
    size_t left_out = 0;

    select_namespaces(t);
    for (const struct namespace_group *g = t->groups.last; g; g = g->next) {
        for (const struct reason_group *r = g->reasons; r; r = r->next) {
            if (r->shown)
                set_namespace_row(t, r->reason, g->ns, r->count);
            else
                others[r->reason] += r->count;
            left_out += !r->shown;
        }
    }
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        if (others[i] > 0)
            set_namespace_row(t, (enum problem_reason)i, family_rest_value(LIMIT_BY_NAMESPACE),
                              others[i]);
    }
    REGISTRY_SET(t->registry, OWN_DETAIL_DROPPED, (double)left_out,
                 families[PROBLEM_FAMILY_BY_NAMESPACE].name);
}

/* ---- rows with names ---- */

static size_t value_bytes(const char *const *values, size_t count)
{
    size_t bytes = 0;

    for (size_t i = 0; i < count; i++)
        bytes += values[i] ? strlen(values[i]) : 0;
    return bytes;
}

/* Sets a row with names. Returns false, and sets none, if the rows become too long for the page. */
static bool set_since_row(struct tally *t, const struct problem *p)
{
    const struct entry *policy = problem_policy(p);
    const char *api_version = problem_api_version(p);
    CLEANUP(strbuf_release) struct strbuf group = STRBUF_INIT(GROUP_MAX_BYTES);

    strbuf_add(&group, api_version, api_group_len(api_version));

    const char *labels[] = {
        problem_names[problem_id(p)],
        severity_of(t, problem_id(p)),
        problem_reasons[p->reason].name,
        group.data,
        problem_subject_kind(p),
        problem_ns(p),
        problem_name(p),
        policy ? entry_kind(policy) : NULL,
        policy ? entry_ns(policy) : NULL,
        policy ? policy->name : NULL,
        problem_owner(p),
        actor_names[problem_actor(p)],
    };
    size_t bytes = SINCE_ROW_BYTES + value_bytes(labels, ARRAY_LEN(labels));
    bool fits = t->bytes + bytes <= ROWS_MAX_BYTES;

    if (fits) {
        double *value =
            registry_problem_value(t->registry, PROBLEM_FAMILY_SINCE, ARRAY_LEN(labels), labels);

        /* Subjects can have the same label values (registry_problem_value): the oldest counts. */
        if (*value == 0 || seconds(p->since_ms) < *value)
            *value = seconds(p->since_ms);
        t->bytes += bytes;
    }
    return fits;
}

static int compare_in_order(const void *a, const void *b, void *tally)
{
    return compare_ranked(((const struct tally *)tally)->problems, a, b);
}

/* Sets the rows of a list, in order. Returns the number of rows. */
static size_t set_since_list(struct tally *t, const struct first_problems *list)
{
    size_t count = 0;

    if (list->count > 1)
        qsort_r(list->items, list->count, sizeof(*list->items), compare_in_order, t);
    while (count < list->count && set_since_row(t, list->items[count].problem))
        count++;
    return count;
}

static void set_since_rows(struct tally *t)
{
    struct first_problems of_problem[PROBLEM_COUNT] = {{0}}, first = {0}, rest = {0};
    size_t open = 0, shown;

    for (const struct namespace_group *g = t->groups.last; g; g = g->next) {
        for (size_t i = 0; i < g->first.count; i++)
            add_limited(t->problems, &of_problem[g->id], FIRST_ROWS, g->first.items[i]);
    }
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        open += t->counts[i];
        for (size_t k = 0; k < of_problem[i].count; k++)
            add_limited(t->problems, &first, SIZE_MAX, of_problem[i].items[k]);
    }
    for (const struct namespace_group *g = t->groups.last; g; g = g->next) {
        for (size_t i = 0; i < g->first.count; i++) {
            if (!has_kept(t->problems, &of_problem[g->id], &g->first.items[i]))
                add_limited(t->problems, &rest, SINCE_ROWS_MAX - first.count, g->first.items[i]);
        }
    }
    shown = set_since_list(t, &first);
    if (shown == first.count)
        shown += set_since_list(t, &rest);
    REGISTRY_SET(t->registry, OWN_DETAIL_DROPPED, (double)(open - shown),
                 families[PROBLEM_FAMILY_SINCE].name);
    for (unsigned i = 0; i < PROBLEM_COUNT; i++)
        free(of_problem[i].items);
    free(first.items);
    free(rest.items);
}

_Static_assert(PROBLEM_COUNT *FIRST_ROWS <= SINCE_ROWS_MAX, "first rows of all problems fit");
_Static_assert((unsigned)PROBLEM_REASON_COUNT < NAMESPACE_ROWS_MAX, "each reason can have a row");

void problem_families_fill(struct registry *r, const struct engine *engine)
{
    const struct problems *ps = engine_problems(engine);
    struct problem_walk walk = {0};
    const struct problem *p;
    struct tally *t;
    size_t limit = registry_problem_limit(r);

    /* A decision can change policy and owner of a problem that stays the same. */
    if (!ps || !registry_begin_problems(r, problems_version(ps) + engine_evaluations(engine)))
        return;
    t = xcalloc(1, sizeof(*t));
    t->problems = ps;
    t->registry = r;
    t->groups = (struct namespace_groups){.map = MAP_INIT(is_group_of),
                                          .limit = limit < SINCE_ROWS_MAX ? limit : SINCE_ROWS_MAX};
    while ((p = problems_next(ps, &walk)) != NULL)
        count_problem(t, p);
    set_counts(t);
    set_namespace_rows(t);
    set_since_rows(t);
    release_groups(&t->groups);
    free(t);
}
