/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/problems/problem_history.h"

#include "metrics/model/decode.h"

/* Counts of one interval. */
struct interval {
    uint32_t counts[PROBLEM_CHANGE_COUNT][SEVERITY_COUNT];
};

struct problem_history {
    struct interval intervals[PROBLEM_INTERVALS]; /* Ring by number of the interval. */
    int64_t begin_ms;                             /* Begin of the observation; 0 before it. */
    int64_t first;                                /* Numbers of the first interval with data ... */
    int64_t last;                                 /* ... and of the last one. */
    struct resolved_problem **resolved;           /* Ring of `limit` records. */
    size_t limit;
    uint64_t added;   /* Number of records so far: the next one has this number. */
    uint64_t dropped; /* The records with lower numbers are no longer kept. */
    size_t bytes;     /* Memory of the records. */
};

/* ---- intervals ---- */

/* Returns the number of the interval that contains the time. */
static int64_t interval_number(int64_t time_ms)
{
    return time_ms > 0 ? time_ms / PROBLEM_INTERVAL_MS : 0;
}

static size_t slot_of(int64_t number)
{
    return (size_t)(number % PROBLEM_INTERVALS);
}

void problem_history_begin(struct problem_history *h, int64_t now_ms)
{
    if (h->begin_ms)
        return;
    h->begin_ms = now_ms;
    h->first = h->last = interval_number(now_ms);
}

/* Makes a later interval the last one. */
static void move_forward(struct problem_history *h, int64_t number)
{
    int64_t oldest = number - PROBLEM_INTERVALS + 1;

    for (int64_t n = h->last + 1 > oldest ? h->last + 1 : oldest; n <= number; n++)
        h->intervals[slot_of(n)] = (struct interval){0};
    h->last = number;
    if (h->first < oldest)
        h->first = oldest;
}

void problem_history_count(struct problem_history *h, int64_t now_ms, enum problem_change change,
                           enum problem_severity severity)
{
    int64_t number = interval_number(now_ms);

    if (severity >= SEVERITY_COUNT)
        return;
    problem_history_begin(h, now_ms);
    if (number > h->last)
        move_forward(h, number);
    h->intervals[slot_of(h->last)].counts[change][severity]++;
}

bool problem_history_interval(const struct problem_history *h, int64_t now_ms, unsigned back,
                              struct problem_interval *out)
{
    int64_t present = interval_number(now_ms);
    int64_t number = (present > h->last ? present : h->last) - (int64_t)back;

    *out = (struct problem_interval){.begin_ms = number * PROBLEM_INTERVAL_MS};
    if (!h->begin_ms || back >= PROBLEM_INTERVALS || number < h->first || number < 0)
        return false;
    out->partial = out->begin_ms < h->begin_ms;
    if (number <= h->last)
        memcpy(out->counts, h->intervals[slot_of(number)].counts, sizeof(out->counts));
    return true;
}

int64_t problem_history_begin_ms(const struct problem_history *h)
{
    return h->begin_ms;
}

/* ---- names ---- */

static const char *intern_or_null(struct intern *strings, const char *text)
{
    return text ? intern_add(strings, text) : NULL;
}

static void drop_texts(const struct problem_names *names, struct intern *strings)
{
    intern_drop(strings, names->policy_kind);
    intern_drop(strings, names->policy_ns);
    intern_drop(strings, names->policy_name);
    intern_drop(strings, names->owner);
}

const struct problem_names *problem_names_copy(const struct problem_names *names,
                                               struct intern *strings)
{
    const struct problem_names *block;
    struct problem_names copy;
    bool added;

    if (!names)
        return NULL;
    copy = (struct problem_names){
        .policy_kind = intern_or_null(strings, names->policy_kind),
        .policy_ns = intern_or_null(strings, names->policy_ns),
        .policy_name = intern_or_null(strings, names->policy_name),
        .owner = intern_or_null(strings, names->owner),
    };
    block = intern_add_block(strings, &copy, sizeof(copy), &added);
    if (!added)
        drop_texts(&copy, strings);
    return block;
}

void problem_names_release(const struct problem_names *names, struct intern *strings)
{
    if (names && intern_has_one_reference(names))
        drop_texts(names, strings);
    intern_drop(strings, names);
}

void problem_names_update(struct problem *p, struct intern *strings)
{
    const struct entry *policy = problem_policy(p);
    const struct problem_names *last = p->names;
    struct problem_names fresh = {.owner = problem_owner(p)};

    if (policy) {
        fresh.policy_kind = entry_kind(policy);
        fresh.policy_ns = entry_ns(policy);
        fresh.policy_name = policy->name;
    }
    p->names = problem_names_copy(&fresh, strings);
    problem_names_release(last, strings);
}

/* ---- resolved instances ---- */

enum { TEXT_COUNT = 8 };

/* Stores the addresses of the texts of a record. */
static void list_texts(struct resolved_problem *r, const char **texts[TEXT_COUNT])
{
    texts[0] = &r->api_version;
    texts[1] = &r->kind;
    texts[2] = &r->ns;
    texts[3] = &r->name;
    texts[4] = &r->names.policy_kind;
    texts[5] = &r->names.policy_ns;
    texts[6] = &r->names.policy_name;
    texts[7] = &r->names.owner;
}

/* Returns a copy in one allocation, with copies of the texts. */
static struct resolved_problem *copy_record(const struct resolved_problem *r)
{
    struct resolved_problem given = *r, *copy;
    size_t bytes = sizeof(*copy);
    const char **texts[TEXT_COUNT];
    char *at;

    list_texts(&given, texts);
    for (size_t i = 0; i < TEXT_COUNT; i++)
        bytes += *texts[i] ? strlen(*texts[i]) + 1 : 0;
    copy = xmalloc(bytes);
    *copy = given;
    copy->bytes = bytes;
    at = (char *)(copy + 1);
    list_texts(copy, texts);
    for (size_t i = 0; i < TEXT_COUNT; i++) {
        size_t len = *texts[i] ? strlen(*texts[i]) + 1 : 0;

        if (len == 0)
            continue;
        memcpy(at, *texts[i], len);
        *texts[i] = at;
        at += len;
    }
    return copy;
}

static void drop_oldest(struct problem_history *h)
{
    struct resolved_problem **oldest = &h->resolved[h->dropped++ % h->limit];

    h->bytes -= (*oldest)->bytes;
    free(*oldest);
    *oldest = NULL;
}

static void keep_record(struct problem_history *h, const struct resolved_problem *r)
{
    struct resolved_problem *copy;

    if (h->limit == 0) {
        h->dropped = ++h->added;
        return;
    }
    if (!h->resolved)
        h->resolved = xcalloc(h->limit, sizeof(struct resolved_problem *));
    copy = copy_record(r);
    if (h->added - h->dropped == h->limit)
        drop_oldest(h);
    h->resolved[h->added++ % h->limit] = copy;
    h->bytes += copy->bytes;
    while (h->bytes > PROBLEM_RESOLVED_MAX_BYTES)
        drop_oldest(h);
}

void problem_history_add(struct problem_history *h, int64_t now_ms, const struct resolution *r)
{
    const struct problem *p = r->problem;
    struct resolved_problem record = {
        .names = p->subject && p->names ? *p->names : (struct problem_names){0},
        .api_version = problem_api_version(p),
        .kind = problem_subject_kind(p),
        .ns = problem_ns(p),
        .name = problem_name(p),
        .since_ms = p->since_ms,
        .opened_ms = r->opened_before ? 0 : p->opened_ms,
        .resolved_ms = now_ms,
        .class = p->subject ? entry_class(p->subject) : CLASS_COUNT,
        .reason = p->reason,
        .severity = r->severity,
        .since_seen = p->since_seen,
        .deleted = r->deleted,
    };

    problem_history_count(h, now_ms, PROBLEM_CHANGE_RESOLVED, r->severity);
    keep_record(h, &record);
}

const struct resolved_problem *problem_history_next(const struct problem_history *h,
                                                    uint64_t *below)
{
    uint64_t number = *below < h->added ? *below : h->added;

    if (number <= h->dropped)
        return NULL;
    *below = number - 1;
    return h->resolved[*below % h->limit];
}

size_t problem_history_count_kept(const struct problem_history *h)
{
    return (size_t)(h->added - h->dropped);
}

size_t problem_history_limit(const struct problem_history *h)
{
    return h->limit;
}

uint64_t problem_history_count_dropped(const struct problem_history *h)
{
    return h->dropped;
}

/* ---- creation, reload and release ---- */

struct problem_history *problem_history_new(size_t limit)
{
    struct problem_history *h = xcalloc(1, sizeof(*h));

    h->limit = limit < PROBLEM_RESOLVED_MAX ? limit : PROBLEM_RESOLVED_MAX;
    return h;
}

void problem_history_copy(struct problem_history *h, const struct problem_history *from)
{
    size_t limit = h->limit;

    *h = *from;
    h->limit = limit;
    h->resolved = NULL;
    h->bytes = 0;
    h->added = h->dropped = from->dropped;
    for (uint64_t n = from->dropped; n < from->added; n++)
        keep_record(h, from->resolved[n % from->limit]);
}

void problem_history_free(struct problem_history *h)
{
    if (!h)
        return;
    while (h->dropped < h->added)
        drop_oldest(h);
    free(h->resolved);
    free(h);
}
