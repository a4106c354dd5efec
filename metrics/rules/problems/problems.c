/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problems.h"

#include "metrics/rules/problems/decision_flapping.h"
#include "metrics/rules/problems/problem_conditions.h"
#include "metrics/rules/problems/problem_hiding.h"
#include "metrics/rules/rule.h"

enum {
    OBSERVATION_MS = 10 * 60 * 1000, /* Longest time that an instance must be observed. */
    PENDING_GAP_MS = 60 * 1000,      /* A longer gap ends a pending instance. */
    UNREADABLE_RETRY_MS = 10 * 1000, /* Interval of looks at a subject that is not readable. */
};

/* One instance. */
struct instance {
    struct problem problem; /* First member: readers get a pointer to it. */
    struct judged *of;
    struct instance *next; /* Next instance of the subject. */
    int64_t wait_from_ms;  /* Start of the patience: since_ms, or the end of the hiding. */
    int64_t observed_ms;   /* Start of the observation. */
    int64_t gap_ms;        /* Time at which the condition of a pending instance ended; else 0. */
    bool holds;            /* The condition holds. */
    bool unknown;          /* An input of the condition is not readable. */
    bool found;            /* The first problems_run() found it: its opening does not count. */
    bool dead;             /* To be removed. */
    bool opened_before;    /* It was open before the observation began, or this is unknown. */
    struct problem_names names;
};

/* A subject with instances. */
struct judged {
    struct entry *entry; /* NULL: external. Pinned. */
    size_t slot;         /* Index in the subjects; unused if external. */
    struct external_subject external;
    struct condition_list reported; /* Conditions of an external subject. */
    bool held;                      /* The conditions are not known: problems_hold(). */
    struct instance *first;
    struct conflict_begins conflict_begins; /* Starts of the conflicts of a dependency. */
    uint32_t uid_hash;                      /* Of the entry's object; 0 if unknown. */
};

struct problems {
    struct store *store;
    struct problem_options options;
    struct judged **subjects; /* With an entry. Unordered. */
    size_t subject_count;
    size_t subject_capacity;
    struct map by_entry;  /* The subjects. */
    struct map externals; /* struct judged without an entry, by kind, namespace and name. */
    uint64_t seed;
    struct entry_list queue; /* Entries to evaluate, pinned; from `queue_first` on. */
    size_t queue_first;
    struct store_walk visit; /* Visit of all entries: at first, and after some were skipped. */
    bool visited;            /* The visit has ended. */
    bool skipped;            /* Entries were not evaluated, because they are not readable. */
    bool settled;            /* The first problems_run() has ended: changes are seen live. */
    bool causes_changed;     /* A problem that can hide others has opened or ended. */
    bool externals_changed;
    int64_t externals_due_ms;
    int64_t now_ms;   /* Time of the present problems_run(). */
    int64_t begun_ms; /* Time of the first one: its problems without a proven time begin then. */
    uint64_t version;
    uint64_t opened[PROBLEM_COUNT];
    uint64_t resolved[PROBLEM_COUNT];
    struct problem_history *history;
    struct condition_list conditions; /* Conditions of the present subject. */
};

/* ---- readers ---- */

enum problem_severity problem_severity(const struct problems *ps, enum problem_id problem)
{
    return (enum problem_severity)ps->options.settings.severity[problem];
}

uint64_t problems_version(const struct problems *ps)
{
    return ps->version;
}

uint64_t problems_opened_total(const struct problems *ps, enum problem_id problem)
{
    return ps->opened[problem];
}

uint64_t problems_resolved_total(const struct problems *ps, enum problem_id problem)
{
    return ps->resolved[problem];
}

static bool is_judged_entry(const void *item, const void *key)
{
    return ((const struct judged *)item)->entry == key;
}

static struct judged *find_subject(const struct problems *ps, const struct entry *entry)
{
    return entry->is_subject ? map_get(&ps->by_entry, map_hash_address(entry), entry) : NULL;
}

static uint64_t hash_external(const struct problems *ps, const struct external_subject *s)
{
    uint64_t hash = map_hash(s->kind, strlen(s->kind), ps->seed);

    hash = map_hash(s->api_version, strlen(s->api_version), hash);
    hash = map_hash(s->ns, strlen(s->ns), hash);
    return map_hash(s->name, strlen(s->name), hash);
}

static bool is_judged_external(const void *item, const void *key)
{
    const struct external_subject *a = &((const struct judged *)item)->external, *b = key;

    return strcmp(a->name, b->name) == 0 && strcmp(a->kind, b->kind) == 0 &&
           strcmp(a->ns, b->ns) == 0 && strcmp(a->api_version, b->api_version) == 0;
}

static struct judged *find_external(const struct problems *ps, const struct external_subject *s)
{
    return map_get(&ps->externals, hash_external(ps, s), s);
}

static const struct problem *first_problem(const struct judged *j)
{
    return j && j->first ? &j->first->problem : NULL;
}

const struct problem *problems_of(const struct problems *ps, const struct entry *subject)
{
    return first_problem(find_subject(ps, subject));
}

const struct problem *problems_next_of(const struct problem *p)
{
    const struct instance *next = ((const struct instance *)p)->next;

    return next ? &next->problem : NULL;
}

enum problem_shard problems_shard(const struct problems *ps)
{
    return ps ? ps->options.shard : SHARD_NONE;
}

/* Member clusters are judged by the templates of each shard. */
static bool is_left_to_another_shard(const struct problems *ps, const struct judged *j)
{
    return ps->options.shard == SHARD_WITHOUT_EMPTY_NAMESPACE && j->entry &&
           entry_class(j->entry) != CLASS_CLUSTER && !entry_ns(j->entry)[0];
}

const struct problem *problems_next(const struct problems *ps, struct problem_walk *walk)
{
    if (walk->at)
        walk->at = problems_next_of(walk->at);
    while (!walk->at) {
        const struct judged *j;

        if (!walk->in_externals && walk->position == ps->subject_count)
            *walk = (struct problem_walk){.in_externals = true};
        j = walk->in_externals ? map_next(&ps->externals, &walk->position)
                               : ps->subjects[walk->position++];
        if (!j)
            return NULL;
        walk->at = is_left_to_another_shard(ps, j) ? NULL : first_problem(j);
    }
    return walk->at;
}

int64_t problem_since_ms(const struct problems *ps, const struct problem *p)
{
    return ps->options.only_proven_times && p->since_seen ? 0 : p->since_ms;
}

const struct problem *problems_find_open(const struct problems *ps, const struct entry *subject,
                                         const char *external_name, enum problem_reason reason)
{
    enum problem_id problem = problem_reasons[reason].problem;
    struct external_subject external = {"", "ControlPlane", "", external_name};
    const struct problem *p =
        subject ? problems_of(ps, subject) : first_problem(find_external(ps, &external));

    for (; p; p = problems_next_of(p)) {
        if (problem_id(p) == problem && problem_counts(p) &&
            (p->reason == reason || !(problem_table[problem].flags & PROBLEM_BY_REASON)))
            return p;
    }
    return NULL;
}

/* ---- history ---- */

const struct problem_history *problems_history(const struct problems *ps)
{
    return ps->history;
}

static void count_in_history(const struct problems *ps, const struct instance *i,
                             enum problem_change change)
{
    if (!is_left_to_another_shard(ps, i->of))
        problem_history_count(ps->history, ps->now_ms, change,
                              problem_severity(ps, problem_id(&i->problem)));
}

/*
 * Returns true if the instance, which opens now, was open before the observation began, or if this
 * is unknown: the first problems_run() found its condition, and no object has its time.
 */
static bool was_open_before(const struct problems *ps, const struct instance *i)
{
    int64_t patience = ps->options.settings.patience_ms[problem_id(&i->problem)];

    return (i->found && i->problem.since_seen && i->problem.opened_ms == 0) ||
           i->wait_from_ms + patience < problem_history_begin_ms(ps->history);
}

static void keep_resolved(const struct problems *ps, const struct instance *i, bool deleted)
{
    if (is_left_to_another_shard(ps, i->of))
        return;
    problem_history_add(
        ps->history, ps->now_ms,
        &(struct resolution){.problem = &i->problem,
                             .names = i->names,
                             .severity = problem_severity(ps, problem_id(&i->problem)),
                             .opened_before = i->opened_before,
                             .deleted = deleted});
}

/* ---- subjects ---- */

static struct judged *add_subject(struct problems *ps, struct entry *entry)
{
    struct judged *j = xcalloc(1, sizeof(*j));

    *j = (struct judged){.entry = entry, .slot = ps->subject_count};
    store_pin(entry);
    if (ps->subject_count == ps->subject_capacity) {
        ps->subject_capacity = ps->subject_capacity ? 2 * ps->subject_capacity : 64;
        ps->subjects = xreallocarray(ps->subjects, ps->subject_capacity, sizeof(struct judged *));
    }
    ps->subjects[ps->subject_count++] = j;
    map_add(&ps->by_entry, map_hash_address(entry), j);
    entry->is_subject = true;
    return j;
}

static struct judged *add_external(struct problems *ps, const struct external_subject *s)
{
    struct judged *j = xcalloc(1, sizeof(*j));
    struct intern *strings = store_string_pool(ps->store);

    j->external =
        (struct external_subject){intern_add(strings, s->api_version), intern_add(strings, s->kind),
                                  intern_add(strings, s->ns), intern_add(strings, s->name)};
    map_add(&ps->externals, hash_external(ps, s), j);
    return j;
}

static void free_instance(const struct problems *ps, struct instance *i)
{
    problem_names_release(&i->names, store_string_pool(ps->store));
    free(i);
}

static void free_subject(struct problems *ps, struct judged *j)
{
    struct intern *strings = store_string_pool(ps->store);

    while (j->first) {
        struct instance *next = j->first->next;

        free_instance(ps, j->first);
        j->first = next;
    }
    if (j->entry) {
        j->entry->is_subject = false;
        store_unpin(ps->store, j->entry);
    } else {
        intern_drop(strings, j->external.api_version);
        intern_drop(strings, j->external.kind);
        intern_drop(strings, j->external.ns);
        intern_drop(strings, j->external.name);
    }
    condition_list_release(&j->reported);
    free(j);
}

/* Takes a subject with an entry out of the array. The last one takes its slot. */
static void take_subject(struct problems *ps, const struct judged *j)
{
    struct judged *last = ps->subjects[--ps->subject_count];

    ps->subjects[j->slot] = last;
    last->slot = j->slot;
    map_take(&ps->by_entry, map_hash_address(j->entry), j->entry);
}

/* Frees the subject if it has no data to remember. Returns true if so. */
static bool drop_subject_if_empty(struct problems *ps, struct judged *j)
{
    if (j->first || j->reported.count > 0 ||
        conflict_begins_matter(&j->conflict_begins, ps->now_ms))
        return false;
    if (j->entry)
        take_subject(ps, j);
    else
        map_take(&ps->externals, hash_external(ps, &j->external), &j->external);
    free_subject(ps, j);
    return true;
}

/* ---- life of one instance ---- */

static void note_cause_change(struct problems *ps, const struct instance *i)
{
    ps->causes_changed |= problem_can_hide(problem_id(&i->problem));
}

static void set_status(struct problems *ps, struct instance *i, enum problem_status status)
{
    bool counted = problem_counts(&i->problem);

    if (i->problem.status == status)
        return;
    i->problem.status = status;
    ps->version++;
    if (counted != problem_counts(&i->problem))
        note_cause_change(ps, i);
}

/* `deleted`: because the subject was deleted. */
static void end_instance(struct problems *ps, struct instance *i, bool deleted)
{
    i->dead = true;
    ps->version++;
    if (!problem_counts(&i->problem))
        return;
    ps->resolved[problem_id(&i->problem)] += !is_left_to_another_shard(ps, i->of);
    keep_resolved(ps, i, deleted);
    note_cause_change(ps, i);
}

/* Returns the time at which a pending instance opens if its condition keeps holding. */
static int64_t opens_at_ms(const struct problems *ps, const struct instance *i)
{
    int64_t patience = ps->options.settings.patience_ms[problem_id(&i->problem)];
    int64_t observed = i->observed_ms + (patience < OBSERVATION_MS ? patience : OBSERVATION_MS);
    int64_t waited = i->wait_from_ms + patience;

    if (ps->options.snapshot)
        return i->problem.since_seen ? ps->now_ms : waited;
    return waited > observed ? waited : observed;
}

static void open_if_due(struct problems *ps, struct instance *i)
{
    if (i->problem.status != PROBLEM_PENDING || ps->now_ms < opens_at_ms(ps, i))
        return;
    i->opened_before = was_open_before(ps, i);
    i->problem.opened_ms = ps->now_ms;
    set_status(ps, i, PROBLEM_OPEN);
    if (!i->found && !is_left_to_another_shard(ps, i->of))
        ps->opened[problem_id(&i->problem)]++;
    count_in_history(ps, i, i->opened_before ? PROBLEM_CHANGE_FOUND : PROBLEM_CHANGE_OPENED);
    problem_names_update(&i->names, store_string_pool(ps->store), &i->problem);
}

static void continue_instance(struct problems *ps, struct instance *i)
{
    i->gap_ms = 0;
    if (i->problem.status == PROBLEM_RESOLVING) {
        i->problem.ended_ms = 0;
        set_status(ps, i, PROBLEM_OPEN);
    }
    if (i->problem.status == PROBLEM_OPEN)
        problem_names_update(&i->names, store_string_pool(ps->store), &i->problem);
    open_if_due(ps, i);
}

/* Handles an instance without its condition; `gone`: the subject was deleted. */
static void lapse_instance(struct problems *ps, struct instance *i, bool gone)
{
    struct problem *p = &i->problem;

    if (p->status == PROBLEM_OPEN) {
        p->ended_ms = ps->now_ms;
        set_status(ps, i, PROBLEM_RESOLVING);
    }
    if (p->status == PROBLEM_RESOLVING) {
        if (gone || ps->now_ms >= p->ended_ms + ps->options.settings.resolve_delay_ms)
            end_instance(ps, i, gone);
        return;
    }
    if (i->gap_ms == 0)
        i->gap_ms = ps->now_ms;
    if (gone || ps->now_ms > i->gap_ms + PENDING_GAP_MS)
        end_instance(ps, i, gone);
}

/* Returns the next time at which the instance changes without a change of its condition. */
static int64_t instance_due_ms(const struct problems *ps, const struct instance *i)
{
    switch (i->problem.status) {
    case PROBLEM_RESOLVING:
        return i->problem.ended_ms + ps->options.settings.resolve_delay_ms;
    case PROBLEM_PENDING:
        return i->gap_ms ? i->gap_ms + PENDING_GAP_MS + 1 : opens_at_ms(ps, i);
    case PROBLEM_HIDDEN:
        return i->gap_ms ? i->gap_ms + PENDING_GAP_MS + 1 : INT64_MAX;
    case PROBLEM_OPEN:
    case PROBLEM_STATUS_COUNT:
        break;
    }
    return INT64_MAX;
}

/* Hides or shows an instance. After the end of the hiding, its patience begins anew. */
static void update_hiding(struct problems *ps, const struct rule_context *c, struct instance *i)
{
    struct problem *p = &i->problem;
    const struct problem *cause;

    if (i->dead || p->status == PROBLEM_RESOLVING || (i->gap_ms && p->status == PROBLEM_PENDING))
        return;
    cause = problem_find_cause(ps, c, p);
    if (cause != p->cause)
        ps->version++;
    p->cause = cause;
    if (cause) {
        if (p->status == PROBLEM_OPEN)
            count_in_history(ps, i, PROBLEM_CHANGE_WITHDRAWN);
        set_status(ps, i, PROBLEM_HIDDEN);
    } else if (p->status == PROBLEM_HIDDEN) {
        i->observed_ms = ps->now_ms;
        if (!ps->options.snapshot)
            i->wait_from_ms = ps->now_ms;
        set_status(ps, i, PROBLEM_PENDING);
        if (i->holds)
            open_if_due(ps, i);
    }
}

/* ---- evaluation of one subject ---- */

static struct instance *find_instance(struct judged *j, enum problem_reason reason)
{
    enum problem_id problem = problem_reasons[reason].problem;
    bool by_reason = problem_table[problem].flags & PROBLEM_BY_REASON;

    for (struct instance *i = j->first; i; i = i->next) {
        if (!i->dead && problem_id(&i->problem) == problem &&
            (!by_reason || i->problem.reason == reason))
            return i;
    }
    return NULL;
}

/*
 * Returns an instance of another problem of the same line whose condition has ended; NULL without
 * one, or if one of the problems is no warning. The template moves to this problem and keeps
 * `since`.
 */
static struct instance *find_moving_instance(const struct problems *ps, struct judged *j,
                                             enum problem_id problem)
{
    enum problem_line line = problem_table[problem].line;

    if (line == LINE_NONE || problem_severity(ps, problem) != SEVERITY_WARNING)
        return NULL;
    for (struct instance *i = j->first; i; i = i->next) {
        enum problem_id other = problem_id(&i->problem);

        if (!i->dead && !i->holds && !i->unknown && problem_table[other].line == line &&
            problem_severity(ps, other) == SEVERITY_WARNING)
            return i;
    }
    return NULL;
}

/* Makes a new instance. `live`: the subject was evaluated before without the condition. */
static struct instance *begin_instance(struct problems *ps, struct judged *j,
                                       const struct condition *condition, bool live)
{
    struct instance *i = xcalloc(1, sizeof(*i));
    int64_t proven = condition->since_ms;

    if (proven <= 0 || proven > ps->now_ms)
        proven = 0;
    i->problem = (struct problem){
        .subject = j->entry,
        .external = j->entry ? NULL : &j->external,
        .since_ms = proven && !live ? proven
                    : ps->settled   ? ps->now_ms
                                    : ps->begun_ms,
        .since_seen = !live && !proven,
        .reason = condition->reason,
        .status = PROBLEM_PENDING,
    };
    i->of = j;
    i->wait_from_ms = i->problem.since_ms;
    i->observed_ms = ps->now_ms;
    i->found = !ps->settled;
    i->next = j->first;
    j->first = i;
    ps->version++;
    return i;
}

/* Lets an instance of another problem go on with the problem of `reason`. */
static void move_instance(struct problems *ps, struct instance *i, enum problem_reason reason)
{
    if (problem_counts(&i->problem)) {
        ps->resolved[problem_id(&i->problem)]++;
        ps->opened[problem_reasons[reason].problem]++;
        keep_resolved(ps, i, false);
        note_cause_change(ps, i);
    }
    i->problem.reason = reason;
    if (problem_counts(&i->problem)) {
        count_in_history(ps, i, PROBLEM_CHANGE_OPENED);
        note_cause_change(ps, i);
    }
    ps->version++;
}

/* Assigns the conditions to instances: sets `holds` and `unknown`, adds and moves instances. */
static void assign_conditions(struct problems *ps, struct judged *j, bool live)
{
    const struct condition_list *list = &ps->conditions;

    for (struct instance *i = j->first; i; i = i->next)
        i->holds = i->unknown = false;
    for (size_t at = 0; at < list->count; at++) {
        struct instance *i = find_instance(j, list->items[at].reason);

        if (!i)
            continue;
        i->unknown = list->items[at].unknown;
        i->holds = !i->unknown;
        if (i->holds && i->problem.reason != list->items[at].reason) {
            i->problem.reason = list->items[at].reason;
            ps->version++;
        }
    }
    for (size_t at = 0; at < list->count; at++) {
        enum problem_reason reason = list->items[at].reason;
        struct instance *i;

        if (list->items[at].unknown || find_instance(j, reason))
            continue;
        i = find_moving_instance(ps, j, problem_reasons[reason].problem);
        if (i)
            move_instance(ps, i, reason);
        else
            i = begin_instance(ps, j, &list->items[at], live);
        i->holds = true;
    }
}

static void remove_dead_instances(const struct problems *ps, struct judged *j)
{
    for (struct instance **at = &j->first; *at;) {
        struct instance *i = *at;

        if (i->dead) {
            *at = i->next;
            free_instance(ps, i);
        } else {
            at = &i->next;
        }
    }
}

/* Updates all instances of a subject from ps->conditions; lowers *due_ms. */
static void update_subject(struct problems *ps, const struct rule_context *c, struct judged *j,
                           bool live, int64_t *due_ms)
{
    bool gone = j->entry && !entry_exists(j->entry);

    assign_conditions(ps, j, live);
    for (struct instance *i = j->first; i; i = i->next) {
        if (i->holds)
            continue_instance(ps, i);
        else if (!i->unknown)
            lapse_instance(ps, i, gone);
    }
    for (struct instance *i = j->first; i; i = i->next)
        update_hiding(ps, c, i);
    remove_dead_instances(ps, j);
    for (struct instance *i = j->first; i; i = i->next) {
        int64_t due = i->unknown ? INT64_MAX : instance_due_ms(ps, i);

        if (due < *due_ms)
            *due_ms = due;
    }
}

/*
 * Notes a conflict that begins while the subject is observed, and appends the condition of
 * conflicts that begin again and again to ps->conditions.
 */
static void add_conflict_flapping(struct problems *ps, struct judged *j, bool live, int64_t *due_ms)
{
    bool held = false, holds = false;

    for (const struct instance *i = j->first; i; i = i->next)
        held |= i->holds && problem_id(&i->problem) == PROBLEM_DEPENDENCY_CONFLICT;
    for (size_t i = 0; i < ps->conditions.count; i++)
        holds |=
            !ps->conditions.items[i].unknown &&
            problem_reasons[ps->conditions.items[i].reason].problem == PROBLEM_DEPENDENCY_CONFLICT;
    if (live && holds && !held)
        conflict_begins_note(&j->conflict_begins, ps->now_ms);
    if (conflict_begins_matter(&j->conflict_begins, ps->now_ms) &&
        j->conflict_begins.time_ms[0] + FLAPPING_WINDOW_MS < *due_ms)
        *due_ms = j->conflict_begins.time_ms[0] + FLAPPING_WINDOW_MS;
    conflict_flapping_condition(&j->conflict_begins, ps->now_ms, &ps->conditions, due_ms);
    condition_list_filter(&ps->conditions, &ps->options.settings, ps->options.snapshot);
}

static uint32_t uid_hash_of(const struct entry *entry)
{
    const struct template *t = entry_template(entry);
    const struct binding *b = entry_binding(entry);

    return t ? t->uid_hash : b ? b->own_uid_hash : 0;
}

/* Ends all instances of a subject: another object of its name has replaced the object. */
static void end_all_instances(struct problems *ps, struct judged *j)
{
    for (struct instance *i = j->first; i; i = i->next)
        end_instance(ps, i, true);
    remove_dead_instances(ps, j);
}

static bool is_unreadable(const struct problems *ps, const struct rule_context *c,
                          const struct entry *entry)
{
    const struct problem_options *o = &ps->options;

    return (entry_exists(entry) && incomplete_has_type(&c->incomplete, entry_type(entry))) ||
           (o->is_unreadable && o->is_unreadable(o->context, entry_type(entry)));
}

/*
 * Keeps the statuses of a subject that is not readable, until the next look. An open problem that
 * hid an instance may be gone.
 */
static void keep_subject(struct problems *ps, struct rule_context *c, struct judged *j)
{
    for (struct instance *i = j->first; i; i = i->next) {
        if (i->problem.status == PROBLEM_HIDDEN)
            i->problem.cause = problem_find_cause(ps, c, &i->problem);
    }
    graph_lower_timer(c->graph, j->entry, ps->now_ms + UNREADABLE_RETRY_MS);
}

static void evaluate_problems(struct problems *ps, struct rule_context *c, struct entry *entry)
{
    struct judged *j = find_subject(ps, entry);
    uint32_t uid_hash = uid_hash_of(entry);
    bool live = ps->settled && entry->judged && !ps->options.snapshot;
    int64_t due_ms = INT64_MAX;

    if (is_unreadable(ps, c, entry)) {
        if (j)
            keep_subject(ps, c, j);
        ps->skipped |= !j && entry_exists(entry);
        return;
    }
    if (j && uid_hash && j->uid_hash && uid_hash != j->uid_hash) {
        end_all_instances(ps, j);
        live = false;
    }
    ps->conditions.count = 0;
    problem_conditions(c, entry, &ps->conditions, &due_ms);
    condition_list_filter(&ps->conditions, &ps->options.settings, ps->options.snapshot);
    entry->judged = entry_exists(entry);
    if (!j && ps->conditions.count > 0)
        j = add_subject(ps, entry);
    if (j) {
        if (uid_hash)
            j->uid_hash = uid_hash;
        add_conflict_flapping(ps, j, live, &due_ms);
        update_subject(ps, c, j, live, &due_ms);
    }
    if (j && drop_subject_if_empty(ps, j) && !entry_exists(entry))
        graph_set_timer(c->graph, entry, INT64_MAX);
    else if (due_ms != INT64_MAX)
        graph_lower_timer(c->graph, entry, due_ms);
}

static void judge_entry(struct problems *ps, struct rule_context *c, struct entry *entry)
{
    uint64_t version = ps->version;

    evaluate_problems(ps, c, entry);
    if (ps->version != version && ps->options.judged)
        ps->options.judged(ps->options.judged_context, entry);
}

/* ---- external subjects ---- */

void problems_report(struct problems *ps, const struct external_subject *subject,
                     enum problem_reason reason, int64_t since_ms)
{
    struct condition fresh = {reason, since_ms, false};
    struct judged *j = find_external(ps, subject);
    struct condition *condition;

    if (!j)
        j = add_external(ps, subject);
    condition = condition_list_find(&j->reported, reason);
    if (condition && condition->reason == reason && condition->since_ms == since_ms)
        return;
    if (condition)
        *condition = fresh;
    else
        condition_list_add(&j->reported, fresh);
    ps->externals_changed = true;
}

void problems_hold(struct problems *ps, const struct external_subject *subject, bool held)
{
    struct judged *j = find_external(ps, subject);

    if (!j || j->held == held)
        return;
    j->held = held;
    ps->externals_changed = true;
}

void problems_withdraw(struct problems *ps, const struct external_subject *subject,
                       enum problem_id problem)
{
    struct judged *j = find_external(ps, subject);
    size_t kept = 0;

    if (!j)
        return;
    for (size_t i = 0; i < j->reported.count; i++) {
        if (problem_reasons[j->reported.items[i].reason].problem != problem)
            j->reported.items[kept++] = j->reported.items[i];
    }
    ps->externals_changed |= kept != j->reported.count;
    j->reported.count = kept;
}

static void judge_externals(struct problems *ps, const struct rule_context *c)
{
    size_t count = 0, at = 0;
    struct judged **all, *j;

    ps->externals_changed = false;
    ps->externals_due_ms = INT64_MAX;
    if (ps->externals.count == 0)
        return;
    all = xreallocarray(NULL, ps->externals.count, sizeof(struct judged *));
    while ((j = map_next(&ps->externals, &at)) != NULL)
        all[count++] = j;
    for (size_t i = 0; i < count; i++) {
        ps->conditions.count = 0;
        for (size_t k = 0; k < all[i]->reported.count; k++) {
            struct condition condition = all[i]->reported.items[k];

            condition.unknown = all[i]->held;
            condition_list_add(&ps->conditions, condition);
        }
        condition_list_filter(&ps->conditions, &ps->options.settings, ps->options.snapshot);
        update_subject(ps, c, all[i], false, &ps->externals_due_ms);
        drop_subject_if_empty(ps, all[i]);
    }
    free(all);
}

int64_t problems_deadline(const struct problems *ps)
{
    return ps->externals_changed || ps->queue.count > 0 ? 0 : ps->externals_due_ms;
}

/* ---- evaluation of all subjects ---- */

void problems_visit_skipped(struct problems *ps)
{
    if (!ps->skipped)
        return;
    ps->skipped = false;
    ps->visited = false;
    store_walk_stop(&ps->visit);
}

void problems_queue(struct problems *ps, struct entry *entry)
{
    if (!ps || entry->judging)
        return;
    entry->judging = 1;
    store_pin(entry);
    entry_list_add(&ps->queue, entry);
}

/* Queues all subjects with instances: an open problem that may hide some of them has changed. */
static void queue_all_subjects(struct problems *ps)
{
    ps->causes_changed = false;
    for (size_t i = 0; i < ps->subject_count; i++)
        problems_queue(ps, ps->subjects[i]->entry);
}

/* Returns the next entry to evaluate, still pinned; NULL without one. */
static struct entry *next_queued(struct problems *ps)
{
    struct entry *entry;

    if (ps->queue_first == ps->queue.count) {
        entry_list_release(&ps->queue);
        ps->queue_first = 0;
        return NULL;
    }
    entry = ps->queue.items[ps->queue_first++];
    entry->judging = 0;
    return entry;
}

/* Queues the entries of the visit. Returns true once all have been visited. */
static bool visit_all_entries(struct problems *ps, size_t *budget)
{
    for (; *budget > 0 && !ps->visited; (*budget)--) {
        struct entry *entry = store_walk_next(&ps->visit);

        if (entry)
            problems_queue(ps, entry);
        else
            ps->visited = true;
    }
    return ps->visited;
}

bool problems_run(struct problems *ps, struct rule_context *c, size_t budget)
{
    struct entry *entry;

    ps->now_ms = c->now_ms;
    ps->begun_ms = ps->begun_ms ? ps->begun_ms : c->now_ms;
    problem_history_begin(ps->history, ps->now_ms);
    if (!visit_all_entries(ps, &budget))
        return false;
    if (ps->externals_changed || ps->now_ms >= ps->externals_due_ms)
        judge_externals(ps, c);
    for (; budget > 0; budget--) {
        entry = next_queued(ps);
        if (!entry && ps->causes_changed)
            queue_all_subjects(ps);
        else if (!entry)
            break;
        else {
            judge_entry(ps, c, entry);
            store_unpin(ps->store, entry);
        }
    }
    if (ps->queue.count > 0 || ps->causes_changed)
        return false;
    ps->settled = true;
    return true;
}

void problems_restart_observation(struct problems *ps, int64_t now_ms)
{
    struct judged *j;

    for (size_t k = 0; k < ps->subject_count; k++) {
        for (struct instance *i = ps->subjects[k]->first; i; i = i->next)
            i->observed_ms = now_ms;
        problems_queue(ps, ps->subjects[k]->entry);
    }
    for (size_t at = 0; (j = map_next(&ps->externals, &at)) != NULL;) {
        for (struct instance *i = j->first; i; i = i->next)
            i->observed_ms = now_ms;
    }
}

/* ---- reload ---- */

/* Makes a copy of an instance for the same subject of another store. */
static void inherit_instance(struct problems *ps, struct judged *j, const struct instance *last)
{
    struct instance *i = xcalloc(1, sizeof(*i));

    *i = *last;
    i->of = j;
    i->next = j->first;
    i->problem.subject = j->entry;
    i->problem.external = j->entry ? NULL : &j->external;
    i->problem.cause = NULL;
    i->dead = false;
    i->names = problem_names_copy(&last->names, store_string_pool(ps->store));
    j->first = i;
    ps->version++;
}

/* Counts an instance that the reload drops. */
static void drop_instance(const struct problems *ps, const struct problems *last,
                          const struct instance *i)
{
    if (problem_counts(&i->problem))
        problem_history_count(ps->history, last->now_ms, PROBLEM_CHANGE_WITHDRAWN,
                              problem_severity(last, problem_id(&i->problem)));
}

/* Adds the subject of the same name; returns NULL if this store does not have it. */
static struct judged *inherit_names(struct problems *ps, const struct judged *last)
{
    struct identity id;
    struct entry *entry;

    if (!last->entry)
        return add_external(ps, &last->external);
    id = entry_identity(last->entry);
    entry = store_find(ps->store, &id);
    if (!entry)
        return NULL;
    entry->judged = last->entry->judged;
    return add_subject(ps, entry);
}

static void inherit_subject(struct problems *ps, const struct problems *from,
                            const struct judged *last)
{
    struct judged *j = inherit_names(ps, last);

    if (j) {
        j->conflict_begins = last->conflict_begins;
        j->uid_hash = last->uid_hash;
    }
    for (const struct instance *i = last->first; i; i = i->next) {
        if (j &&
            problem_severity(ps, problem_id(&i->problem)) != (enum problem_severity)SEVERITY_OFF)
            inherit_instance(ps, j, i);
        else
            drop_instance(ps, from, i);
    }
}

void problems_inherit(struct problems *ps, const struct problems *last)
{
    const struct judged *j;

    problem_history_copy(ps->history, last->history);
    for (size_t i = 0; i < last->subject_count; i++)
        inherit_subject(ps, last, last->subjects[i]);
    for (size_t at = 0; (j = map_next(&last->externals, &at)) != NULL;)
        inherit_subject(ps, last, j);
    memcpy(ps->opened, last->opened, sizeof(ps->opened));
    memcpy(ps->resolved, last->resolved, sizeof(ps->resolved));
    ps->causes_changed = true;
    ps->externals_changed = true;
}

/* ---- creation and release ---- */

struct problems *problems_new(struct store *store, const struct problem_options *options,
                              uint64_t seed)
{
    struct problems *ps = xcalloc(1, sizeof(*ps));

    ps->store = store;
    ps->options = *options;
    ps->seed = seed;
    ps->by_entry = MAP_INIT(is_judged_entry);
    ps->externals = MAP_INIT(is_judged_external);
    ps->visit = store_walk_begin(store, (1U << CLASS_COUNT) - 1);
    ps->externals_due_ms = INT64_MAX;
    ps->history = problem_history_new(options->history_limit);
    return ps;
}

void problems_free(struct problems *ps)
{
    struct entry *entry;
    struct judged *j;

    if (!ps)
        return;
    store_walk_stop(&ps->visit);
    while ((entry = next_queued(ps)) != NULL)
        store_unpin(ps->store, entry);
    for (size_t i = 0; i < ps->subject_count; i++)
        free_subject(ps, ps->subjects[i]);
    for (size_t at = 0; (j = map_next(&ps->externals, &at)) != NULL;)
        free_subject(ps, j);
    free(ps->subjects);
    map_release(&ps->by_entry);
    map_release(&ps->externals);
    problem_history_free(ps->history);
    condition_list_release(&ps->conditions);
    free(ps);
}
