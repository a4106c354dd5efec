/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/rows.h"

enum { CHUNK_ROWS = 128 };

struct chunk {
    size_t holders; /* The rows as they are now, and views. */
    size_t count;
    struct row rows[CHUNK_ROWS];
};

/* The chunks, in the order of lists; none is empty. */
struct sequence {
    struct chunk **chunks;
    size_t count;
    size_t capacity;
};

/* A row that is no more, for the views that were there before it went. */
struct retired {
    struct row row;
    uint64_t time;
};

struct row_view {
    struct rows *of;
    struct row_view *next; /* The one made before it. */
    struct sequence sequence;
    size_t holders;
    uint64_t time;
};

/* `time` counts views, so that it tells which of them were there when a row went. */
struct rows {
    struct store *store;
    struct sequence now;
    struct row_view *newest;
    struct row_view *current; /* The newest if nothing has changed since; borrowed. */
    struct retired *retired;  /* Oldest first. */
    size_t retired_count;
    size_t retired_capacity;
    uint64_t time;
};

static void drop_chunk(struct chunk *chunk)
{
    if (--chunk->holders == 0)
        free(chunk);
}

static struct chunk *new_chunk(void)
{
    struct chunk *chunk = xmalloc(sizeof(*chunk));

    chunk->holders = 1;
    chunk->count = 0;
    return chunk;
}

/* Where the first chunk is whose last row is not before the template; `count` if there is none. */
static size_t chunk_place(const struct sequence *s, const struct entry *template)
{
    size_t low = 0, high = s->count;

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

/* Where in a chunk the template's row is, or would be. */
static size_t row_index(const struct chunk *chunk, const struct entry *template, bool *found)
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

/* The chunk, for nobody else to see what becomes of it. */
static struct chunk *own_chunk(struct sequence *s, size_t at)
{
    struct chunk *old = s->chunks[at], *fresh;

    if (old->holders == 1)
        return old;
    fresh = new_chunk();
    fresh->count = old->count;
    memcpy(fresh->rows, old->rows, old->count * sizeof(*old->rows));
    old->holders--;
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

/* Make two of a full chunk that nobody else has: the second is returned. */
static struct chunk *split_chunk(struct sequence *s, size_t at)
{
    struct chunk *first = s->chunks[at], *second = new_chunk();

    second->count = first->count / 2;
    first->count -= second->count;
    memcpy(second->rows, &first->rows[first->count], second->count * sizeof(*second->rows));
    insert_chunk(s, at + 1, second);
    return second;
}

/* A view may have it; and the engine that just decided its template is not done with that. */
static void retire(struct rows *rows, const struct row *row)
{
    if (rows->retired_count == rows->retired_capacity) {
        rows->retired_capacity = rows->retired_capacity ? rows->retired_capacity * 2 : 16;
        rows->retired =
            xreallocarray(rows->retired, rows->retired_capacity, sizeof(*rows->retired));
    }
    rows->retired[rows->retired_count++] = (struct retired){*row, rows->time};
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
    rows_tidy(rows);
    for (size_t i = 0; i < rows->now.count; i++) {
        for (size_t k = 0; k < rows->now.chunks[i]->count; k++)
            row_drop(&rows->now.chunks[i]->rows[k], rows->store);
        drop_chunk(rows->now.chunks[i]);
    }
    free(rows->now.chunks);
    free(rows->retired);
    free(rows);
}

void rows_put(struct rows *rows, struct row *row)
{
    struct sequence *s = &rows->now;
    size_t at = chunk_place(s, row->template), place;
    bool found;

    /* Behind all others: at the end of the last chunk. */
    if (at == s->count && at > 0)
        at--;
    if (s->count == 0)
        insert_chunk(s, 0, new_chunk());
    place = row_index(s->chunks[at], row->template, &found);
    if (found && row_equal(&s->chunks[at]->rows[place], row)) {
        row_drop(row, rows->store);
        return;
    }
    struct chunk *chunk = own_chunk(s, at);

    rows->current = NULL;
    if (found) {
        retire(rows, &chunk->rows[place]);
        chunk->rows[place] = *row;
        return;
    }
    if (chunk->count == CHUNK_ROWS) {
        struct chunk *second = split_chunk(s, at);

        if (place > chunk->count) {
            place -= chunk->count;
            chunk = second;
        }
    }
    memmove(&chunk->rows[place + 1], &chunk->rows[place],
            (chunk->count - place) * sizeof(*chunk->rows));
    chunk->rows[place] = *row;
    chunk->count++;
}

void rows_remove(struct rows *rows, const struct entry *template)
{
    struct sequence *s = &rows->now;
    size_t at = chunk_place(s, template), place;
    bool found;

    if (at == s->count)
        return;
    place = row_index(s->chunks[at], template, &found);
    if (!found)
        return;
    struct chunk *chunk = own_chunk(s, at);

    rows->current = NULL;
    retire(rows, &chunk->rows[place]);
    chunk->count--;
    memmove(&chunk->rows[place], &chunk->rows[place + 1],
            (chunk->count - place) * sizeof(*chunk->rows));
    if (chunk->count == 0) {
        drop_chunk(chunk);
        s->count--;
        memmove(&s->chunks[at], &s->chunks[at + 1], (s->count - at) * sizeof(struct chunk *));
    }
}

void rows_tidy(struct rows *rows)
{
    const struct row_view *oldest = rows->newest;
    size_t done = 0;

    while (oldest && oldest->next)
        oldest = oldest->next;
    while (done < rows->retired_count && (!oldest || rows->retired[done].time < oldest->time))
        row_drop(&rows->retired[done++].row, rows->store);
    if (done == 0)
        return;
    rows->retired_count -= done;
    memmove(rows->retired, &rows->retired[done], rows->retired_count * sizeof(*rows->retired));
}

struct row_view *rows_view(struct rows *rows)
{
    struct row_view *view;

    if (rows->current)
        return row_view_ref(rows->current);
    view = xcalloc(1, sizeof(*view));
    view->of = rows;
    view->holders = 1;
    view->time = ++rows->time;
    view->sequence.count = rows->now.count;
    view->sequence.chunks = xreallocarray(NULL, rows->now.count + 1, sizeof(struct chunk *));
    for (size_t i = 0; i < rows->now.count; i++) {
        view->sequence.chunks[i] = rows->now.chunks[i];
        view->sequence.chunks[i]->holders++;
    }
    view->next = rows->newest;
    rows->newest = rows->current = view;
    return view;
}

struct row_view *row_view_ref(struct row_view *view)
{
    view->holders++;
    return view;
}

void row_view_drop(struct row_view *view)
{
    struct rows *rows;
    struct row_view **at;

    if (!view || --view->holders > 0)
        return;
    rows = view->of;
    for (at = &rows->newest; *at != view;)
        at = &(*at)->next;
    *at = view->next;
    if (rows->current == view)
        rows->current = NULL;
    for (size_t i = 0; i < view->sequence.count; i++)
        drop_chunk(view->sequence.chunks[i]);
    free(view->sequence.chunks);
    free(view);
}

bool row_view_has(const struct row_view *view, struct row_place at)
{
    return at.chunk < view->sequence.count && at.row < view->sequence.chunks[at.chunk]->count;
}

const struct row *row_view_next(const struct row_view *view, struct row_place *at)
{
    const struct chunk *chunk;

    if (at->chunk == view->sequence.count)
        return NULL;
    chunk = view->sequence.chunks[at->chunk];
    const struct row *row = &chunk->rows[at->row++];

    if (at->row == chunk->count)
        *at = (struct row_place){.chunk = at->chunk + 1};
    return row;
}
