/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/json_file.h"

#include "exporter/system/platform.h"
#include "metrics/base/json_frame.h"
#include "metrics/base/map.h"
#include "metrics/base/utf8.h"

/* ---- lists ---- */

static const char list_suffix[] = "List";

/* Returns the length of the kind that items inherit, a prefix of `list_kind`; 0 without one. */
static size_t inherited_kind_length(const char *list_kind)
{
    size_t suffix_len = sizeof(list_suffix) - 1;
    size_t len = strlen(list_kind);
    bool typed = len > suffix_len && strcmp(list_kind + len - suffix_len, list_suffix) == 0;

    return typed ? len - suffix_len : 0;
}

bool list_item_lacks_type(const cJSON *item)
{
    return cJSON_IsObject(item) && !json_get(item, "apiVersion") && !json_get(item, "kind");
}

static void set_text(cJSON *item, const char *key, const char *text)
{
    /* A null member would hide a new member of the same name from json_get(). */
    cJSON_DeleteItemFromObjectCaseSensitive(item, key);
    if (!cJSON_AddStringToObject(item, key, text))
        memory_exhausted(0);
}

void list_item_set_type(cJSON *item, const char *list_api_version, const char *list_kind)
{
    size_t len = inherited_kind_length(list_kind);

    if (!list_item_lacks_type(item))
        return;
    if (len > 0) {
        CLEANUP(free_cleanup) char *text = xmemdup0(list_kind, len);

        set_text(item, "apiVersion", list_api_version);
        set_text(item, "kind", text);
    } else if (strcmp(list_kind, list_suffix) == 0) {
        set_text(item, "apiVersion", "");
        set_text(item, "kind", "");
    }
}

/* Returns true for a list with neither items nor a name: Go omits empty arrays or writes null. */
static bool is_empty_list(const cJSON *document)
{
    const char *kind = json_str(document, "kind", "");
    bool is_list = inherited_kind_length(kind) > 0 || strcmp(kind, list_suffix) == 0;

    return is_list && !json_get(document, "items") &&
           !json_get(json_get(document, "metadata"), "name");
}

/* Recursive: the parsers limit the depth of lists in lists. */
void list_for_each_object(cJSON *document, struct json_position where, list_object_fn *each,
                          void *context)
{
    const cJSON *items = json_get(document, "items");
    const char *api_version = json_str(document, "apiVersion", "");
    const char *kind = json_str(document, "kind", "");
    cJSON *item;

    if (is_empty_list(document))
        return;
    if (!cJSON_IsArray(items)) {
        each(context, document, where);
        return;
    }
    for (item = items->child; item; item = item->next) {
        struct json_position own = yaml_position(item);

        list_item_set_type(item, api_version, kind);
        list_for_each_object(item, own.line > 0 ? own : where, each, context);
    }
}

/* ---- repeated keys ---- */

/* Up to this number of members, comparisons are faster than a hash map. */
enum { KEYS_COMPARED = 16 };

/* Keys of an object in the order of its members, each with whether an earlier one is equal. */
struct known_keys {
    struct map map; /* Empty up to KEYS_COMPARED members. */
    const cJSON *object;
    bool hashes;
    uint64_t seed; /* Unpredictable for authors of texts. */
};

static bool has_key(const void *item, const void *key)
{
    return strcmp(((const cJSON *)item)->string, key) == 0;
}

static struct known_keys known_keys_make(const cJSON *object)
{
    struct known_keys k = {.map = MAP_INIT(has_key), .object = object};

    k.hashes = cJSON_GetArraySize(object) > KEYS_COMPARED;
    k.seed = k.hashes ? platform_random_seed() : 0;
    return k;
}

/* Returns an earlier member with the key of `member`, or NULL. Call it for each member in order. */
static cJSON *known_keys_find(struct known_keys *k, cJSON *member)
{
    uint64_t hash = k->hashes ? map_hash(member->string, strlen(member->string), k->seed) : 0;
    cJSON *earlier = NULL;

    if (!k->hashes) {
        for (earlier = k->object->child; earlier != member; earlier = earlier->next) {
            if (strcmp(earlier->string, member->string) == 0)
                return earlier;
        }
        return NULL;
    }
    earlier = map_take(&k->map, hash, member->string);
    map_add(&k->map, hash, member);
    return earlier;
}

/* Returns true if an object in the tree has two members with the same key. Recursive. */
static bool has_repeated_key(const cJSON *tree)
{
    bool is_object = cJSON_IsObject(tree);
    struct known_keys keys = {.seed = 0};
    bool found = false;
    cJSON *child;

    if (!is_object && !cJSON_IsArray(tree))
        return false;
    if (is_object)
        keys = known_keys_make(tree);
    for (child = tree->child; child && !found; child = child->next)
        found = (is_object && known_keys_find(&keys, child)) || has_repeated_key(child);
    map_release(&keys.map);
    return found;
}

/* Walk of a tree and, at the same time, of its text, which is valid JSON. */
struct repeated_walk {
    const char *text; /* Its place in the file is `start`. */
    const char *at;
    struct json_position start;
    bool exact;               /* The text is a part of the file; else all keys are at `start`. */
    repeated_key_fn *receive; /* May be NULL. */
    void *context;
};

static void skip_any(struct repeated_walk *w, const char *bytes)
{
    while (*w->at != '\0' && strchr(bytes, *w->at))
        w->at++;
}

static void skip_text(struct repeated_walk *w)
{
    for (w->at++; *w->at != '"'; w->at++)
        w->at += *w->at == '\\';
    w->at++;
}

/* Moves `start` and `text` to the current place, so that all places together take linear time. */
static void count_lines(struct repeated_walk *w)
{
    struct json_position where = json_position_of(w->text, (size_t)(w->at - w->text));

    if (where.line == 1)
        where.column += w->start.column - 1;
    where.line += w->start.line - 1;
    w->start = where;
    w->text = w->at;
}

static void report_repeated_key(struct repeated_walk *w, const char *key)
{
    if (!w->receive)
        return;
    if (w->exact)
        count_lines(w);
    w->receive(w->context, key, w->start);
}

static void drop_repeated_keys(struct repeated_walk *w, cJSON *tree);

static void drop_from_object(struct repeated_walk *w, cJSON *object)
{
    struct known_keys keys = known_keys_make(object);
    cJSON *next;

    for (cJSON *child = object->child; child; child = next) {
        cJSON *earlier = known_keys_find(&keys, child);

        next = child->next;
        skip_any(w, " \t\r\n,");
        if (earlier) {
            report_repeated_key(w, child->string);
            cJSON_Delete(cJSON_DetachItemViaPointer(object, earlier));
        }
        skip_text(w);
        skip_any(w, " \t\r\n:");
        drop_repeated_keys(w, child);
    }
    map_release(&keys.map);
}

/* Reports the repeated keys of a tree, and removes their earlier values. Recursive. */
static void drop_repeated_keys(struct repeated_walk *w, cJSON *tree)
{
    cJSON *child;

    skip_any(w, " \t\r\n");
    if (cJSON_IsString(tree)) {
        skip_text(w);
        return;
    }
    if (!cJSON_IsObject(tree) && !cJSON_IsArray(tree)) {
        while (*w->at != '\0' && !strchr(" \t\r\n,]}", *w->at))
            w->at++;
        return;
    }
    w->at++;
    if (cJSON_IsObject(tree))
        drop_from_object(w, tree);
    for (child = cJSON_IsArray(tree) ? tree->child : NULL; child; child = child->next) {
        skip_any(w, " \t\r\n,");
        drop_repeated_keys(w, child);
    }
    skip_any(w, " \t\r\n,");
    w->at++;
}

/* ---- files ---- */

static const char byte_order_mark[] = "\xef\xbb\xbf";
enum { BYTE_ORDER_MARK_LEN = 3 };

/* List with a kind that follows items without a kind. */
struct late_list {
    size_t document; /* Number of the document in the file, from 0. */
    char *api_version;
    char *kind;
};

/* Position in the file: offset of a byte, and its line. */
struct json_cursor {
    size_t offset;
    size_t line;
    size_t line_start; /* Offset of the first byte of the line, behind a byte order mark. */
    size_t continued;  /* Bytes of the line that continue a character. */
};

struct json_file {
    size_t object_max;
    json_object_fn *each;
    void *context;
    repeated_key_fn *receive_repeated; /* May be NULL. */
    void *repeated_context;

    /* The current document. */
    struct json_frame frame;
    struct json_cursor start;
    bool in_document;
    size_t document; /* Number of the document in the file, from 0. */
    size_t items;
    size_t untyped; /* Number of items without a kind that precede the kind of their list. */
    cJSON *list;    /* Members before the first item; NULL before that item, and if invalid. */

    /* The bytes of the current feed. */
    const char *bytes;
    size_t base;               /* Offset of `bytes` in the file. */
    struct json_cursor cursor; /* Position up to which lines are counted. */
    struct json_cursor open;   /* Start of the object that was open at the end of the last feed. */

    struct late_list *late;
    size_t late_count;
    bool second_pass;

    struct json_position where;
    struct error *err;
    bool failed;
};

static struct json_position position_of(struct json_cursor c)
{
    return (struct json_position){c.line, c.offset - c.line_start - c.continued + 1};
}

/* Counts lines up to `offset`, which is in the current bytes, and returns the cursor. */
static struct json_cursor advance_cursor(struct json_file *f, size_t offset)
{
    struct json_cursor *c = &f->cursor;

    while (c->offset < offset) {
        const char *from = f->bytes + (c->offset - f->base);
        const char *newline = memchr(from, '\n', offset - c->offset);

        if (!newline)
            c->continued += offset - c->offset - utf8_count(from, offset - c->offset);
        c->offset = newline ? c->offset + (size_t)(newline - from) + 1 : offset;
        if (newline) {
            c->line++;
            c->line_start = c->offset;
            c->continued = 0;
        }
    }
    return *c;
}

/* Returns the start of the current object, which is at `offset`. */
static struct json_cursor find_object_start(struct json_file *f, size_t offset)
{
    return offset < f->base ? f->open : advance_cursor(f, offset);
}

static bool fail_at(struct json_file *f, struct json_position where)
{
    f->failed = true;
    f->where = where;
    return false;
}

/* Parses JSON that begins at `start`. Returns NULL with reason and position if it is invalid. */
static cJSON *parse_value(struct json_file *f, const char *json, size_t len,
                          struct json_cursor start)
{
    struct json_position where = position_of(start);
    struct json_position inside;
    cJSON *tree = json_parse(json, len, &inside, f->err);

    if (tree && has_repeated_key(tree)) {
        /* The second pass parses again what the first pass has reported. */
        struct repeated_walk w = {
            .text = json,
            .at = json,
            .start = where,
            .exact = json != f->frame.rest.data || f->items == 0,
            .receive = f->second_pass ? NULL : f->receive_repeated,
            .context = f->repeated_context,
        };

        drop_repeated_keys(&w, tree);
    }
    if (tree)
        return tree;
    if (inside.line > 1)
        where.column = inside.column;
    else
        where.column += inside.column - 1;
    where.line += inside.line - 1;
    fail_at(f, where);
    return NULL;
}

/* Parses the members of a list before its first item. Returns NULL if they are invalid JSON. */
static cJSON *parse_list_head(const struct json_file *f)
{
    CLEANUP(strbuf_release) struct strbuf head = STRBUF_INIT(f->object_max + 2);
    struct error ignored;

    strbuf_add(&head, f->frame.rest.data, f->frame.rest.len);
    strbuf_adds(&head, "]}");
    return json_parse(head.data, head.len, NULL, &ignored);
}

static const struct late_list *find_late_list(const struct json_file *f)
{
    for (size_t i = 0; i < f->late_count; i++) {
        if (f->late[i].document == f->document)
            return &f->late[i];
    }
    return NULL;
}

/* Receiver of the objects of a document or an item. */
struct item_receiver {
    struct json_file *file;
    struct json_place place;   /* Place of the document or the item. */
    struct json_place *places; /* Places of objects in nested lists; see number_items(). Owned. */
    size_t count;
};

static void pass_object(void *context, cJSON *object, struct json_position where)
{
    const struct item_receiver *h = context;
    size_t number = h->places && cJSON_IsObject(object) ? (size_t)object->valueint : 0;

    (void)where;
    if (number > 0)
        object->valueint = 0;
    h->file->each(h->file->context, object, number > 0 ? h->places[number - 1] : h->place);
}

/*
 * Adds the places of all items of a list, also of lists in it, and numbers the items from 1: in
 * `valueint`, which objects do not use.
 */
static void number_items(struct item_receiver *h, const cJSON *list,
                         const struct field_node *fields)
{
    const cJSON *items = json_array(list, "items");
    const struct field_node *node = field_node_member(fields, "items");
    cJSON *item = items ? items->child : NULL;

    for (node = node ? node->first : NULL; node && item; node = node->next, item = item->next) {
        if (!cJSON_IsObject(item))
            continue;
        if ((h->count & (h->count - 1)) == 0)
            h->places = xreallocarray(h->places, h->count ? h->count * 2 : 1, sizeof(*h->places));
        h->places[h->count++] =
            (struct json_place){node->where.line, node->where.column, node->offset};
        item->valueint = (int)h->count;
        number_items(h, item, node);
    }
}

/* Passes on the objects in a document or an item; `json` is its text, without items of a list. */
static void emit_objects(struct json_file *f, cJSON *document, struct json_cursor start,
                         const char *json, size_t len)
{
    struct json_position where = position_of(start);
    struct item_receiver h = {.file = f, .place = {where.line, where.column, start.offset}};

    if (json_array(document, "items") && json_array(document, "items")->child) {
        struct yaml_text text = {json, len};
        CLEANUP(field_node_cleanup)
        struct field_node *fields = json_fields_read(yaml_read_text, &text, h.place, len);

        if (fields)
            number_items(&h, document, fields);
    }
    list_for_each_object(document, where, pass_object, &h);
    free(h.places);
}

/* Returns false if the members before the first item leave the type of the items open. */
static bool has_item_type(const cJSON *list)
{
    const char *kind = json_str(list, "kind", "");

    return inherited_kind_length(kind) > 0 ? json_get(list, "apiVersion") != NULL : *kind != '\0';
}

static bool receive_item(void *context, const char *json, size_t len, size_t offset)
{
    struct json_file *f = context;
    struct json_cursor start = find_object_start(f, f->start.offset + offset);

    if (f->items++ == 0)
        f->list = parse_list_head(f);

    CLEANUP(json_cleanup) cJSON *item = parse_value(f, json, len, start);
    if (!item)
        return false;

    bool inherits = list_item_lacks_type(item);
    const struct late_list *late = f->second_pass ? find_late_list(f) : NULL;

    if (late && inherits) {
        list_item_set_type(item, late->api_version, late->kind);
    } else if (f->second_pass) {
        return true;
    } else if (inherits && !has_item_type(f->list)) {
        f->untyped++;
        return true;
    } else {
        list_item_set_type(item, json_str(f->list, "apiVersion", ""),
                           json_str(f->list, "kind", ""));
    }
    emit_objects(f, item, start, json, len);
    return true;
}

static void release_document(struct json_file *f)
{
    json_frame_release(&f->frame);
    cJSON_Delete(f->list);
    f->list = NULL;
}

/* Stores the kind of a list for the second pass, or reports the items if the kind is not typed. */
static void resolve_untyped(struct json_file *f, const cJSON *list)
{
    const char *kind = json_str(list, "kind", "");

    if (inherited_kind_length(kind) == 0) {
        CLEANUP(json_cleanup) cJSON *nothing = cJSON_CreateObject();

        /* One empty object stands for all items without a kind, and counts as one. */
        list_item_set_type(nothing, "", kind);
        emit_objects(f, nothing, f->start, "", 0);
        return;
    }
    f->late = xreallocarray(f->late, f->late_count + 1, sizeof(*f->late));
    f->late[f->late_count++] = (struct late_list){
        .document = f->document,
        .api_version = xstrdup(json_str(list, "apiVersion", "")),
        .kind = xstrdup(kind),
    };
}

static bool end_document(struct json_file *f)
{
    CLEANUP(json_cleanup)
    cJSON *rest = parse_value(f, f->frame.rest.data, f->frame.rest.len, f->start);

    /* The list was parsed without its items, so only the start of the document is a position. */
    if (!rest && f->items > 0)
        f->where = position_of(f->start);
    if (rest && f->items == 0 && !f->second_pass)
        emit_objects(f, rest, f->start, "", 0);
    if (rest && f->untyped > 0)
        resolve_untyped(f, rest);
    release_document(f);
    f->in_document = false;
    f->document++;
    return rest != NULL;
}

static bool fail_too_large(struct json_file *f)
{
    bool in_item = f->frame.in_object;
    struct json_cursor start =
        in_item ? find_object_start(f, f->start.offset + f->frame.object_start) : f->start;

    fail(f->err, "the object is larger than %zu bytes", f->object_max);
    return fail_at(f, position_of(start));
}

/*
 * Returns true if a document begins at index `at`; else sets f->failed unless the byte is blank or
 * part of a byte order mark.
 */
static bool begins_document(struct json_file *f, size_t at)
{
    char byte = f->bytes[at];
    size_t offset = f->base + at;

    if (byte == '{' || byte == '[')
        return true;
    if (byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n')
        return false;
    if (offset < BYTE_ORDER_MARK_LEN && byte == byte_order_mark[offset]) {
        /* The mark is no column. */
        if (offset + 1 == BYTE_ORDER_MARK_LEN)
            f->cursor =
                (struct json_cursor){.offset = offset + 1, .line = 1, .line_start = offset + 1};
        return false;
    }
    fail(f->err, "not valid JSON: an object is expected here");
    return fail_at(f, position_of(advance_cursor(f, offset)));
}

static bool feed_bytes(struct json_file *f, size_t len)
{
    for (size_t at = 0; at < len;) {
        if (!f->in_document && !begins_document(f, at)) {
            if (f->failed)
                return false;
            at++;
            continue;
        }
        if (!f->in_document) {
            json_frame_init(&f->frame, JSON_FRAME_LIST, f->object_max, receive_item, f);
            f->frame.one_document = true;
            f->start = advance_cursor(f, f->base + at);
            f->in_document = true;
            f->items = 0;
            f->untyped = 0;
        }
        size_t fed_before = f->frame.offset;
        if (!json_frame_feed(&f->frame, f->bytes + at, len - at, f->err))
            return f->failed ? false : fail_too_large(f);
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
    if (!feed_bytes(f, len)) {
        *where = f->where;
        return false;
    }
    size_t open = f->start.offset + f->frame.object_start;
    if (f->in_document && f->frame.in_object && open >= f->base)
        f->open = advance_cursor(f, open);
    advance_cursor(f, f->base + len);
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
    return f->late_count > 0 && !f->second_pass;
}

static void reset_position(struct json_file *f)
{
    f->base = 0;
    f->document = 0;
    f->cursor = (struct json_cursor){.line = 1};
}

void json_file_begin_second_pass(struct json_file *f)
{
    reset_position(f);
    f->second_pass = true;
}

struct json_file *json_file_new(size_t object_max, json_object_fn *each, void *context)
{
    struct json_file *f = xcalloc(1, sizeof(*f));

    f->object_max = object_max;
    f->each = each;
    f->context = context;
    reset_position(f);
    return f;
}

void json_file_receive_repeated_keys(struct json_file *f, repeated_key_fn *receive, void *context)
{
    f->receive_repeated = receive;
    f->repeated_context = context;
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
