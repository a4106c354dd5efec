/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/json_file.h"

#include "exporter/yaml/yaml.h"
#include "metrics/base/json_frame.h"

static const char suffix[] = "List";

/* The kind that such items inherit, or "". Points into `list_kind`'s first `*len` bytes. */
static const char *list_item_kind(const char *list_kind, size_t *len)
{
    size_t suffix_len = sizeof(suffix) - 1;
    size_t whole = strlen(list_kind);
    bool typed = whole > suffix_len && strcmp(list_kind + whole - suffix_len, suffix) == 0;

    *len = typed ? whole - suffix_len : 0;
    return list_kind;
}

bool list_item_inherits(const cJSON *item)
{
    return cJSON_IsObject(item) && !json_get(item, "apiVersion") && !json_get(item, "kind");
}

void list_item_complete(cJSON *item, const char *list_api_version, const char *list_kind)
{
    size_t len;
    const char *kind = list_item_kind(list_kind, &len);

    if (len == 0 || !list_item_inherits(item))
        return;

    CLEANUP(free_cleanup) char *text = xmemdup0(kind, len);

    /* A null there would hide the member that is added behind it. */
    cJSON_DeleteItemFromObjectCaseSensitive(item, "apiVersion");
    cJSON_DeleteItemFromObjectCaseSensitive(item, "kind");
    if (!cJSON_AddStringToObject(item, "apiVersion", list_api_version) ||
        !cJSON_AddStringToObject(item, "kind", text))
        memory_exhausted(0);
}

/* An empty list may come without `items`: Go leaves empty fields out, or writes null. */
static bool is_empty_list(const cJSON *document)
{
    const char *kind = json_str(document, "kind", "");
    size_t len;

    list_item_kind(kind, &len);
    return (len > 0 || strcmp(kind, suffix) == 0) && !json_get(document, "items") &&
           !json_get(json_get(document, "metadata"), "name");
}

/* Calls itself for lists in lists; the depth of JSON is bounded where it is read. */
void list_each(cJSON *document, size_t line, list_each_fn *each, void *context)
{
    const cJSON *items = json_get(document, "items");
    const char *api_version = json_str(document, "apiVersion", "");
    const char *kind = json_str(document, "kind", "");
    cJSON *item;

    if (is_empty_list(document))
        return;
    if (!cJSON_IsArray(items)) {
        each(context, document, line);
        return;
    }
    for (item = items->child; item; item = item->next) {
        size_t own = yaml_line(item);

        list_item_complete(item, api_version, kind);
        list_each(item, own ? own : line, each, context);
    }
}

static const char byte_order_mark[] = "\xef\xbb\xbf";

/* A list whose kind comes after items that need it, by the number of the document. */
struct late_list {
    size_t document;
    char *api_version;
    char *kind;
};

/* A byte of the whole file, and where a person finds it. */
struct json_cursor {
    size_t offset;
    size_t line;
    size_t line_start;
};

struct json_file {
    size_t object_max;
    json_object_fn *each;
    void *context;

    /* The current document. */
    struct json_frame frame;
    struct json_cursor start;
    bool in_document;
    size_t document; /* Which one, from 0. */
    size_t items;
    size_t unknown; /* Items that need the kind of their list, which is still to come. */
    cJSON *list;    /* The members before the first item. */

    /* The bytes of the current feed. */
    const char *bytes;
    size_t base;               /* Their offset in the file. */
    struct json_cursor cursor; /* Lines are counted up to here. */
    struct json_cursor open;   /* Where an object began that earlier bytes left open. */

    struct late_list *late;
    size_t late_count;
    bool again;

    struct json_position where;
    struct error *err;
    bool failed;
};

static struct json_position position_of(struct json_cursor c)
{
    return (struct json_position){c.line, c.offset - c.line_start + 1};
}

/* Count lines up to `offset`, which is within the current bytes. */
static struct json_cursor move_to(struct json_file *f, size_t offset)
{
    struct json_cursor *c = &f->cursor;

    while (c->offset < offset) {
        const char *from = f->bytes + (c->offset - f->base);
        const char *newline = memchr(from, '\n', offset - c->offset);

        c->offset = newline ? c->offset + (size_t)(newline - from) + 1 : offset;
        if (newline) {
            c->line++;
            c->line_start = c->offset;
        }
    }
    return *c;
}

/* Where the object at `offset`, which ends now, began. */
static struct json_cursor find_start(struct json_file *f, size_t offset)
{
    return offset < f->base ? f->open : move_to(f, offset);
}

static bool refuse(struct json_file *f, struct json_position where)
{
    f->failed = true;
    f->where = where;
    return false;
}

/* Parse what began at `start`; a failure gets its place in the file. */
static cJSON *parse(struct json_file *f, const char *json, size_t len, struct json_cursor start)
{
    struct json_position where = position_of(start);
    struct json_position inside;
    cJSON *tree = json_parse(json, len, &inside, f->err);

    if (tree)
        return tree;
    if (inside.line > 1)
        where.column = inside.column;
    else
        where.column += inside.column - 1;
    where.line += inside.line - 1;
    refuse(f, where);
    return NULL;
}

/* The list's own members before its first item; NULL if they are no JSON. */
static cJSON *read_head(const struct json_file *f)
{
    CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(f->object_max + 2);
    struct error ignored;

    strbuf_add(&head, f->frame.rest.data, f->frame.rest.len);
    strbuf_adds(&head, "]}");
    return json_parse(head.data, head.len, NULL, &ignored);
}

static const struct late_list *find_late(const struct json_file *f)
{
    for (size_t i = 0; i < f->late_count; i++) {
        if (f->late[i].document == f->document)
            return &f->late[i];
    }
    return NULL;
}

struct item_receiver {
    struct json_file *file;
    struct json_place place;
};

static void hand_out(void *context, cJSON *object, size_t line)
{
    const struct item_receiver *h = context;

    (void)line;
    h->file->each(h->file->context, object, h->place);
}

static void hand_out_all(struct json_file *f, cJSON *document, struct json_cursor start)
{
    struct item_receiver h = {f, {start.line, start.offset}};

    list_each(document, start.line, hand_out, &h);
}

static bool on_item(void *context, const char *json, size_t len, size_t offset)
{
    struct json_file *f = context;
    struct json_cursor start = find_start(f, f->start.offset + offset);

    if (f->items++ == 0)
        f->list = read_head(f);

    CLEANUP(json_cleanup) cJSON *item = parse(f, json, len, start);
    if (!item)
        return false;

    bool inherits = list_item_inherits(item);
    const struct late_list *late = f->again ? find_late(f) : NULL;

    if (late && inherits) {
        list_item_complete(item, late->api_version, late->kind);
    } else if (f->again) {
        return true;
    } else if (inherits && !json_get(f->list, "kind")) {
        f->unknown++;
        return true;
    } else {
        list_item_complete(item, json_str(f->list, "apiVersion", ""),
                           json_str(f->list, "kind", ""));
    }
    hand_out_all(f, item, start);
    return true;
}

static void release_document(struct json_file *f)
{
    json_frame_release(&f->frame);
    cJSON_Delete(f->list);
    f->list = NULL;
}

/* The list is complete: note its kind for a second pass, or report that it has none. */
static void resolve_unknown(struct json_file *f, const cJSON *list)
{
    const char *kind = json_str(list, "kind", "");
    size_t len;

    list_item_kind(kind, &len);
    if (len == 0) {
        CLEANUP(json_cleanup) cJSON *nothing = cJSON_CreateObject();

        /* One object without a kind stands for all such items. */
        hand_out_all(f, nothing, f->start);
        return;
    }
    f->late = xreallocarray(f->late, f->late_count + 1, sizeof(*f->late));
    f->late[f->late_count++] = (struct late_list){
        .document = f->document,
        .api_version = xstrdup(json_str(list, "apiVersion", "")),
        .kind = xstrdup(kind),
    };
}

/* The last byte of a document has been fed. */
static bool end_document(struct json_file *f)
{
    CLEANUP(json_cleanup) cJSON *rest = parse(f, f->frame.rest.data, f->frame.rest.len, f->start);

    /* The rest of a list lacks its items, so places in it are wrong: report the document's. */
    if (!rest && f->items > 0)
        f->where = position_of(f->start);
    if (rest && f->items == 0 && !f->again)
        hand_out_all(f, rest, f->start);
    if (rest && f->unknown > 0)
        resolve_unknown(f, rest);
    release_document(f);
    f->in_document = false;
    f->document++;
    return rest != NULL;
}

static bool too_large(struct json_file *f)
{
    bool in_item = f->frame.in_object;
    struct json_cursor start =
        in_item ? find_start(f, f->start.offset + f->frame.object_start) : f->start;

    fail(f->err, "the object is larger than %zu bytes", f->object_max);
    return refuse(f, position_of(start));
}

/* Between documents: true if `at` is where one begins. */
static bool is_start(struct json_file *f, size_t at)
{
    char byte = f->bytes[at];
    size_t offset = f->base + at;

    if (byte == '{' || byte == '[')
        return true;
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n' ||
        (offset < sizeof(byte_order_mark) - 1 && byte == byte_order_mark[offset]))
        return false;
    fail(f->err, "not valid JSON: an object is expected here");
    return refuse(f, position_of(move_to(f, offset)));
}

static bool feed(struct json_file *f, size_t len)
{
    for (size_t at = 0; at < len;) {
        if (!f->in_document && !is_start(f, at)) {
            if (f->failed)
                return false;
            at++;
            continue;
        }
        if (!f->in_document) {
            json_frame_init(&f->frame, JSON_FRAME_LIST, f->object_max, on_item, f);
            f->frame.one_document = true;
            f->start = move_to(f, f->base + at);
            f->in_document = true;
            f->items = 0;
            f->unknown = 0;
        }
        size_t fed_before = f->frame.offset;
        if (!json_frame_feed(&f->frame, f->bytes + at, len - at, f->err))
            return f->failed ? false : too_large(f);
        at += f->frame.offset - fed_before;
        if (f->frame.ended && !end_document(f))
            return false;
    }
    return true;
}

bool json_file_feed(struct json_file *f, const char *bytes, size_t len, struct json_position *where,
                    struct error *err)
{
    f->bytes = bytes;
    f->err = err;
    if (!feed(f, len)) {
        *where = f->where;
        return false;
    }
    size_t open = f->start.offset + f->frame.object_start;
    if (f->in_document && f->frame.in_object && open >= f->base)
        f->open = move_to(f, open);
    move_to(f, f->base + len);
    f->base += len;
    f->bytes = NULL;
    return true;
}

bool json_file_end(struct json_file *f, struct json_position *where, struct error *err)
{
    if (!f->in_document)
        return true;
    *where = position_of(f->start);
    return fail(err, "not valid JSON: the file ends before this document does");
}

bool json_file_needs_second_pass(const struct json_file *f)
{
    return f->late_count > 0 && !f->again;
}

static void reset(struct json_file *f)
{
    f->base = 0;
    f->document = 0;
    f->cursor = (struct json_cursor){.line = 1};
}

void json_file_begin_second_pass(struct json_file *f)
{
    reset(f);
    f->again = true;
}

struct json_file *json_file_new(size_t object_max, json_object_fn *each, void *context)
{
    struct json_file *f = xcalloc(1, sizeof(*f));

    f->object_max = object_max;
    f->each = each;
    f->context = context;
    reset(f);
    return f;
}

void json_file_free(struct json_file *f)
{
    if (!f)
        return;
    release_document(f);
    for (size_t i = 0; i < f->late_count; i++) {
        free(f->late[i].api_version);
        free(f->late[i].kind);
    }
    free(f->late);
    free(f);
}
