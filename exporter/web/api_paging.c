/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_paging.h"

#include "metrics/base/number.h"

enum {
    FILTER_MAX_BYTES = 64 * 1024,
    TOKEN_PARTS = 4, /* Seed, number of the list, and both members of the position. */
    TOKEN_MAX_BYTES = 4 * 17,
    LISTS_STORED_MAX = 16,
    LISTS_STORED_MAX_BYTES = 64 * 1024 * 1024, /* Lines and orders of all stored lists. */
    LIST_STORED_MS = 5 * 60 * 1000,            /* Time from `used_ms` to dropping the list. */
};

/* Lines of a list; immutable. The open request shares the lines with its stored list. */
struct stored_lines {
    size_t holders; /* Number of references. */
    char *text;
    size_t len;
};

/* Rows of a view in an order; immutable. The open request shares it with its stored list. */
struct stored_order {
    size_t holders; /* Number of references. */
    const void **rows;
    size_t count;
};

/* A list; all zeros is a free slot. The history has neither view nor lines. */
struct stored_list {
    uint64_t number;
    char *filter; /* See filter_text_of(); NULL in a free slot. Owned. */
    struct row_view *view;
    struct stored_order *order; /* Order of the rows of `view`; NULL: the order in `view`. */
    struct stored_lines *lines;
    int64_t made_ms; /* Time of the first page, milliseconds since the epoch. */
    int64_t used_ms; /* Steady time of the last paging_close() that stored the list. */
};

struct paging {
    uint64_t seed;
    uint64_t last_number; /* Number of the newest list. */
    struct stored_list stored[LISTS_STORED_MAX];
    struct stored_list open; /* List of the open request. */
    struct row_position position;
    size_t limit;       /* Maximum number of rows on the page; SIZE_MAX: no maximum. */
    bool has_next_page; /* paging_end_page() was called for the open request. */
    char token[TOKEN_MAX_BYTES + 1];
};

static void drop_list(struct stored_list *list)
{
    if (list->lines && --list->lines->holders == 0) {
        free(list->lines->text);
        free(list->lines);
    }
    if (list->order && --list->order->holders == 0) {
        free(list->order->rows);
        free(list->order);
    }
    row_view_drop(list->view);
    free(list->filter);
    *list = (struct stored_list){0};
}

struct paging *paging_new(uint64_t seed)
{
    struct paging *p = xcalloc(1, sizeof(*p));

    p->seed = seed;
    return p;
}

void paging_free(struct paging *p)
{
    if (!p)
        return;
    paging_drop_all(p);
    free(p);
}

/*
 * Returns the path and the filtering parameters as text, which is equal for all pages of a list.
 * The caller frees the text.
 */
static char *filter_text_of(const char *path, const struct query *query)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(FILTER_MAX_BYTES);
    size_t len;

    strbuf_adds(&out, path);
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        const char *value = query->values[i];

        if (value && i != PARAMETER_LIMIT && i != PARAMETER_CONTINUE && i != PARAMETER_FORMAT)
            strbuf_addf(&out, "\n%s=%s", parameter_names[i], value);
    }
    return strbuf_take(&out, &len);
}

/* Parses hexadecimal numbers in lower case, separated by '-'. */
static bool parse_token(const char *text, uint64_t parts[TOKEN_PARTS])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < TOKEN_PARTS; i++) {
        size_t len = strspn(text, digits);

        if (len == 0 || len > 16 || text[len] != (i + 1 < TOKEN_PARTS ? '-' : '\0'))
            return false;
        parts[i] = 0;
        for (size_t k = 0; k < len; k++)
            parts[i] = parts[i] << 4 | (uint64_t)(strchr(digits, text[k]) - digits);
        text += len + 1;
    }
    return true;
}

static struct stored_list *find_list(struct paging *p, uint64_t number)
{
    for (size_t i = 0; i < LISTS_STORED_MAX; i++) {
        if (p->stored[i].filter && p->stored[i].number == number)
            return &p->stored[i];
    }
    return NULL;
}

/* Returns true if a page of the list can start at the position. Clients can send any position. */
static bool has_position(const struct stored_list *list, struct row_position position)
{
    if (list->order)
        return position.chunk == 0 && position.row < list->order->count;
    if (list->view)
        return row_view_has_row(list->view, position);
    if (!list->lines)
        return position.chunk == 0; /* The history: `row` is any number of a transition. */
    return position.chunk == 0 && position.row < list->lines->len &&
           (position.row == 0 || list->lines->text[position.row - 1] == '\n');
}

/*
 * Makes the stored list of a token the open list, at the position in the token. Returns false with
 * the status and the reason if the token is invalid, or belongs to another or a dropped list.
 */
static bool open_stored_list(struct paging *p, const char *token, unsigned *status,
                             struct error *err)
{
    uint64_t parts[TOKEN_PARTS];
    struct stored_list *list;

    *status = MHD_HTTP_BAD_REQUEST;
    if (!parse_token(token, parts))
        return fail(err, "'continue' is not a value that a list returned");
    list = parts[0] == p->seed ? find_list(p, parts[1]) : NULL;
    if (!list) {
        *status = MHD_HTTP_GONE;
        return fail(err,
                    "the list of 'continue' has expired: request the list from its first page");
    }
    p->position = (struct row_position){.chunk = parts[2], .row = parts[3]};
    if (strcmp(list->filter, p->open.filter) != 0)
        return fail(err, "'continue' belongs to a list with other parameters: repeat the "
                         "parameters of that list");
    if (!has_position(list, p->position))
        return fail(err, "'continue' is not a value that a list returned");
    p->open.number = list->number;
    p->open.made_ms = list->made_ms;
    p->open.lines = list->lines;
    if (list->lines)
        list->lines->holders++;
    p->open.order = list->order;
    if (list->order)
        list->order->holders++;
    p->open.view = list->view ? row_view_ref(list->view) : NULL;
    return true;
}

bool paging_open(struct paging *p, const struct page_query *q, unsigned *status, struct error *err)
{
    const char *limit = q->query->values[PARAMETER_LIMIT];
    const char *token = q->query->values[PARAMETER_CONTINUE];
    uint64_t count = q->limit;

    paging_drop_expired(p, q->now_ms);
    if (limit && !parse_uint(limit, UINT32_MAX, &count)) {
        *status = MHD_HTTP_BAD_REQUEST;
        return fail(err, "'limit' takes the number of rows of a page, 0 for all");
    }
    p->limit = count > 0 ? count : SIZE_MAX;
    p->position = (struct row_position){0};
    p->has_next_page = false;
    p->open =
        (struct stored_list){.filter = filter_text_of(q->path, q->query), .made_ms = q->clock_ms};
    if (!token || !*token) {
        p->open.number = ++p->last_number;
        return true;
    }
    if (open_stored_list(p, token, status, err))
        return true;
    drop_list(&p->open);
    return false;
}

bool paging_continues(const struct paging *p)
{
    return p->open.view || p->open.lines;
}

void paging_set_view(struct paging *p, struct row_view *view)
{
    p->open.view = view;
}

void paging_set_order(struct paging *p, const void **rows, size_t count)
{
    p->open.order = xcalloc(1, sizeof(*p->open.order));
    *p->open.order = (struct stored_order){1, rows, count};
}

bool paging_has_order(const struct paging *p)
{
    return p->open.order;
}

const void *paging_next_row(struct paging *p)
{
    const struct stored_order *order = p->open.order;

    return p->position.row < order->count ? order->rows[p->position.row++] : NULL;
}

void paging_set_lines(struct paging *p, struct strbuf *text)
{
    struct stored_lines *lines = xcalloc(1, sizeof(*lines));

    lines->holders = 1;
    lines->text = strbuf_take(text, &lines->len);
    p->open.lines = lines;
}

const struct row_view *paging_view(const struct paging *p)
{
    return p->open.view;
}

size_t paging_limit(const struct paging *p)
{
    return p->limit;
}

int64_t paging_made_ms(const struct paging *p)
{
    return p->open.made_ms;
}

struct row_position *paging_position(struct paging *p)
{
    return &p->position;
}

const char *paging_next_line(struct paging *p, size_t *len)
{
    const struct stored_lines *lines = p->open.lines;
    const char *line = &lines->text[p->position.row], *end;

    if (p->position.row == lines->len)
        return NULL;
    end = strchr(line, '\n');
    *len = (size_t)(end - line);
    p->position.row += *len + 1;
    return line;
}

const char *paging_end_page(struct paging *p, struct row_position next)
{
    p->has_next_page = true;
    snprintf(p->token, sizeof(p->token), "%016" PRIx64 "-%" PRIx64 "-%zx-%zx", p->seed,
             p->open.number, next.chunk, next.row);
    return p->token;
}

/*
 * Returns the stored list with the oldest `used_ms`, of those with a view if `with_view`; NULL if
 * there is none.
 */
static struct stored_list *oldest_list(struct paging *p, bool with_view)
{
    struct stored_list *found = NULL;

    for (size_t i = 0; i < LISTS_STORED_MAX; i++) {
        struct stored_list *list = &p->stored[i];

        if (list->filter && (list->view || !with_view) &&
            (!found || list->used_ms < found->used_ms))
            found = list;
    }
    return found;
}

static size_t stored_bytes(const struct paging *p)
{
    size_t sum = 0;

    for (size_t i = 0; i < LISTS_STORED_MAX; i++) {
        sum += p->stored[i].lines ? p->stored[i].lines->len : 0;
        sum += p->stored[i].order ? p->stored[i].order->count * sizeof(void *) : 0;
    }
    return sum;
}

void paging_close(struct paging *p, int64_t now_ms)
{
    struct stored_list *slot = find_list(p, p->open.number);

    if (!p->has_next_page) {
        drop_list(&p->open);
        return;
    }
    for (size_t i = 0; !slot && i < LISTS_STORED_MAX; i++) {
        if (!p->stored[i].filter)
            slot = &p->stored[i];
    }
    slot = slot ? slot : oldest_list(p, false);
    drop_list(slot);
    *slot = p->open;
    slot->used_ms = now_ms;
    p->open = (struct stored_list){0};
    while (stored_bytes(p) > LISTS_STORED_MAX_BYTES)
        drop_list(oldest_list(p, false));
}

void paging_drop_expired(struct paging *p, int64_t now_ms)
{
    for (size_t i = 0; i < LISTS_STORED_MAX; i++) {
        if (p->stored[i].filter && now_ms - p->stored[i].used_ms >= LIST_STORED_MS)
            drop_list(&p->stored[i]);
    }
}

void paging_drop_outdated(struct paging *p, size_t bytes)
{
    unsigned views = 0;

    for (size_t i = 0; i < LISTS_STORED_MAX; i++)
        views += p->stored[i].view != NULL;
    for (; views > 1; views--) {
        struct stored_list *oldest = oldest_list(p, true);

        if (row_views_bytes(oldest->view) <= bytes)
            return;
        drop_list(oldest);
    }
}

void paging_drop_all(struct paging *p)
{
    for (size_t i = 0; i < LISTS_STORED_MAX; i++)
        drop_list(&p->stored[i]);
    drop_list(&p->open);
}

bool paging_keeps_views(const struct paging *p)
{
    bool keeps = p->open.view;

    for (size_t i = 0; i < LISTS_STORED_MAX; i++)
        keeps |= p->stored[i].view != NULL;
    return keeps;
}
