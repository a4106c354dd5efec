/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_paging.h"

#include "metrics/base/number.h"

enum {
    QUESTION_MAX = 64 * 1024,
    TOKEN_PARTS = 4, /* The run of the exporter, the list, and the place of two numbers. */
    TOKEN_MAX = 4 * 17,
    KEPT_BYTES_MAX = 64 * 1024 * 1024, /* Of lines, in all that are kept. */
};

struct stored_lines {
    size_t holders;
    char *text;
    size_t len;
};

/* What a list is made from; a slot without either is free. */
struct list {
    uint64_t number;
    char *question;
    struct row_view *view;
    struct stored_lines *lines;
    int64_t made_ms; /* Since the epoch. */
    int64_t used_ms; /* Steady. */
};

struct paging {
    uint64_t run;
    uint64_t last;
    struct list kept[LISTS_KEPT_MAX];
    struct list now; /* Of the call that is open. */
    struct row_position place;
    size_t limit;
    bool breaks;
    char token[TOKEN_MAX + 1];
};

struct stored_lines *stored_lines_new(struct strbuf *text)
{
    struct stored_lines *lines = xcalloc(1, sizeof(*lines));

    lines->holders = 1;
    lines->text = strbuf_take(text, &lines->len);
    return lines;
}

static void drop_list(struct list *list)
{
    if (list->lines && --list->lines->holders == 0) {
        free(list->lines->text);
        free(list->lines);
    }
    row_view_drop(list->view);
    free(list->question);
    *list = (struct list){0};
}

struct paging *paging_new(uint64_t seed)
{
    struct paging *p = xcalloc(1, sizeof(*p));

    p->run = seed;
    return p;
}

void paging_free(struct paging *p)
{
    if (!p)
        return;
    paging_drop_all(p);
    free(p);
}

/* All that the list is chosen by: a page of another question is none of this list. */
static char *question_of(const char *path, const struct query *query)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(QUESTION_MAX);
    size_t len;

    strbuf_adds(&out, path);
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        const char *value = query->values[i];

        if (value && i != PARAMETER_LIMIT && i != PARAMETER_CONTINUE && i != PARAMETER_FORMAT)
            strbuf_addf(&out, "\n%s=%s", parameter_names[i], value);
    }
    return strbuf_take(&out, &len);
}

/* Lower-case hexadecimal numbers with '-' between them; false for anything else. */
static bool read_token(const char *text, uint64_t parts[TOKEN_PARTS])
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

static struct list *find_list(struct paging *p, uint64_t number)
{
    for (size_t i = 0; i < LISTS_KEPT_MAX; i++) {
        if (p->kept[i].question && p->kept[i].number == number)
            return &p->kept[i];
    }
    return NULL;
}

/* No client makes places up, but anybody can send them. */
static bool has_place(const struct list *list, struct row_position place)
{
    if (list->view)
        return row_view_has_row(list->view, place);
    if (!list->lines)
        return place.chunk == 0; /* A number: of what is not there, nothing is below. */
    return place.chunk == 0 && place.row < list->lines->len &&
           (place.row == 0 || list->lines->text[place.row - 1] == '\n');
}

static bool go_on(struct paging *p, const char *token, unsigned *status, struct error *err)
{
    uint64_t parts[TOKEN_PARTS];
    struct list *list;

    *status = MHD_HTTP_BAD_REQUEST;
    if (!read_token(token, parts))
        return fail(err, "'continue' is not what a list answered with");
    list = parts[0] == p->run ? find_list(p, parts[1]) : NULL;
    if (!list) {
        *status = MHD_HTTP_GONE;
        return fail(err, "the list that 'continue' goes on with is no longer kept: ask for it from "
                         "its beginning");
    }
    p->place = (struct row_position){.chunk = parts[2], .row = parts[3]};
    if (strcmp(list->question, p->now.question) != 0)
        return fail(err, "'continue' goes on with a list of other parameters: give the same ones");
    if (!has_place(list, p->place))
        return fail(err, "'continue' is not what a list answered with");
    p->now.number = list->number;
    p->now.made_ms = list->made_ms;
    p->now.lines = list->lines;
    if (list->lines)
        list->lines->holders++;
    p->now.view = list->view ? row_view_ref(list->view) : NULL;
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
    p->place = (struct row_position){0};
    p->breaks = false;
    p->now = (struct list){.question = question_of(q->path, q->query), .made_ms = q->clock_ms};
    if (!token || !*token) {
        p->now.number = ++p->last;
        return true;
    }
    if (go_on(p, token, status, err))
        return true;
    drop_list(&p->now);
    return false;
}

bool paging_continues(const struct paging *p)
{
    return p->now.view || p->now.lines;
}

void paging_set_view(struct paging *p, struct row_view *view)
{
    p->now.view = view;
}

void paging_set_lines(struct paging *p, struct stored_lines *lines)
{
    p->now.lines = lines;
}

const struct row_view *paging_view(const struct paging *p)
{
    return p->now.view;
}

size_t paging_limit(const struct paging *p)
{
    return p->limit;
}

int64_t paging_made_ms(const struct paging *p)
{
    return p->now.made_ms;
}

struct row_position *paging_position(struct paging *p)
{
    return &p->place;
}

const char *paging_next_line(struct paging *p, size_t *len)
{
    const struct stored_lines *lines = p->now.lines;
    const char *line = &lines->text[p->place.row], *end;

    if (p->place.row == lines->len)
        return NULL;
    end = strchr(line, '\n');
    *len = (size_t)(end - line);
    p->place.row += *len + 1;
    return line;
}

const char *paging_end_page(struct paging *p, struct row_position place)
{
    p->breaks = true;
    snprintf(p->token, sizeof(p->token), "%016" PRIx64 "-%" PRIx64 "-%zx-%zx", p->run,
             p->now.number, place.chunk, place.row);
    return p->token;
}

/* Of the lists that are kept, that nobody asked for longest; NULL if there is none. */
static struct list *oldest(struct paging *p)
{
    struct list *found = NULL;

    for (size_t i = 0; i < LISTS_KEPT_MAX; i++) {
        struct list *list = &p->kept[i];

        if (list->question && (!found || list->used_ms < found->used_ms))
            found = list;
    }
    return found;
}

static size_t kept_bytes(const struct paging *p)
{
    size_t sum = 0;

    for (size_t i = 0; i < LISTS_KEPT_MAX; i++)
        sum += p->kept[i].lines ? p->kept[i].lines->len : 0;
    return sum;
}

void paging_close(struct paging *p, int64_t now_ms)
{
    struct list *slot = find_list(p, p->now.number);

    if (!p->breaks) {
        drop_list(&p->now);
        return;
    }
    for (size_t i = 0; !slot && i < LISTS_KEPT_MAX; i++) {
        if (!p->kept[i].question)
            slot = &p->kept[i];
    }
    slot = slot ? slot : oldest(p);
    drop_list(slot);
    *slot = p->now;
    slot->used_ms = now_ms;
    p->now = (struct list){0};
    while (kept_bytes(p) > KEPT_BYTES_MAX)
        drop_list(oldest(p));
}

void paging_drop_expired(struct paging *p, int64_t now_ms)
{
    for (size_t i = 0; i < LISTS_KEPT_MAX; i++) {
        if (p->kept[i].question && now_ms - p->kept[i].used_ms >= LIST_KEPT_MS)
            drop_list(&p->kept[i]);
    }
}

void paging_drop_all(struct paging *p)
{
    for (size_t i = 0; i < LISTS_KEPT_MAX; i++)
        drop_list(&p->kept[i]);
    drop_list(&p->now);
}

bool paging_keeps_views(const struct paging *p)
{
    bool keeps = p->now.view;

    for (size_t i = 0; i < LISTS_KEPT_MAX; i++)
        keeps |= p->kept[i].view != NULL;
    return keeps;
}
