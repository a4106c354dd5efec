/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/list_rows.h"

#include <strings.h>

#include "metrics/base/number.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/policy_names.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/policy_versions.h"

/* ---- one row ---- */

static void pin(struct entry *entry)
{
    if (entry)
        store_pin(entry);
}

static void unpin(struct store *store, struct entry *entry)
{
    if (entry)
        store_unpin(store, entry);
}

void row_init(struct row *row, struct entry *template, const struct engine *engine)
{
    const struct template_decision *d = template_decision(template);
    const char *owner = template_owner(entry_template(template));
    const char *writer = state_writer_of_template(template).by;
    struct since since = template_since(d);

    *row = (struct row){
        .template = template,
        .policy = d->state == STATE_IGNORED ? NULL : decision_winner(d),
        .claimed = decision_claimed(d),
        .changed_by = writer ? intern_ref(writer) : NULL,
        .owner = owner ? intern_ref(owner) : NULL,
        .since_ms = since.time_ms,
        .version = decision_version(d) ? decision_version(d)->number : 0,
        .behind = decision_version(d) ? policy_version_count_later(decision_version(d)) : -1,
        .clusters = d->target_count,
        .state = d->state,
        .reason = (uint8_t)d->reason,
        .phase = d->phase,
        .stage = (uint8_t)d->stages.at.stage,
        .stage_reason = (uint8_t)d->stages.at.reason,
        .actor = (uint8_t)template_actor(engine, template),
        .since_seen = since.seen,
        .claimed_exists = decision_claimed(d) && entry_exists(decision_claimed(d)),
        .distinct = entry_distinct_version(template) != NULL,
        .worst = worst_problem_of_template(engine_problems(engine), template),
    };
    pin(row->template);
    pin(row->policy);
    pin(row->claimed);
}

void row_release(struct row *row, struct store *store)
{
    intern_drop(store_string_pool(store), row->changed_by);
    intern_drop(store_string_pool(store), row->owner);
    unpin(store, row->policy);
    unpin(store, row->claimed);
    unpin(store, row->template);
}

bool row_equal(const struct row *a, const struct row *b)
{
    return a->template == b->template && a->policy == b->policy && a->claimed == b->claimed &&
           a->changed_by == b->changed_by && a->owner == b->owner && a->since_ms == b->since_ms &&
           a->version == b->version && a->behind == b->behind && a->clusters == b->clusters &&
           a->state == b->state && a->reason == b->reason && a->phase == b->phase &&
           a->stage == b->stage && a->stage_reason == b->stage_reason && a->actor == b->actor &&
           a->since_seen == b->since_seen && a->claimed_exists == b->claimed_exists &&
           a->distinct == b->distinct && a->worst.problem == b->worst.problem &&
           a->worst.severity == b->worst.severity && a->worst.since_ms == b->worst.since_ms;
}

/* ---- columns ---- */

/* Defines the function of a column that returns a value of `row`, with its template `e`. */
#define VALUE(name, expression)                                                                    \
    static struct list_value name(const void *at)                                                  \
    {                                                                                              \
        const struct row *row = at;                                                                \
        const struct entry *e = row->template;                                                     \
                                                                                                   \
        (void)e;                                                                                   \
        return expression;                                                                         \
    }

VALUE(severity_of, list_word(severity_names, SEVERITY_COUNT, row->worst.severity))
VALUE(problem_of, list_word(problem_names, PROBLEM_COUNT, row->worst.problem))
VALUE(problem_since_of, list_number_if(row->worst.since_ms > 0, row->worst.since_ms))
VALUE(template_of,
      ((struct list_value){
          .known = true, .text = row->distinct ? entry_type(e)->api_version : NULL, .entry = e}))
VALUE(api_version_of, list_text(entry_type(e)->api_version))
VALUE(kind_value, list_text(entry_kind(e)))
VALUE(group_of, list_text(entry_type(e)->group))
VALUE(namespace_of, list_text(entry_ns(e)))
VALUE(name_of, list_text(e->name))
VALUE(state_of, list_word(state_names, STATE_COUNT, row->state))
VALUE(reason_of, list_text(row->state < STATE_COUNT ? reason_name(row->state, row->reason) : NULL))
VALUE(phase_of, row->state == STATE_STALE ? list_word(phase_names, PHASE_COUNT, row->phase)
                                          : (struct list_value){0})
VALUE(stage_of, list_word(stage_names, STAGE_COUNT, row->stage))
VALUE(stage_reason_of,
      list_text(row->stage_reason != WHY_NONE ? stage_reason_names[row->stage_reason] : NULL))
VALUE(since_of, ((struct list_value){.known = row->since_ms > 0,
                                     .text = row->since_seen ? "seen" : NULL,
                                     .number = row->since_ms}))
VALUE(since_seen_of, list_number_if(row->since_seen, 1))
VALUE(policy_of, list_entry(row->policy, true))
VALUE(claimed_of, list_entry(row->claimed, row->claimed_exists))
VALUE(holding_policy_of, row->claimed ? claimed_of(row) : policy_of(row))
VALUE(version_of, list_number_if(row->version > 0, row->version))
VALUE(behind_of, list_number_if(row->behind >= 0, row->behind))
VALUE(clusters_of, list_number(row->clusters))
VALUE(changed_by_of, list_text(row->changed_by))
VALUE(owner_of, list_text(row->owner))
VALUE(actor_of, list_word(actor_names, ACTOR_COUNT, row->actor))

static bool policy_matches(const void *at, const char *wanted)
{
    const struct row *row = at;

    return policy_has_name(row->policy, wanted) || policy_has_name(row->claimed, wanted);
}

static bool is_version(const char *wanted)
{
    uint64_t number;

    return parse_uint(wanted, UINT32_MAX, &number);
}

/* The version 0 selects templates of which no version is known. */
static bool version_matches(const void *at, const char *wanted)
{
    const struct row *row = at;
    uint64_t number;

    return parse_uint(wanted, UINT32_MAX, &number) && number == row->version;
}

/* Columns of template lists; if struct row lacks a value, add a member that row_init() sets. */
static const struct list_column columns[] = {
    LIST_PROBLEM_COLUMNS(severity_of, problem_of, problem_since_of),
    {.name = "template",
     .heading = "Template",
     .style = "object",
     .kind = LIST_OBJECT,
     .flags = LIST_PAGE_ONLY,
     .value = template_of},
    {.name = "apiVersion", .value = api_version_of},
    {.name = "kind", .parameter = "kind", .flags = LIST_ANY_CASE, .value = kind_value},
    {.name = "group", .parameter = "group", .flags = LIST_FILTER_ONLY, .value = group_of},
    {.name = "namespace",
     .heading = "Namespace",
     .parameter = "namespace",
     .kind = LIST_NAMESPACE,
     .value = namespace_of},
    {.name = "name", .parameter = "name", .value = name_of},
    {.name = "search",
     .parameter = "search",
     .flags = LIST_FILTER_ONLY | LIST_CONTAINS,
     .value = name_of},
    {.name = "state",
     .heading = "State",
     .style = "word",
     .parameter = "state",
     .kind = LIST_WORD,
     .words = state_names,
     .word_count = STATE_COUNT,
     .value = state_of},
    {.name = "reason",
     .before = ", ",
     .parameter = "reason",
     .value = reason_of,
     .accepts = reason_exists},
    {.name = "phase",
     .before = ", ",
     .kind = LIST_WORD,
     .words = phase_names,
     .word_count = PHASE_COUNT,
     .value = phase_of},
    {.name = "stage",
     .heading = "Stage",
     .style = "word",
     .parameter = "stage",
     .kind = LIST_WORD,
     .words = stage_names,
     .word_count = STAGE_COUNT,
     .value = stage_of},
    {.name = "stageReason", .before = ", ", .value = stage_reason_of},
    {.name = "since",
     .heading = "State since",
     .style = "word",
     .kind = LIST_TIME,
     .value = since_of},
    {.name = "sinceSeen", .kind = LIST_BOOL, .flags = LIST_OMIT_NULL, .value = since_seen_of},
    {.name = "policy",
     .parameter = "policy",
     .kind = LIST_POLICY,
     .value = policy_of,
     .matches = policy_matches},
    {.name = "claimed", .kind = LIST_POLICY, .value = claimed_of},
    {.name = "holdingPolicy",
     .heading = "Policy",
     .style = "object",
     .kind = LIST_POLICY,
     .flags = LIST_PAGE_ONLY,
     .value = holding_policy_of},
    {.name = "version",
     .before = ", version ",
     .parameter = "version",
     .kind = LIST_NUMBER,
     .value = version_of,
     .matches = version_matches,
     .accepts = is_version,
     .takes = "the number of a policy's version"},
    {.name = "behind", .before = ", behind ", .kind = LIST_NUMBER, .value = behind_of},
    {.name = "clusters",
     .heading = "Clusters",
     .style = "number",
     .kind = LIST_NUMBER,
     .value = clusters_of},
    {.name = "changedBy", .value = changed_by_of},
    {.name = "owner",
     .heading = "Owner",
     .style = "owner",
     .parameter = "owner",
     .value = owner_of},
    {.name = "actor",
     .heading = "Actor",
     .style = "word",
     .parameter = "actor",
     .kind = LIST_WORD,
     .words = actor_names,
     .word_count = ACTOR_COUNT,
     .value = actor_of},
    {.name = NULL},
};

const struct list template_list = {
    .kind = "TemplateList",
    .columns = columns,
    .row_size = sizeof(struct row),
    .counted = {"severity", "state", "stage"},
};

void row_write(struct json_writer *w, const struct row *row)
{
    list_write_row(w, &template_list, NULL, row);
}

/* ---- transitions ---- */

/*
 * Returns true if the template matched the filter at the moment `m`, before or after a transition.
 * If the template had no decision then, a filter by state does not match.
 */
static bool moment_matches(const struct transition *x, const struct moment *m,
                           const struct list_filter *filter)
{
    const struct row row = {
        .template = x->template,
        .policy = m->policy,
        .claimed = m->claimed,
        .version = m->version,
        .behind = -1,
        .clusters = m->clusters,
        .state = m->decided ? m->state : STATE_COUNT,
        .reason = m->reason,
    };

    return list_matches(filter, &row, NULL);
}

bool transition_matches(const struct transition *x, const struct list_filter *filter)
{
    return moment_matches(x, &x->before, filter) || moment_matches(x, &x->after, filter);
}

/* ---- all rows and views ---- */

enum { CHUNK_ROWS = 128 };

struct chunk {
    size_t references; /* Number of sequences with this chunk: the current rows and views. */
    size_t count;
    struct row rows[CHUNK_ROWS];
};

/* Rows in the order of entry_compare(), in chunks that are not empty. */
struct sequence {
    struct chunk **chunks;
    size_t count;
    size_t capacity;
};

/* Replaced or removed row, kept for the views that have it. */
struct retired {
    struct row row;
    uint64_t view_number; /* Member of struct rows when the row was retired. */
};

struct row_view {
    struct rows *rows;
    struct row_view *next; /* Next older view. */
    struct sequence sequence;
    size_t references;
    uint64_t number;
};

struct rows {
    struct store *store;
    struct sequence now;
    struct row_view *newest;  /* All views, newest first. */
    struct row_view *current; /* View of the current rows; borrowed. NULL before the first. */
    struct retired *retired;  /* Replaced and removed rows, oldest first. */
    size_t retired_count;
    size_t retired_capacity;
    uint64_t view_number; /* Number of the newest view so far, dropped or not; 0 without views. */
    size_t chunk_count;   /* Number of all chunks, of current rows and views. */
};

static void drop_chunk(struct rows *rows, struct chunk *chunk)
{
    if (--chunk->references > 0)
        return;
    rows->chunk_count--;
    free(chunk);
}

static struct chunk *new_chunk(struct rows *rows)
{
    struct chunk *chunk = xmalloc(sizeof(*chunk));

    rows->chunk_count++;
    chunk->references = 1;
    chunk->count = 0;
    return chunk;
}

/* Returns the index of the first chunk that ends at or after the template; else `count`. */
static size_t find_chunk(const struct sequence *s, const struct entry *template)
{
    size_t low = 0, high = s->count;
    const struct chunk *last = high > 0 ? s->chunks[high - 1] : NULL;

    /* The usual case of evaluation_rows(), which puts the templates in their order. */
    if (last && entry_compare(last->rows[last->count - 1].template, template) < 0)
        return high;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct chunk *chunk = s->chunks[middle];

        if (entry_compare(chunk->rows[chunk->count - 1].template, template) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Returns the index of the template's row in a chunk or, if not found, where it belongs. */
static size_t find_row(const struct chunk *chunk, const struct entry *template, bool *found)
{
    size_t low = 0, high = chunk->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (entry_compare(chunk->rows[middle].template, template) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    *found = low < chunk->count && chunk->rows[low].template == template;
    return low;
}

/* Returns the chunk at an index for changes; copies the chunk first if a view shares it. */
static struct chunk *unshare_chunk(struct rows *rows, size_t at)
{
    struct sequence *s = &rows->now;
    struct chunk *old = s->chunks[at], *fresh;

    if (old->references == 1)
        return old;
    fresh = new_chunk(rows);
    fresh->count = old->count;
    memcpy(fresh->rows, old->rows, old->count * sizeof(*old->rows));
    old->references--;
    s->chunks[at] = fresh;
    return fresh;
}

static void insert_chunk(struct sequence *s, size_t at, struct chunk *chunk)
{
    if (s->count == s->capacity) {
        s->capacity = s->capacity ? s->capacity * 2 : 16;
        s->chunks = xreallocarray(s->chunks, s->capacity, sizeof(struct chunk *));
    }
    memmove(&s->chunks[at + 1], &s->chunks[at], (s->count - at) * sizeof(struct chunk *));
    s->chunks[at] = chunk;
    s->count++;
}

/* Splits a full chunk that is not shared into two. Returns the second one. */
static struct chunk *split_chunk(struct rows *rows, size_t at)
{
    struct sequence *s = &rows->now;
    struct chunk *first = s->chunks[at], *second = new_chunk(rows);

    second->count = first->count / 2;
    first->count -= second->count;
    memcpy(second->rows, &first->rows[first->count], second->count * sizeof(*second->rows));
    insert_chunk(s, at + 1, second);
    return second;
}

/*
 * Keeps a replaced or removed row until rows_release_retired(): views can have the row, and a
 * running engine can use its entries.
 */
static void retire_row(struct rows *rows, const struct row *row)
{
    if (rows->retired_count == rows->retired_capacity) {
        rows->retired_capacity = rows->retired_capacity ? rows->retired_capacity * 2 : 16;
        rows->retired =
            xreallocarray(rows->retired, rows->retired_capacity, sizeof(*rows->retired));
    }
    rows->retired[rows->retired_count++] = (struct retired){*row, rows->view_number};
}

struct rows *rows_new(struct store *store)
{
    struct rows *rows = xcalloc(1, sizeof(*rows));

    rows->store = store;
    return rows;
}

void rows_free(struct rows *rows)
{
    if (!rows)
        return;
    assert(!rows->newest);
    rows_release_retired(rows);
    for (size_t i = 0; i < rows->now.count; i++) {
        for (size_t k = 0; k < rows->now.chunks[i]->count; k++)
            row_release(&rows->now.chunks[i]->rows[k], rows->store);
        drop_chunk(rows, rows->now.chunks[i]);
    }
    free(rows->now.chunks);
    free(rows->retired);
    free(rows);
}

void rows_put(struct rows *rows, struct row *row)
{
    struct sequence *s = &rows->now;
    size_t at = find_chunk(s, row->template), index;
    bool found;

    /* A row that belongs after all others is appended to the last chunk, or to a new one. */
    if (at == s->count && at > 0 && s->chunks[at - 1]->count < CHUNK_ROWS)
        at--;
    if (at == s->count)
        insert_chunk(s, at, new_chunk(rows));
    index = find_row(s->chunks[at], row->template, &found);
    if (found && row_equal(&s->chunks[at]->rows[index], row)) {
        row_release(row, rows->store);
        return;
    }
    struct chunk *chunk = unshare_chunk(rows, at);

    rows->current = NULL;
    if (found) {
        retire_row(rows, &chunk->rows[index]);
        chunk->rows[index] = *row;
        return;
    }
    if (chunk->count == CHUNK_ROWS) {
        struct chunk *second = split_chunk(rows, at);

        if (index > chunk->count) {
            index -= chunk->count;
            chunk = second;
        }
    }
    memmove(&chunk->rows[index + 1], &chunk->rows[index],
            (chunk->count - index) * sizeof(*chunk->rows));
    chunk->rows[index] = *row;
    chunk->count++;
}

void rows_remove(struct rows *rows, const struct entry *template)
{
    struct sequence *s = &rows->now;
    size_t at = find_chunk(s, template), index;
    bool found;

    if (at == s->count)
        return;
    index = find_row(s->chunks[at], template, &found);
    if (!found)
        return;
    struct chunk *chunk = unshare_chunk(rows, at);

    rows->current = NULL;
    retire_row(rows, &chunk->rows[index]);
    chunk->count--;
    memmove(&chunk->rows[index], &chunk->rows[index + 1],
            (chunk->count - index) * sizeof(*chunk->rows));
    if (chunk->count == 0) {
        drop_chunk(rows, chunk);
        s->count--;
        memmove(&s->chunks[at], &s->chunks[at + 1], (s->count - at) * sizeof(struct chunk *));
    }
}

/* Returns the number of retired rows that no view needs; they are the oldest ones. */
static size_t count_unneeded(const struct rows *rows)
{
    const struct row_view *oldest = rows->newest;
    size_t count = 0;

    /* A view can have a retired row only if it existed when the row was retired. */
    while (oldest && oldest->next)
        oldest = oldest->next;
    while (count < rows->retired_count &&
           (!oldest || rows->retired[count].view_number < oldest->number))
        count++;
    return count;
}

void rows_release_retired(struct rows *rows)
{
    size_t done = count_unneeded(rows);

    if (done == 0)
        return;
    for (size_t i = 0; i < done; i++)
        row_release(&rows->retired[i].row, rows->store);
    rows->retired_count -= done;
    memmove(rows->retired, &rows->retired[done], rows->retired_count * sizeof(*rows->retired));
}

struct row_view *rows_view(struct rows *rows)
{
    struct row_view *view;

    if (rows->current)
        return row_view_ref(rows->current);
    view = xcalloc(1, sizeof(*view));
    view->rows = rows;
    view->references = 1;
    view->number = ++rows->view_number;
    view->sequence.count = rows->now.count;
    view->sequence.chunks = xreallocarray(NULL, rows->now.count + 1, sizeof(struct chunk *));
    for (size_t i = 0; i < rows->now.count; i++) {
        view->sequence.chunks[i] = rows->now.chunks[i];
        view->sequence.chunks[i]->references++;
    }
    view->next = rows->newest;
    rows->newest = rows->current = view;
    return view;
}

struct row_view *row_view_ref(struct row_view *view)
{
    view->references++;
    return view;
}

void row_view_drop(struct row_view *view)
{
    struct rows *rows;
    struct row_view **at;

    if (!view || --view->references > 0)
        return;
    rows = view->rows;
    for (at = &rows->newest; *at != view;)
        at = &(*at)->next;
    *at = view->next;
    if (rows->current == view)
        rows->current = NULL;
    for (size_t i = 0; i < view->sequence.count; i++)
        drop_chunk(rows, view->sequence.chunks[i]);
    free(view->sequence.chunks);
    free(view);
}

size_t row_views_bytes(const struct row_view *view)
{
    const struct rows *rows = view->rows;

    return (rows->chunk_count - rows->now.count) * sizeof(struct chunk) +
           (rows->retired_count - count_unneeded(rows)) * sizeof(*rows->retired);
}

size_t row_view_count(const struct row_view *view)
{
    size_t count = 0;

    for (size_t i = 0; i < view->sequence.count; i++)
        count += view->sequence.chunks[i]->count;
    return count;
}

bool row_view_has_row(const struct row_view *view, struct row_position at)
{
    return at.chunk < view->sequence.count && at.row < view->sequence.chunks[at.chunk]->count;
}

const struct row *row_view_next_row(const struct row_view *view, struct row_position *at)
{
    const struct chunk *chunk;

    if (at->chunk == view->sequence.count)
        return NULL;
    chunk = view->sequence.chunks[at->chunk];
    const struct row *row = &chunk->rows[at->row++];

    if (at->row == chunk->count)
        *at = (struct row_position){.chunk = at->chunk + 1};
    return row;
}
