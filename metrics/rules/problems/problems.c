/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problems.h"

#include "metrics/rules/problems/problem_conditions.h"
#include "metrics/rules/problems/problem_hiding.h"
#include "metrics/rules/problems/problem_subjects.h"
#include "metrics/rules/rule.h"

enum {
    OBSERVATION_MS = 10 * 60 * 1000, /* Longest time that an instance must be observed. */
    PENDING_GAP_MS = 60 * 1000,      /* A longer gap ends a pending instance. */
    UNREADABLE_RETRY_MS = 10 * 1000, /* Interval of looks at a subject that is not readable. */
};

struct problems {
    struct store *store;
    struct problem_options options;
    struct problem_subjects subjects;
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

const struct problem *problems_of(const struct problems *ps, const struct entry *subject)
{
    const struct judged *j = problem_subjects_find(&ps->subjects, subject);

    return j ? judged_first(j) : NULL;
}

const struct problem *problems_next_of(const struct problem *p)
{
    return judged_next(p);
}

enum problem_shard problems_shard(const struct problems *ps)
{
    return ps ? ps->options.shard : SHARD_NONE;
}

/* Member clusters are judged by the templates of each shard. */
static bool is_left_to_another_shard(const struct problems *ps, const struct entry *subject)
{
    return ps->options.shard == SHARD_WITHOUT_EMPTY_NAMESPACE && subject &&
           entry_class(subject) != CLASS_CLUSTER && !entry_ns(subject)[0];
}

const struct problem *problems_next(const struct problems *ps, struct problem_walk *walk)
{
    if (walk->at)
        walk->at = problems_next_of(walk->at);
    while (!walk->at) {
        const struct handle_map *subjects =
            walk->in_externals ? &ps->subjects.externals : &ps->subjects.by_entry;
        const struct judged *j = handle_map_next(subjects, &walk->position);

        if (j)
            walk->at = is_left_to_another_shard(ps, judged_entry(&ps->subjects, j))
                           ? NULL
                           : judged_first(j);
        else if (walk->in_externals)
            return NULL;
        else
            *walk = (struct problem_walk){.in_externals = true};
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
    const struct external_judged *j =
        subject ? NULL : problem_subjects_find_external(&ps->subjects, &external);
    const struct problem *p = j ? judged_first(&j->judged) : NULL;

    for (p = subject ? problems_of(ps, subject) : p; p; p = problems_next_of(p)) {
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

static void count_in_history(const struct problems *ps, const struct problem *i,
                             enum problem_change change)
{
    if (!is_left_to_another_shard(ps, i->subject))
        problem_history_count(ps->history, ps->now_ms, change, problem_severity(ps, problem_id(i)));
}

/*
 * Returns true if the instance, which opens now, was open before the observation began, or if this
 * is unknown: the first problems_run() found its condition, and no object has its time.
 */
static bool was_open_before(const struct problems *ps, const struct problem *i)
{
    int64_t patience = ps->options.settings.patience_ms[problem_id(i)];

    return (i->found && i->since_seen && i->opened_ms == 0) ||
           i->wait_from_ms + patience < problem_history_begin_ms(ps->history);
}

static void keep_resolved(const struct problems *ps, const struct problem *i, bool deleted)
{
    if (is_left_to_another_shard(ps, i->subject))
        return;
    problem_history_add(ps->history, ps->now_ms,
                        &(struct resolution){.problem = i,
                                             .severity = problem_severity(ps, problem_id(i)),
                                             .opened_before = i->opened_before,
                                             .deleted = deleted});
}

/* ---- subjects ---- */

/* Frees the subject if it has no data to remember. Returns true if so. */
static bool drop_subject_if_empty(struct problems *ps, struct judged *j)
{
    const struct external_judged *e = judged_external(j);

    if (j->first || (e && e->reported.count > 0) ||
        conflict_begins_matter(judged_conflict_begins(j), ps->now_ms))
        return false;
    problem_subjects_remove(&ps->subjects, j);
    return true;
}

/* ---- life of one instance ---- */

static void note_cause_change(struct problems *ps, const struct problem *i)
{
    ps->causes_changed |= problem_can_hide(problem_id(i));
}

static void set_status(struct problems *ps, struct problem *i, enum problem_status status)
{
    bool counted = problem_counts(i);

    if (i->status == status)
        return;
    i->status = status;
    ps->version++;
    if (counted != problem_counts(i))
        note_cause_change(ps, i);
}

/* `deleted`: because the subject was deleted. */
static void end_instance(struct problems *ps, struct problem *i, bool deleted)
{
    i->dead = true;
    ps->version++;
    if (!problem_counts(i))
        return;
    ps->resolved[problem_id(i)] += !is_left_to_another_shard(ps, i->subject);
    keep_resolved(ps, i, deleted);
    note_cause_change(ps, i);
}

/* Returns the time at which a pending instance opens if its condition keeps holding. */
static int64_t opens_at_ms(const struct problems *ps, const struct problem *i)
{
    int64_t patience = ps->options.settings.patience_ms[problem_id(i)];
    int64_t observed = i->observed_ms + (patience < OBSERVATION_MS ? patience : OBSERVATION_MS);
    int64_t waited = i->wait_from_ms + patience;

    if (ps->options.snapshot)
        return i->since_seen ? ps->now_ms : waited;
    return waited > observed ? waited : observed;
}

static void update_names(const struct problems *ps, struct problem *i)
{
    if (i->subject)
        problem_names_update(i, store_string_pool(ps->store));
}

static void open_if_due(struct problems *ps, struct problem *i)
{
    if (i->status != PROBLEM_PENDING || ps->now_ms < opens_at_ms(ps, i))
        return;
    i->opened_before = was_open_before(ps, i);
    i->opened_ms = ps->now_ms;
    set_status(ps, i, PROBLEM_OPEN);
    if (!i->found && !is_left_to_another_shard(ps, i->subject))
        ps->opened[problem_id(i)]++;
    count_in_history(ps, i, i->opened_before ? PROBLEM_CHANGE_FOUND : PROBLEM_CHANGE_OPENED);
    update_names(ps, i);
}

static void continue_instance(struct problems *ps, struct problem *i)
{
    i->ended_ms = 0;
    if (i->status == PROBLEM_RESOLVING)
        set_status(ps, i, PROBLEM_OPEN);
    if (i->status == PROBLEM_OPEN)
        update_names(ps, i);
    open_if_due(ps, i);
}

/* Handles an instance without its condition; `gone`: the subject was deleted. */
static void lapse_instance(struct problems *ps, struct problem *i, bool gone)
{
    if (i->status == PROBLEM_OPEN) {
        i->ended_ms = ps->now_ms;
        set_status(ps, i, PROBLEM_RESOLVING);
    }
    if (i->status == PROBLEM_RESOLVING) {
        if (gone || ps->now_ms >= i->ended_ms + ps->options.settings.resolve_delay_ms)
            end_instance(ps, i, gone);
        return;
    }
    if (i->ended_ms == 0)
        i->ended_ms = ps->now_ms;
    if (gone || ps->now_ms > i->ended_ms + PENDING_GAP_MS)
        end_instance(ps, i, gone);
}

/* Returns the next time at which the instance changes without a change of its condition. */
static int64_t instance_due_ms(const struct problems *ps, const struct problem *i)
{
    switch (i->status) {
    case PROBLEM_RESOLVING:
        return i->ended_ms + ps->options.settings.resolve_delay_ms;
    case PROBLEM_PENDING:
        return i->ended_ms ? i->ended_ms + PENDING_GAP_MS + 1 : opens_at_ms(ps, i);
    case PROBLEM_HIDDEN:
        return i->ended_ms ? i->ended_ms + PENDING_GAP_MS + 1 : INT64_MAX;
    case PROBLEM_OPEN:
    case PROBLEM_STATUS_COUNT:
        break;
    }
    return INT64_MAX;
}

/* Hides or shows an instance. After the end of the hiding, its patience begins anew. */
static void update_hiding(struct problems *ps, const struct rule_context *c, struct problem *i)
{
    const struct problem *cause;

    if (i->dead || i->status == PROBLEM_RESOLVING || (i->ended_ms && i->status == PROBLEM_PENDING))
        return;
    cause = problem_find_cause(ps, c, i);
    if (cause != i->cause)
        ps->version++;
    i->cause = cause;
    if (cause) {
        if (i->status == PROBLEM_OPEN)
            count_in_history(ps, i, PROBLEM_CHANGE_WITHDRAWN);
        set_status(ps, i, PROBLEM_HIDDEN);
    } else if (i->status == PROBLEM_HIDDEN) {
        i->observed_ms = ps->now_ms;
        if (!ps->options.snapshot)
            i->wait_from_ms = ps->now_ms;
        set_status(ps, i, PROBLEM_PENDING);
        if (i->holds)
            open_if_due(ps, i);
    }
}

/* ---- evaluation of one subject ---- */

static struct problem *find_instance(struct judged *j, enum problem_reason reason)
{
    enum problem_id problem = problem_reasons[reason].problem;
    bool by_reason = problem_table[problem].flags & PROBLEM_BY_REASON;

    for (struct problem *i = judged_first(j); i; i = judged_next(i)) {
        if (!i->dead && problem_id(i) == problem && (!by_reason || i->reason == reason))
            return i;
    }
    return NULL;
}

/*
 * Returns an instance of another problem of the same line whose condition has ended; NULL without
 * one, or if one of the problems is no warning. The template moves to this problem and keeps
 * `since`.
 */
static struct problem *find_moving_instance(const struct problems *ps, struct judged *j,
                                            enum problem_id problem)
{
    enum problem_line line = problem_table[problem].line;

    if (line == LINE_NONE || problem_severity(ps, problem) != SEVERITY_WARNING)
        return NULL;
    for (struct problem *i = judged_first(j); i; i = judged_next(i)) {
        enum problem_id other = problem_id(i);

        if (!i->dead && !i->holds && !i->unknown && problem_table[other].line == line &&
            problem_severity(ps, other) == SEVERITY_WARNING)
            return i;
    }
    return NULL;
}

/* Makes a new instance. `live`: the subject was evaluated before without the condition. */
static struct problem *begin_instance(struct problems *ps, struct judged *j,
                                      const struct condition *condition, bool live)
{
    int64_t proven = condition->since_ms;
    int64_t since_ms = ps->settled ? ps->now_ms : ps->begun_ms;

    if (proven <= 0 || proven > ps->now_ms)
        proven = 0;
    if (proven && !live)
        since_ms = proven;
    ps->version++;
    return judged_add(&ps->subjects, j,
                      &(struct problem){.since_ms = since_ms,
                                        .since_seen = !live && !proven,
                                        .reason = condition->reason,
                                        .status = PROBLEM_PENDING,
                                        .found = !ps->settled,
                                        .wait_from_ms = since_ms,
                                        .observed_ms = ps->now_ms});
}

/* Lets an instance of another problem go on with the problem of `reason`. */
static void move_instance(struct problems *ps, struct problem *i, enum problem_reason reason)
{
    if (problem_counts(i)) {
        ps->resolved[problem_id(i)]++;
        ps->opened[problem_reasons[reason].problem]++;
        keep_resolved(ps, i, false);
        note_cause_change(ps, i);
    }
    i->reason = reason;
    if (problem_counts(i)) {
        count_in_history(ps, i, PROBLEM_CHANGE_OPENED);
        note_cause_change(ps, i);
    }
    ps->version++;
}

/* Assigns the conditions to instances: sets `holds` and `unknown`, adds and moves instances. */
static void assign_conditions(struct problems *ps, struct judged *j, bool live)
{
    const struct condition_list *list = &ps->conditions;

    for (struct problem *i = judged_first(j); i; i = judged_next(i))
        i->holds = i->unknown = false;
    for (size_t at = 0; at < list->count; at++) {
        struct problem *i = find_instance(j, list->items[at].reason);

        if (!i)
            continue;
        i->unknown = list->items[at].unknown;
        i->holds = !i->unknown;
        if (i->holds && i->reason != list->items[at].reason) {
            i->reason = list->items[at].reason;
            ps->version++;
        }
    }
    for (size_t at = 0; at < list->count; at++) {
        enum problem_reason reason = list->items[at].reason;
        struct problem *i;

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

/* Updates all instances of a subject from ps->conditions; lowers *due_ms. */
static void update_subject(struct problems *ps, const struct rule_context *c, struct judged *j,
                           bool live, int64_t *due_ms)
{
    bool gone = j->entry && !entry_exists(judged_entry(&ps->subjects, j));

    assign_conditions(ps, j, live);
    for (struct problem *i = judged_first(j); i; i = judged_next(i)) {
        if (i->holds)
            continue_instance(ps, i);
        else if (!i->unknown)
            lapse_instance(ps, i, gone);
    }
    for (struct problem *i = judged_first(j); i; i = judged_next(i))
        update_hiding(ps, c, i);
    judged_remove_dead(&ps->subjects, j);
    for (struct problem *i = judged_first(j); i; i = judged_next(i)) {
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
    struct conflict_begins begins = *judged_conflict_begins(j);
    bool held = false, holds = false;

    for (const struct problem *i = judged_first(j); i; i = judged_next(i))
        held |= i->holds && problem_id(i) == PROBLEM_DEPENDENCY_CONFLICT;
    for (size_t i = 0; i < ps->conditions.count; i++)
        holds |=
            !ps->conditions.items[i].unknown &&
            problem_reasons[ps->conditions.items[i].reason].problem == PROBLEM_DEPENDENCY_CONFLICT;
    if (live && holds && !held) {
        conflict_begins_note(&begins, ps->now_ms);
        judged_set_conflict_begins(&ps->subjects, j, &begins);
    }
    if (conflict_begins_matter(&begins, ps->now_ms) &&
        begins.time_ms[0] + FLAPPING_WINDOW_MS < *due_ms)
        *due_ms = begins.time_ms[0] + FLAPPING_WINDOW_MS;
    conflict_flapping_condition(&begins, ps->now_ms, &ps->conditions, due_ms);
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
    for (struct problem *i = judged_first(j); i; i = judged_next(i))
        end_instance(ps, i, true);
    judged_remove_dead(&ps->subjects, j);
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
    for (struct problem *i = judged_first(j); i; i = judged_next(i)) {
        if (i->status == PROBLEM_HIDDEN)
            i->cause = problem_find_cause(ps, c, i);
    }
    graph_lower_timer(c->graph, judged_entry(&ps->subjects, j), ps->now_ms + UNREADABLE_RETRY_MS);
}

static void evaluate_problems(struct problems *ps, struct rule_context *c, struct entry *entry)
{
    struct judged *j = problem_subjects_find(&ps->subjects, entry);
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
        j = problem_subjects_add(&ps->subjects, entry);
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
    struct external_judged *j = problem_subjects_find_external(&ps->subjects, subject);
    struct condition *condition;

    if (!j)
        j = problem_subjects_add_external(&ps->subjects, subject);
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
    struct external_judged *j = problem_subjects_find_external(&ps->subjects, subject);

    if (!j || j->held == held)
        return;
    j->held = held;
    ps->externals_changed = true;
}

void problems_withdraw(struct problems *ps, const struct external_subject *subject,
                       enum problem_id problem)
{
    struct external_judged *j = problem_subjects_find_external(&ps->subjects, subject);
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
    size_t count = 0;
    struct external_judged **all, *j;

    ps->externals_changed = false;
    ps->externals_due_ms = INT64_MAX;
    if (ps->subjects.externals.count == 0)
        return;
    all = xreallocarray(NULL, ps->subjects.externals.count, sizeof(struct external_judged *));
    for (uint64_t at = 0; (j = handle_map_next(&ps->subjects.externals, &at)) != NULL;)
        all[count++] = j;
    for (size_t i = 0; i < count; i++) {
        ps->conditions.count = 0;
        for (size_t k = 0; k < all[i]->reported.count; k++) {
            struct condition condition = all[i]->reported.items[k];

            condition.unknown = all[i]->held;
            condition_list_add(&ps->conditions, condition);
        }
        condition_list_filter(&ps->conditions, &ps->options.settings, ps->options.snapshot);
        update_subject(ps, c, &all[i]->judged, false, &ps->externals_due_ms);
        drop_subject_if_empty(ps, &all[i]->judged);
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
    const struct judged *j;

    ps->causes_changed = false;
    for (uint64_t at = 0; (j = handle_map_next(&ps->subjects.by_entry, &at)) != NULL;)
        problems_queue(ps, judged_entry(&ps->subjects, j));
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

static void restart_observation(const struct judged *j, int64_t now_ms)
{
    for (struct problem *i = judged_first(j); i; i = judged_next(i))
        i->observed_ms = now_ms;
}

void problems_restart_observation(struct problems *ps, int64_t now_ms)
{
    const struct judged *j;

    for (uint64_t at = 0; (j = handle_map_next(&ps->subjects.by_entry, &at)) != NULL;) {
        restart_observation(j, now_ms);
        problems_queue(ps, judged_entry(&ps->subjects, j));
    }
    for (uint64_t at = 0; (j = handle_map_next(&ps->subjects.externals, &at)) != NULL;)
        restart_observation(j, now_ms);
}

/* ---- reload ---- */

/* Counts an instance that the reload drops, or that another shard reports from now on. */
static void withdraw_instance(const struct problems *ps, const struct problems *last,
                              const struct problem *i)
{
    if (problem_counts(i) && !is_left_to_another_shard(last, i->subject))
        problem_history_count(ps->history, last->now_ms, PROBLEM_CHANGE_WITHDRAWN,
                              problem_severity(last, problem_id(i)));
}

/* Adds the subject of the same name; returns NULL if this store does not have it. */
static struct judged *inherit_names(struct problems *ps, const struct problems *from,
                                    const struct judged *last)
{
    const struct entry *old = judged_entry(&from->subjects, last);
    struct identity id;
    struct entry *entry;

    if (!old)
        return &problem_subjects_add_external(&ps->subjects,
                                              &((const struct external_judged *)last)->external)
                    ->judged;
    id = entry_identity(old);
    entry = store_find(ps->store, &id);
    if (!entry)
        return NULL;
    entry->judged = old->judged;
    return problem_subjects_add(&ps->subjects, entry);
}

static void inherit_subject(struct problems *ps, const struct problems *from,
                            const struct judged *last)
{
    struct judged *j = inherit_names(ps, from, last);

    if (j) {
        if (last->begins)
            judged_set_conflict_begins(&ps->subjects, j, judged_conflict_begins(last));
        j->uid_hash = last->uid_hash;
    }
    for (const struct problem *i = judged_first(last); i; i = judged_next(i)) {
        bool kept = j && problem_severity(ps, problem_id(i)) != (enum problem_severity)SEVERITY_OFF;

        if (kept) {
            judged_add(&ps->subjects, j, i);
            ps->version++;
        }
        if (!kept || is_left_to_another_shard(ps, i->subject))
            withdraw_instance(ps, from, i);
    }
}

void problems_inherit(struct problems *ps, const struct problems *last)
{
    const struct judged *j;

    problem_history_copy(ps->history, last->history);
    for (uint64_t at = 0; (j = handle_map_next(&last->subjects.by_entry, &at)) != NULL;)
        inherit_subject(ps, last, j);
    for (uint64_t at = 0; (j = handle_map_next(&last->subjects.externals, &at)) != NULL;)
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
    problem_subjects_init(&ps->subjects, store, seed);
    ps->visit = store_walk_begin(store, (1U << CLASS_COUNT) - 1);
    ps->externals_due_ms = INT64_MAX;
    ps->history = problem_history_new(options->history_limit);
    return ps;
}

void problems_free(struct problems *ps)
{
    struct entry *entry;

    if (!ps)
        return;
    store_walk_stop(&ps->visit);
    while ((entry = next_queued(ps)) != NULL)
        store_unpin(ps->store, entry);
    problem_subjects_release(&ps->subjects);
    problem_history_free(ps->history);
    condition_list_release(&ps->conditions);
    free(ps);
}
