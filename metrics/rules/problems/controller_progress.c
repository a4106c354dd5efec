/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/controller_progress.h"

#include "metrics/base/map.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/problems/control_plane_work.h"
#include "metrics/rules/problems/work_queue.h"

enum {
    SECOND_MS = 1000,
    MINUTE_MS = 60 * SECOND_MS,
    HOUR_MS = 60 * MINUTE_MS,

    /* Numbers of the contract. */
    RENEW_TIMEOUT_MS = 2 * MINUTE_MS,
    OLD_LEASE_MS = 24 * HOUR_MS,
    RESTARTS = 3, /* New holders within RESTARTS_MS. */
    RESTARTS_MS = HOUR_MS,
    REFUSED_QUIET_MS = 15 * MINUTE_MS,
    REFUSED_DUE_MS = HOUR_MS,
    REFUSED_TEMPLATES = 10,
    REFUSED_POLICIES = 3,
    REFUSED_NAMESPACES = 3,
    NEW_HOLDER_MS = 20 * MINUTE_MS,

    TICK_MS = MINUTE_MS,           /* Longest time between two evaluations while there is work. */
    OBSERVED_MS = 2 * TICK_MS,     /* Longest time that counts as observed between two calls. */
    LEASE_GAP_MS = 90 * SECOND_MS, /* Longest time between two reads of a Lease. */
    REFUSAL_LEAD_MS = MINUTE_MS,   /* An Event may come before the change that it is about. */
    REFUSED_SCAN_MS = 30 * SECOND_MS, /* Shortest time between two scans of all refused work. */
    VISITS = 500,                     /* Entries visited in one evaluation. */
};

/* Start of the clock: later than any age, so that the time of old work is not negative. */
static const int64_t CLOCK_START_MS = INT64_C(1) << 48;
/* Kubernetes has written no time before its first release: 2014-06-01. */
static const int64_t FIRST_TIME_MS = INT64_C(1401580800000);

/* Work about one entry: a template, or the binding of a dependency. */
struct due_work {
    struct entry *entry; /* Pinned. */
    int64_t due_ms;      /* By the clock of struct controller_progress. */
    int64_t refusal_ms;  /* Time in the last Event about a refusal; 0: not refused. */
    enum work_kind kind;
};

/* Writes of Karmada since the last call of advance(), which are not dated yet. */
struct fresh_writes {
    uint32_t processed; /* Work that was processed. */
    uint32_t unseen;    /* Part of `processed` that was never seen as due. */
};

struct lease_watch {
    char *holder;                     /* Last holder that was not empty; NULL without one. */
    int64_t acquire_ms;               /* Value of acquireTime at the last read. */
    int64_t renew_ms;                 /* Value of renewTime at the last read. */
    int64_t renewed_ms;               /* Time at which renew_time was first read. */
    int64_t read_wall_ms;             /* Time of the last read by the wall clock. */
    int64_t new_holders_ms[RESTARTS]; /* Times of the latest new holders; 0: no holder. */
    bool read;                        /* The Lease was read before. */
    bool readable;
    bool abandoned; /* Older than a day at the first read: counts as absent. */
};

struct component_state {
    struct lease_watch lease;
    int64_t exempt_until_ms; /* Rules 7 to 9 do not apply before. */
    int64_t processed_ms;    /* Last time that Karmada processed work. */
    int64_t since_ms;        /* Wall clock time at which a reason began to hold. */
    enum problem_reason reason;
    bool undecided; /* The reason that holds needs Events, which cannot be read. */
};

struct controller_progress {
    struct store *store;
    struct problems *problems;
    const struct rules_options *rules;
    const struct refusals *refusals;
    bool some_namespaces;
    bool refusals_unknown;

    int64_t wall_ms;  /* Time of the last call. */
    int64_t clock_ms; /* Observed time. */
    bool unreadable;

    struct map works;        /* struct due_work by entry and component. */
    size_t refused_count;    /* Refused work in `works`. */
    int64_t refused_scan_ms; /* Time of the last scan for rule 9. */
    bool refused_widely;     /* Result of the last scan for rule 9. */

    struct work_queue queues[WORK_COUNT];
    struct fresh_writes fresh[WORK_COUNT];
    struct component_state components[CONTROL_COUNT];
    struct store_walk visit; /* First visit of all entries. */
    bool visited;
    bool writes_inherited; /* The queues count the writes before the start already. */
};

/* Subject, problem and reasons of a component. */
static const struct component_row {
    struct external_subject subject;
    enum problem_id problem;
    enum problem_reason not_running;
    enum problem_reason restarting;
    enum problem_reason no_progress;
} component_rows[CONTROL_COUNT] = {
    [CONTROL_CONTROLLERS] = {{"", "ControlPlane", "", CONTROLLER_COMPONENT},
                             PROBLEM_CONTROLLERS_STUCK,
                             PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING,
                             PROBLEM_REASON_CONTROLLERS_STUCK_RESTARTING,
                             PROBLEM_REASON_CONTROLLERS_STUCK_NO_PROGRESS},
    [CONTROL_SCHEDULER] = {{"", "ControlPlane", "", SCHEDULER_COMPONENT},
                           PROBLEM_SCHEDULER_STUCK,
                           PROBLEM_REASON_SCHEDULER_STUCK_NOT_RUNNING,
                           PROBLEM_REASON_SCHEDULER_STUCK_RESTARTING,
                           PROBLEM_REASON_SCHEDULER_STUCK_NO_PROGRESS},
};

/* ---- clock ---- */

/* Returns true for a time that an object can have. */
static bool is_plausible(int64_t wall_ms)
{
    return wall_ms >= FIRST_TIME_MS;
}

/* Converts a time of an object, which must be plausible. A time in the future counts as now. */
static int64_t clock_of(const struct controller_progress *p, int64_t wall_ms)
{
    return wall_ms < p->wall_ms ? p->clock_ms - (p->wall_ms - wall_ms) : p->clock_ms;
}

/* Dates the writes since the last call: only now is their time known. */
static void date_writes(struct controller_progress *p)
{
    for (unsigned kind = 0; kind < WORK_COUNT; kind++) {
        struct fresh_writes *fresh = &p->fresh[kind];

        if (fresh->processed == 0)
            continue;
        for (; fresh->unseen > 0; fresh->unseen--)
            work_queue_add(&p->queues[kind], p->clock_ms, WORK_PROCESSED, p->clock_ms);
        work_queue_count_processed(&p->queues[kind], fresh->processed, p->clock_ms);
        p->components[component_of((enum work_kind)kind)].processed_ms = p->clock_ms;
        fresh->processed = 0;
    }
}

/*
 * Advances the clock. While there is work, a call is due each TICK_MS: a longer gap is a jump of
 * the wall clock or a suspended process, and does not count as observed.
 */
static void advance(struct controller_progress *p, int64_t wall_ms)
{
    int64_t gap_ms = wall_ms > p->wall_ms ? wall_ms - p->wall_ms : 0;

    p->wall_ms = wall_ms;
    if (p->works.count > 0 && gap_ms > OBSERVED_MS)
        gap_ms = OBSERVED_MS;
    if (!p->unreadable)
        p->clock_ms += gap_ms;
    date_writes(p);
}

/* ---- work ---- */

struct work_key {
    const struct entry *entry;
    enum control_component component;
};

static bool is_work_of(const void *item, const void *key)
{
    const struct due_work *w = item;
    const struct work_key *k = key;

    return w->entry == k->entry && component_of(w->kind) == k->component;
}

static uint64_t hash_work(const struct work_key *key)
{
    return map_hash_address((const char *)key->entry + key->component);
}

static struct due_work *find_work(const struct controller_progress *p, const struct entry *entry,
                                  enum control_component component)
{
    struct work_key key = {entry, component};

    return p->works.count > 0 ? map_get(&p->works, hash_work(&key), &key) : NULL;
}

static struct due_work *add_work(struct controller_progress *p, struct entry *entry,
                                 enum work_kind kind, int64_t due_ms)
{
    struct work_key key = {entry, component_of(kind)};
    struct due_work *w = xcalloc(1, sizeof(*w));

    w->entry = entry;
    w->due_ms = due_ms;
    w->kind = kind;
    store_pin(entry);
    map_add(&p->works, hash_work(&key), w);
    work_queue_add(&p->queues[kind], due_ms, WORK_WAITS, p->clock_ms);
    return w;
}

static void free_work(struct controller_progress *p, struct due_work *w)
{
    struct work_key key = {w->entry, component_of(w->kind)};

    p->refused_count -= w->refusal_ms != 0;
    map_take(&p->works, hash_work(&key), &key);
    store_unpin(p->store, w->entry);
    free(w);
}

static enum work_fate fate_of(const struct due_work *w)
{
    return w->refusal_ms != 0 ? WORK_REFUSED : WORK_WAITS;
}

/* Removes work that ended without Karmada: a user undid the change, or the object is gone. */
static void drop_work(struct controller_progress *p, struct due_work *w)
{
    work_queue_remove(&p->queues[w->kind], w->due_ms, fate_of(w));
    free_work(p, w);
}

/* Ends work that Karmada processed. */
static void finish_work(struct controller_progress *p, struct due_work *w)
{
    work_queue_move(&p->queues[w->kind], w->due_ms, fate_of(w), WORK_PROCESSED);
    p->fresh[w->kind].processed++;
    free_work(p, w);
}

/* Counts a write of Karmada about an entry that has no work of this kind. */
static void note_unseen(struct controller_progress *p, enum work_kind kind)
{
    p->fresh[kind].processed++;
    p->fresh[kind].unseen++;
}

/* ---- refusals ---- */

/* Marks work as refused by an Event of this time, which is not 0. */
static void mark_refused(struct controller_progress *p, struct due_work *w, int64_t event_ms)
{
    if (w->refusal_ms == 0) {
        work_queue_move(&p->queues[w->kind], w->due_ms, WORK_WAITS, WORK_REFUSED);
        p->refused_count++;
    }
    w->refusal_ms = event_ms;
}

/* Returns true if Karmada wrote the binding of a template at this time or later. */
static bool is_written_since(const struct entry *template, int64_t time_ms)
{
    const struct template_decision *d = template_decision(template);
    const struct binding *b = d && decision_binding(d) ? entry_binding(decision_binding(d)) : NULL;

    return b && b->write.time_s * INT64_C(1000) >= time_ms;
}

/*
 * Returns the time of the latest Event about a refusal of the template, as in the Event; 0 if there
 * is no Event, or Karmada has processed the template since.
 */
static int64_t find_refusal(const struct controller_progress *p, const struct entry *entry)
{
    int64_t time_ms =
        entry_class(entry) == CLASS_TEMPLATE ? refusals_latest_ms(p->refusals, entry) : 0;

    return time_ms != 0 && !is_written_since(entry, time_ms) ? time_ms : 0;
}

/* Marks work of the controllers as refused if an Event is about the change that made the work. */
static void note_refusal(struct controller_progress *p, struct due_work *w)
{
    int64_t event_ms = find_refusal(p, w->entry);
    int64_t time_ms = is_plausible(event_ms) ? clock_of(p, event_ms) : p->clock_ms;

    if (event_ms <= w->refusal_ms || time_ms + REFUSAL_LEAD_MS < w->due_ms)
        return;
    work_queue_note_refused(&p->queues[w->kind], time_ms);
    mark_refused(p, w, event_ms);
}

/* ---- work that decisions show ---- */

/*
 * Returns the time at which work became due. Once all entries have been visited, an old change
 * cannot have made the work, because it would have been seen then.
 */
static int64_t due_time(const struct controller_progress *p, const struct found_work *found)
{
    int64_t due_ms = is_plausible(found->made_ms) ? clock_of(p, found->made_ms) : p->clock_ms;
    bool old = p->clock_ms - due_ms > p->rules->grace_ms + REFUSAL_LEAD_MS;

    return p->visited && old ? p->clock_ms : due_ms;
}

static void add_found_work(struct controller_progress *p, struct entry *entry,
                           const struct found_work *found)
{
    enum work_kind kind = found->stuck ? WORK_TEMPLATES : found->kind;
    struct due_work *w;

    if (found->stuck && find_refusal(p, entry) == 0)
        return;
    w = add_work(p, entry, kind, due_time(p, found));
    if (component_of(kind) == CONTROL_CONTROLLERS)
        note_refusal(p, w);
    if (found->stuck && w->refusal_ms == 0)
        drop_work(p, w);
}

/* Adds work that goes on: it is due since `last`, and refused if `last` was. */
static void continue_work(struct controller_progress *p, struct entry *entry, enum work_kind kind,
                          const struct due_work *last)
{
    struct due_work *w = add_work(p, entry, kind, last->due_ms);

    if (last->refusal_ms != 0)
        mark_refused(p, w, last->refusal_ms);
}

/* Makes the work of one entry and component that which its decision shows. */
static void set_work(struct controller_progress *p, struct entry *entry,
                     enum control_component component, const struct found_work *found)
{
    struct due_work *w = find_work(p, entry, component);

    if (found->kind == WORK_COUNT && !found->stuck) {
        if (w)
            drop_work(p, w);
        return;
    }
    if (!w) {
        add_found_work(p, entry, found);
        return;
    }
    if (component == CONTROL_CONTROLLERS)
        note_refusal(p, w);
    if (found->stuck ? w->refusal_ms != 0 : w->kind == found->kind)
        return;
    /* The work goes on under another name, or waits for a reason that is no work. */
    struct due_work last = *w;
    drop_work(p, w);
    if (found->kind != WORK_COUNT)
        continue_work(p, entry, found->kind, &last);
}

/* ---- decisions ---- */

/* Removes everything about an entry without object. */
static void forget_entry(struct controller_progress *p, const struct entry *entry)
{
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        struct due_work *w = find_work(p, entry, (enum control_component)i);

        if (w)
            drop_work(p, w);
    }
}

static void note_template(struct controller_progress *p, struct entry *entry,
                          const struct template_decision *before,
                          const struct template_decision *after)
{
    struct found_work controllers = find_controller_work(p->rules, entry, after);
    struct found_work scheduler = find_scheduler_work(after);

    if (was_claimed(before, after)) {
        struct due_work *w = find_work(p, entry, CONTROL_CONTROLLERS);

        if (w)
            finish_work(p, w);
        else
            note_unseen(p, WORK_TEMPLATES);
    }
    set_work(p, entry, CONTROL_CONTROLLERS, &controllers);
    set_work(p, entry, CONTROL_SCHEDULER, &scheduler);
}

void controller_progress_note(struct controller_progress *p, struct entry *entry,
                              const void *before, const void *after, int64_t now_ms)
{
    enum object_class class = entry_class(entry);

    if (!p || (class != CLASS_TEMPLATE && class != CLASS_BINDING))
        return;
    advance(p, now_ms);
    if (!entry_exists(entry)) {
        /* The pins of the work keep the entry until the caller frees it. */
        store_pin(entry);
        forget_entry(p, entry);
        entry->pins--;
    } else if (after && class == CLASS_TEMPLATE) {
        note_template(p, entry, before, after);
    } else if (after) {
        const struct binding_decision *d = after;
        struct found_work found = find_dependency_work(binding_decision_dependency(d));

        set_work(p, entry, CONTROL_CONTROLLERS, &found);
    }
}

/* ---- writes ---- */

/* Ends the work about an entry; without work of this component, counts writes of these kinds. */
static void note_written(struct controller_progress *p, struct due_work *w, unsigned kinds)
{
    if (w) {
        kinds &= ~(1U << w->kind);
        finish_work(p, w);
    }
    for (unsigned kind = 0; kind < WORK_COUNT; kind++) {
        if (kinds & 1U << kind)
            note_unseen(p, (enum work_kind)kind);
    }
}

void controller_progress_binding_changed(struct controller_progress *p, const struct entry *entry,
                                         const struct binding *old)
{
    const struct binding *fresh = entry_binding(entry);
    const struct entry *template;
    struct due_work *controllers, *scheduler, *dependency;
    unsigned kinds;

    if (!p || !fresh)
        return;
    template = binding_template(p->store, fresh);
    controllers = template ? find_work(p, template, CONTROL_CONTROLLERS) : NULL;
    scheduler = template ? find_work(p, template, CONTROL_SCHEDULER) : NULL;
    dependency = find_work(p, entry, CONTROL_CONTROLLERS);
    if (was_written(old, fresh, &kinds)) {
        note_written(p, controllers ? controllers : dependency, kinds);
        if (controllers && dependency)
            finish_work(p, dependency);
    }
    if (was_scheduled(old, fresh))
        note_written(p, scheduler, 1U << WORK_SCHEDULING);
}

void controller_progress_other_shard(struct controller_progress *p,
                                     enum control_component component)
{
    for (unsigned kind = first_kind(component); kind < end_kind(component); kind++)
        p->fresh[kind].processed++;
}

/* ---- start ---- */

/*
 * Counts the last writes of a binding before the start as processed work: the work itself, and when
 * it became due, are not known.
 */
static void visit_binding(struct controller_progress *p, const struct binding *b)
{
    int64_t written_ms = b->write.time_s * INT64_C(1000);
    int64_t scheduled_ms = b->status.scheduled_s * INT64_C(1000);

    for (unsigned kind = first_kind(CONTROL_CONTROLLERS);
         is_plausible(written_ms) && kind < end_kind(CONTROL_CONTROLLERS); kind++)
        work_queue_add(&p->queues[kind], clock_of(p, written_ms), WORK_PROCESSED, p->clock_ms);
    if (is_plausible(scheduled_ms))
        work_queue_add(&p->queues[WORK_SCHEDULING], clock_of(p, scheduled_ms), WORK_PROCESSED,
                       p->clock_ms);
}

/* Visits entries as they were found at the start. Returns true once all were visited. */
static bool visit_entries(struct controller_progress *p)
{
    for (unsigned i = 0; i < VISITS && !p->visited; i++) {
        struct entry *entry = store_walk_next(&p->visit);

        p->visited = !entry;
        if (!entry || !entry_exists(entry))
            continue;
        if (entry_binding(entry) && !p->writes_inherited)
            visit_binding(p, entry_binding(entry));
        if (entry_decision(entry))
            controller_progress_note(p, entry, NULL, entry_decision(entry), p->wall_ms);
    }
    return p->visited;
}

/* ---- Leases ---- */

static void exempt(struct controller_progress *p, enum control_component component,
                   int64_t until_ms)
{
    struct component_state *c = &p->components[component];

    c->exempt_until_ms = later_of(c->exempt_until_ms, until_ms);
}

static bool is_new_holder(const struct lease_watch *l, const char *holder, int64_t acquire_ms)
{
    /* A component can restart under its name between two reads. */
    return !l->holder || strcmp(l->holder, holder) != 0 ||
           (is_plausible(l->acquire_ms) && acquire_ms > l->acquire_ms);
}

/*
 * Handles the holder of a Lease, unless it is the last one. It is new since acquireTime, but not
 * since before the last read: clocks may differ. Call it before the members of the Lease are set.
 */
static void note_holder(struct controller_progress *p, enum control_component component,
                        const char *holder, int64_t acquire_ms)
{
    struct lease_watch *l = &p->components[component].lease;
    int64_t since_ms = is_plausible(acquire_ms) ? clock_of(p, acquire_ms) : p->clock_ms;

    /* A component that stops empties the holder. */
    if (!*holder || !is_new_holder(l, holder, acquire_ms))
        return;
    if (l->holder) {
        since_ms = later_of(since_ms, clock_of(p, l->read_wall_ms));
        memmove(l->new_holders_ms + 1, l->new_holders_ms, (RESTARTS - 1) * sizeof(int64_t));
        l->new_holders_ms[0] = since_ms;
    }
    if (l->holder || is_plausible(acquire_ms))
        exempt(p, component, since_ms + NEW_HOLDER_MS);
    free(l->holder);
    l->holder = xstrdup(holder);
}

void controller_progress_lease(struct controller_progress *p, enum control_component component,
                               const char *holder, int64_t renew_ms, int64_t acquire_ms,
                               int64_t now_ms)
{
    struct lease_watch *l = &p->components[component].lease;
    int64_t gap_ms = now_ms - l->read_wall_ms;
    bool renewed = l->read && renew_ms != l->renew_ms;

    advance(p, now_ms);
    if (!l->read)
        l->abandoned = !is_plausible(renew_ms) || now_ms - renew_ms > OLD_LEASE_MS;
    else if (renewed)
        l->abandoned = false;
    if (!l->read || renewed || gap_ms < 0 || gap_ms > LEASE_GAP_MS)
        l->renewed_ms = p->clock_ms;
    note_holder(p, component, holder, acquire_ms);
    l->renew_ms = renew_ms;
    l->acquire_ms = acquire_ms;
    l->read_wall_ms = now_ms;
    l->read = l->readable = true;
}

void controller_progress_lease_absent(struct controller_progress *p,
                                      enum control_component component)
{
    p->components[component].lease.readable = false;
}

static bool is_lease_known(const struct controller_progress *p, const struct lease_watch *l)
{
    return l->readable && !l->abandoned && p->wall_ms - l->read_wall_ms <= LEASE_GAP_MS;
}

void controller_progress_set_readable(struct controller_progress *p, bool readable, int64_t now_ms)
{
    advance(p, now_ms);
    p->unreadable = !readable;
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        problems_hold(p->problems, &component_rows[i].subject,
                      !readable || p->components[i].undecided);
}

void controller_progress_set_refusals_known(struct controller_progress *p, bool known)
{
    p->refusals_unknown = !known;
}

void controller_progress_restored(struct controller_progress *p, int64_t now_ms)
{
    advance(p, now_ms);
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        exempt(p, (enum control_component)i, p->clock_ms + NEW_HOLDER_MS);
    for (unsigned kind = 0; kind < WORK_COUNT; kind++)
        work_queue_restart(&p->queues[kind], p->clock_ms);
}

/* ---- rules ---- */

/* Adds a pointer to a set of at most `max` elements. */
static void add_distinct(const void **set, unsigned *count, unsigned max, const void *item)
{
    for (unsigned i = 0; i < *count; i++) {
        if (set[i] == item)
            return;
    }
    if (*count < max)
        set[(*count)++] = item;
}

/* Returns true if enough templates that became due within the last hour were refused. */
static bool scan_refused(const struct controller_progress *p)
{
    const void *policies[REFUSED_POLICIES], *namespaces[REFUSED_NAMESPACES];
    unsigned templates = 0, policy_count = 0, namespace_count = 0;
    const struct due_work *w;

    for (size_t at = 0; (w = map_next(&p->works, &at)) != NULL;) {
        const struct template_decision *d = w->refusal_ms != 0 ? template_decision(w->entry) : NULL;

        if (!d || !decision_governing(d) || p->clock_ms - w->due_ms > REFUSED_DUE_MS)
            continue;
        templates++;
        add_distinct(policies, &policy_count, REFUSED_POLICIES, decision_governing(d));
        add_distinct(namespaces, &namespace_count, REFUSED_NAMESPACES, entry_ns(w->entry));
        if (templates >= REFUSED_TEMPLATES && policy_count == REFUSED_POLICIES &&
            namespace_count == REFUSED_NAMESPACES)
            return true;
    }
    return false;
}

/* Rule 9. */
static bool is_all_refused(struct controller_progress *p, struct due_clock *due)
{
    if (p->refused_count < REFUSED_TEMPLATES)
        return false;
    if (!has_passed(due, p->components[CONTROL_CONTROLLERS].processed_ms, REFUSED_QUIET_MS))
        return false;
    if (has_passed(due, p->refused_scan_ms, REFUSED_SCAN_MS)) {
        p->refused_scan_ms = p->clock_ms;
        p->refused_widely = scan_refused(p);
    }
    return p->refused_widely;
}

/* Returns the first reason of rules 7 to 9; PROBLEM_REASON_COUNT without one. */
static enum problem_reason progress_reason(struct controller_progress *p,
                                           enum control_component component, struct due_clock *due)
{
    if (p->some_namespaces || !has_passed(due, p->components[component].exempt_until_ms, 0))
        return PROBLEM_REASON_COUNT;
    for (unsigned kind = first_kind(component); kind < end_kind(component); kind++) {
        if (work_queue_stands_still(&p->queues[kind], due))
            return component_rows[component].no_progress;
    }
    if (component == CONTROL_SCHEDULER)
        return PROBLEM_REASON_COUNT;
    for (unsigned kind = first_kind(component); kind < end_kind(component); kind++) {
        if (work_queue_is_too_slow(&p->queues[kind], due))
            return PROBLEM_REASON_CONTROLLERS_STUCK_TOO_SLOW;
    }
    return is_all_refused(p, due) ? PROBLEM_REASON_CONTROLLERS_STUCK_ALL_REFUSED
                                  : PROBLEM_REASON_COUNT;
}

/* Returns the first reason of all rules; PROBLEM_REASON_COUNT without one. */
static enum problem_reason judge(struct controller_progress *p, enum control_component component,
                                 struct due_clock *due)
{
    const struct lease_watch *l = &p->components[component].lease;

    /* The reason ends if the Lease is read no more. */
    if (is_lease_known(p, l))
        due->next_ms = earlier_of(due->next_ms,
                                  p->clock_ms + LEASE_GAP_MS + 1 - (p->wall_ms - l->read_wall_ms));
    if (is_lease_known(p, l) && has_passed(due, l->renewed_ms, RENEW_TIMEOUT_MS))
        return component_rows[component].not_running;
    if (is_lease_known(p, l) && l->new_holders_ms[RESTARTS - 1] > 0 &&
        !has_passed(due, l->new_holders_ms[RESTARTS - 1], RESTARTS_MS) &&
        controller_progress_backlog(p, component) > 0)
        return component_rows[component].restarting;
    return progress_reason(p, component, due);
}

/* Returns true if the reason might not hold with Events: refused templates are no backlog. */
static bool needs_refusals(enum problem_reason reason)
{
    return reason != PROBLEM_REASON_COUNT &&
           problem_reasons[reason].problem == PROBLEM_CONTROLLERS_STUCK &&
           reason != PROBLEM_REASON_CONTROLLERS_STUCK_NOT_RUNNING;
}

static void publish(struct controller_progress *p, enum control_component component,
                    enum problem_reason reason)
{
    const struct component_row *row = &component_rows[component];
    struct component_state *c = &p->components[component];
    bool undecided = p->refusals_unknown && needs_refusals(reason);

    /* All reasons share one instance, which keeps its status. */
    if (undecided != c->undecided)
        problems_hold(p->problems, &row->subject, undecided);
    c->undecided = undecided;
    if (undecided || reason == c->reason)
        return;
    if (c->reason == PROBLEM_REASON_COUNT)
        c->since_ms = p->wall_ms;
    c->reason = reason;
    if (reason == PROBLEM_REASON_COUNT)
        problems_withdraw(p->problems, &row->subject, row->problem);
    else
        problems_report(p->problems, &row->subject, reason, c->since_ms);
}

void controller_progress_evaluate(struct controller_progress *p, int64_t now_ms, int64_t *due_ms)
{
    struct due_clock due;

    advance(p, now_ms);
    if (!visit_entries(p)) {
        *due_ms = earlier_of(*due_ms, now_ms);
        return;
    }
    date_writes(p);
    if (p->unreadable)
        return;
    due = (struct due_clock){p->clock_ms, INT64_MAX};
    if (p->works.count > 0)
        due.next_ms = p->clock_ms + TICK_MS;
    for (unsigned kind = 0; kind < WORK_COUNT; kind++)
        work_queue_update(&p->queues[kind], &due);
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        enum control_component component = (enum control_component)i;

        publish(p, component, judge(p, component, &due));
    }
    if (due.next_ms != INT64_MAX)
        *due_ms = earlier_of(*due_ms, now_ms + (due.next_ms - p->clock_ms));
}

/* ---- results ---- */

enum problem_reason controller_progress_reason(const struct controller_progress *p,
                                               enum control_component component)
{
    return p->components[component].reason;
}

bool controller_progress_is_refused(const struct controller_progress *p,
                                    const struct entry *template)
{
    const struct due_work *w = find_work(p, template, CONTROL_CONTROLLERS);

    return w && w->refusal_ms != 0;
}

uint64_t controller_progress_backlog(const struct controller_progress *p,
                                     enum control_component component)
{
    uint64_t count = 0;

    for (unsigned kind = first_kind(component); kind < end_kind(component); kind++)
        count += p->queues[kind].backlog;
    return count;
}

/* ---- creation, reload and release ---- */

struct controller_progress *
controller_progress_new(struct store *store, struct problems *problems,
                        const struct controller_progress_options *options, int64_t now_ms)
{
    struct controller_progress *p = xcalloc(1, sizeof(*p));

    p->store = store;
    p->problems = problems;
    p->rules = options->rules;
    p->refusals = options->refusals;
    p->some_namespaces = options->some_namespaces;
    p->wall_ms = now_ms;
    p->clock_ms = CLOCK_START_MS;
    p->works = MAP_INIT(is_work_of);
    p->visit = store_walk_begin(store, 1U << CLASS_TEMPLATE | 1U << CLASS_BINDING);
    for (unsigned kind = 0; kind < WORK_COUNT; kind++)
        work_queue_init(&p->queues[kind], p->clock_ms);
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        p->components[i].processed_ms = p->clock_ms;
        p->components[i].reason = PROBLEM_REASON_COUNT;
    }
    return p;
}

static void inherit_component(struct component_state *c, const struct component_state *last)
{
    *c = *last;
    c->lease.holder = last->lease.holder ? xstrdup(last->lease.holder) : NULL;
}

void controller_progress_inherit(struct controller_progress *p,
                                 const struct controller_progress *last)
{
    const struct due_work *w;

    p->wall_ms = last->wall_ms;
    p->clock_ms = last->clock_ms;
    p->unreadable = last->unreadable;
    p->refusals_unknown = last->refusals_unknown;
    p->writes_inherited = last->visited || last->writes_inherited;
    for (unsigned kind = 0; kind < WORK_COUNT; kind++)
        work_queue_inherit(&p->queues[kind], &last->queues[kind]);
    for (unsigned i = 0; i < CONTROL_COUNT; i++) {
        const struct component_state *c = &p->components[i];

        inherit_component(&p->components[i], &last->components[i]);
        if (c->reason != PROBLEM_REASON_COUNT)
            problems_report(p->problems, &component_rows[i].subject, c->reason, c->since_ms);
        problems_hold(p->problems, &component_rows[i].subject, p->unreadable || c->undecided);
    }
    for (size_t at = 0; (w = map_next(&last->works, &at)) != NULL;) {
        const struct identity id = entry_identity(w->entry);
        struct entry *entry = store_find(p->store, &id);

        if (entry)
            continue_work(p, entry, w->kind, w);
    }
}

void controller_progress_free(struct controller_progress *p)
{
    struct due_work *w;

    if (!p)
        return;
    store_walk_stop(&p->visit);
    for (size_t at = 0; (w = map_next(&p->works, &at)) != NULL;) {
        store_unpin(p->store, w->entry);
        free(w);
    }
    map_release(&p->works);
    for (unsigned kind = 0; kind < WORK_COUNT; kind++)
        work_queue_release(&p->queues[kind]);
    for (unsigned i = 0; i < CONTROL_COUNT; i++)
        free(p->components[i].lease.holder);
    free(p);
}
