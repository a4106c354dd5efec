/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml.h"

#include <math.h>

#include "exporter/system/platform.h"
#include "exporter/system/secret.h"
#include "exporter/yaml/yaml_events.h"
#include "exporter/yaml/yaml_scalar.h"
#include "metrics/base/shown.h"

/* Up to this many keys, comparing each is faster than a map. */
enum { KEYS_SEARCHED = 16 };

static bool is_member(const void *item, const void *key)
{
    return strcmp(((const cJSON *)item)->string, key) == 0;
}

static uint64_t hash_key(const struct mapping *m, const char *key)
{
    return map_hash(key, strlen(key), m->seed);
}

/* `seed` is one that the author of the text cannot guess (platform_seed). */
static void mapping_init(struct mapping *m, uint64_t seed)
{
    *m = (struct mapping){
        .seed = seed,
        .object = cJSON_CreateObject(),
        .merged = cJSON_CreateArray(),
        .seen = MAP_INIT(is_member),
    };
    if (!m->object || !m->merged)
        memory_exhausted(0);
}

/* Takes one that is filled with zeros. */
static void mapping_release(struct mapping *m)
{
    secret_tree_cleanup(&m->object);
    cJSON_Delete(m->merged);
    map_release(&m->seen);
}

static bool mapping_has(const struct mapping *m, const char *key)
{
    if (m->count > KEYS_SEARCHED)
        return map_get(&m->seen, hash_key(m, key), key) != NULL;
    return cJSON_GetObjectItemCaseSensitive(m->object, key) != NULL;
}

/* The mapping owns the item from now on. The key must be new. */
static void mapping_put(struct mapping *m, const char *key, cJSON *item)
{
    cJSON *member = NULL;

    if (!cJSON_AddItemToObject(m->object, key, item))
        memory_exhausted(0);
    m->count++;
    if (m->count == KEYS_SEARCHED + 1) {
        cJSON_ArrayForEach (member, m->object)
            map_add(&m->seen, hash_key(m, member->string), member);
    } else if (m->count > KEYS_SEARCHED) {
        map_add(&m->seen, hash_key(m, key), item);
    }
}

/* A value of `<<`, borrowed until mapping_take. False unless it is one mapping or a list of them.
 */
static MUST_USE bool mapping_merge(struct mapping *m, cJSON *value)
{
    const cJSON *source;
    bool fine = cJSON_IsObject(value) || cJSON_IsArray(value);

    if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach (source, value)
            fine = fine && cJSON_IsObject(source);
    }
    if (fine && !cJSON_AddItemReferenceToArray(m->merged, value))
        memory_exhausted(0);
    return fine;
}

static void merge_from(struct mapping *m, const cJSON *source)
{
    const cJSON *member;

    cJSON_ArrayForEach (member, source) {
        cJSON *copy = mapping_has(m, member->string) ? NULL : cJSON_Duplicate(member, true);

        if (copy)
            mapping_put(m, member->string, copy);
    }
}

/* Merge the values of `<<`, the earlier one wins, and hand the object to the caller. */
static MUST_USE cJSON *mapping_take(struct mapping *m)
{
    const cJSON *value;
    const cJSON *source;
    cJSON *object = m->object;

    cJSON_ArrayForEach (value, m->merged) {
        if (cJSON_IsObject(value)) {
            merge_from(m, value);
            continue;
        }
        cJSON_ArrayForEach (source, value)
            merge_from(m, source);
    }
    m->object = NULL;
    return object;
}

/* Aliases may add so many times the nodes and bytes that are written out, beyond one document. */
enum { COPIES_MAX = 8 };

/* libyaml reads in pieces, and further than the text that it returns. */
enum { SPAN_SLACK = 64 * 1024 };

/* Texts of a configuration file with the copies by aliases, in bytes. */
enum { CONFIG_TEXTS_MAX = 4 * YAML_CONFIG_MAX };

struct yaml_reader {
    struct yaml_events events;
    struct yaml_limits limits;
    uint64_t seed; /* Seed of the hashes of keys and anchors: an attacker may choose the texts. */
    struct anchors anchors;
    cJSON *kept;           /* Values outside the tree that anchors may point to. */
    struct weight used;    /* By the trees in memory; `height` is the current depth. */
    struct weight written; /* By the whole text, without aliases and merges, */
    struct weight copied;  /* and by these. */

    /* The document that may be a list. */
    struct mapping list;
    struct json_position list_where;
    bool in_items; /* The next event is that of an item, or the end of the items. */
    bool began;    /* A document has begun. */
};

/* cJSON answers NULL where we abort. */
static cJSON *made(cJSON *item)
{
    if (!item)
        memory_exhausted(0);
    return item;
}

static cJSON *move_out(cJSON **tree)
{
    cJSON *moved = *tree;

    *tree = NULL;
    return moved;
}

static bool refuse(struct yaml_reader *r, yaml_mark_t mark, const char *what)
{
    return yaml_events_refuse(&r->events, mark, what);
}

/* Counts a node before it is made. False, with the reason, over a limit. */
static bool charge(struct yaml_reader *r, yaml_mark_t mark, struct weight cost)
{
    if (cost.nodes > r->limits.nodes_max - r->used.nodes ||
        cost.bytes > r->limits.bytes_max - r->used.bytes)
        return refuse(r, mark, "the document, with its anchors expanded, is too large");
    if (r->used.height + cost.height > JSON_DEPTH_MAX)
        return refuse(r, mark, "nested deeper than 128 levels");
    r->used.nodes += cost.nodes;
    r->used.bytes += cost.bytes;
    return true;
}

/* Counts a node that is written out. */
static bool charge_written(struct yaml_reader *r, yaml_mark_t mark, struct weight cost)
{
    r->written.nodes += cost.nodes;
    r->written.bytes += cost.bytes;
    return charge(r, mark, cost);
}

/* True if copies of one size are out of proportion to the text. */
static bool is_too_much(size_t copied, size_t written, size_t free)
{
    return copied > free && copied - free > written * COPIES_MAX;
}

/* Counts a copy of a node: many small documents with aliases are limited together. */
static bool charge_copy(struct yaml_reader *r, yaml_mark_t mark, struct weight cost)
{
    if (!charge(r, mark, cost))
        return false;
    r->copied.nodes += cost.nodes;
    r->copied.bytes += cost.bytes;
    return (!is_too_much(r->copied.nodes, r->written.nodes, r->limits.nodes_max) &&
            !is_too_much(r->copied.bytes, r->written.bytes, r->limits.bytes_max)) ||
           refuse(r, mark, "the text, with its anchors expanded, is too large");
}

static struct anchor *open_anchor(struct yaml_reader *r, const yaml_char_t *name)
{
    return anchors_add(&r->anchors, r->seed, (const char *)name);
}

static const struct anchor *find_anchor(struct yaml_reader *r, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct anchor *anchor = anchors_find(&r->anchors, r->seed, name);

    /* The name is not shown: a password that begins with '*' is an alias to YAML. */
    if (anchor && anchor->node)
        return anchor;
    if (anchor)
        refuse(r, event->start_mark, "the anchor of this alias contains itself");
    else
        refuse(r, event->start_mark, "there is no anchor of this name before this alias");
    return NULL;
}

static bool resolve(struct yaml_reader *r, const yaml_event_t *event, struct scalar *out)
{
    const char *text = (const char *)event->data.scalar.value;
    struct error why;

    if (strlen(text) != event->data.scalar.length)
        return refuse(r, event->start_mark, "a NUL character in a text");
    if (r->limits.as_written) {
        *out = (struct scalar){.type = SCALAR_TEXT};
        return true;
    }
    if (scalar_resolve(text, (const char *)event->data.scalar.tag,
                       event->data.scalar.plain_implicit != 0, out, &why))
        return true;
    return refuse(r, event->start_mark, why.text);
}

/* A tree of texts has no numbers: the place is in the members of cJSON for numbers. */
static void set_place(struct yaml_reader *r, cJSON *node, yaml_mark_t mark)
{
    if (!r->limits.as_written)
        return;
    node->valueint = (int)mark.line + 1;
    node->valuedouble = (double)(mark.column + 1);
}

static cJSON *make_text(struct yaml_reader *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    cJSON *node = made(cJSON_CreateString(text));

    if (r->limits.as_written && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        scalar_is_null(text))
        node->type = cJSON_NULL;
    return node;
}

static cJSON *read_scalar(struct yaml_reader *r, const yaml_event_t *event, struct weight *weight)
{
    struct anchor *anchor = open_anchor(r, event->data.scalar.anchor);
    struct scalar scalar = {0};
    cJSON *node = NULL;

    *weight = (struct weight){.nodes = 1, .bytes = event->data.scalar.length};
    if (!charge_written(r, event->start_mark, *weight) || !resolve(r, event, &scalar))
        return NULL;
    if (scalar.type == SCALAR_FLOAT && !isfinite(scalar.number)) {
        refuse(r, event->start_mark, "JSON has no infinity and no 'not a number'");
        return NULL;
    }
    switch (scalar.type) {
    case SCALAR_TEXT:
        node = make_text(r, event);
        break;
    case SCALAR_NULL:
        node = made(cJSON_CreateNull());
        break;
    case SCALAR_BOOL:
        node = made(cJSON_CreateBool(scalar.truth));
        break;
    case SCALAR_INT:
    case SCALAR_FLOAT:
        node = made(cJSON_CreateNumber(scalar.number));
        break;
    }
    anchor_set_node(anchor, node, *weight);
    return node;
}

/* Declared ahead because a node contains nodes. */
static cJSON *read_node(struct yaml_reader *r, const yaml_event_t *event, struct weight *weight);

static cJSON *read_sequence(struct yaml_reader *r, struct weight *weight)
{
    CLEANUP(secret_tree_cleanup) cJSON *array = made(cJSON_CreateArray());

    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};
        struct weight inner = {0};

        if (!yaml_events_next(&r->events, &event))
            return NULL;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return move_out(&array);

        cJSON *item = read_node(r, &event, &inner);
        if (!item)
            return NULL;
        cJSON_AddItemToArray(array, item);
        yaml_cost_add(weight, inner);
    }
}

/* A key that is an alias stands for the text, number or boolean of its anchor. */
static bool read_alias_key(struct yaml_reader *r, const yaml_event_t *event, struct strbuf *key)
{
    const struct anchor *anchor = find_anchor(r, event);

    if (!anchor)
        return false;
    if (anchor->node->valuestring)
        strbuf_adds(key, anchor->node->valuestring);
    else if (cJSON_IsBool(anchor->node))
        strbuf_adds(key, cJSON_IsTrue(anchor->node) ? "true" : "false");
    else if (cJSON_IsNumber(anchor->node))
        strbuf_addf(key, "%.17g", anchor->node->valuedouble);
    else
        return refuse(r, event->start_mark, "a key must be a text, a number or a boolean");
    return true;
}

/* A key that is new in the mapping. */
static bool read_key(struct yaml_reader *r, const struct mapping *m, const yaml_event_t *event,
                     struct strbuf *key)
{
    const char *text = (const char *)event->data.scalar.value;
    struct scalar scalar;
    struct error why;

    if (event->type == YAML_ALIAS_EVENT) {
        if (!read_alias_key(r, event, key))
            return false;
    } else if (event->type != YAML_SCALAR_EVENT) {
        return refuse(r, event->start_mark, "a key must be a text, a number or a boolean");
    } else if (!resolve(r, event, &scalar)) {
        return false;
    } else if (!scalar_key(&scalar, text, key, &why)) {
        return refuse(r, event->start_mark, why.text);
    } else if (event->data.scalar.anchor) {
        cJSON *named = made(cJSON_CreateString(key->data));

        cJSON_AddItemToArray(r->kept, named);
        anchor_set_node(open_anchor(r, event->data.scalar.anchor), named,
                        (struct weight){.nodes = 1, .bytes = key->len});
    }
    struct weight cost = {.bytes = strbuf_ok(key) ? key->len : SIZE_MAX / 2};

    if (!(event->type == YAML_ALIAS_EVENT ? charge_copy(r, event->start_mark, cost)
                                          : charge_written(r, event->start_mark, cost)))
        return false;
    if (!mapping_has(m, key->data))
        return true;
    /* The key of a web configuration may be a password in the wrong place. */
    if (r->limits.as_written)
        return refuse(r, event->start_mark, "a key appears twice in one mapping");
    fail(&why, "the key '%s' appears twice in one mapping", shown(key->data).text);
    return refuse(r, event->start_mark, why.text);
}

/* Returns true for a list that is handed out item by item. An anchor needs the whole list. */
static bool is_item_list(const char *key, const yaml_event_t *event)
{
    return strcmp(key, "items") == 0 && event->type == YAML_SEQUENCE_START_EVENT &&
           !event->data.sequence_start.anchor;
}

/*
 * Reads the value of a key whose event has been read. Sets `items`, unless it is NULL, if the value
 * is a list to be handed out item by item. The member is an empty array then, and the next event is
 * that of the first item.
 */
static bool read_member(struct yaml_reader *r, struct mapping *m, const yaml_event_t *key_event,
                        struct weight *weight, bool *items)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_SECRET(r->limits.bytes_max);
    CLEANUP(yaml_event_delete) yaml_event_t event = {0};
    struct weight inner = {0};
    bool merges = key_event->type == YAML_SCALAR_EVENT && key_event->data.scalar.plain_implicit &&
                  strcmp((const char *)key_event->data.scalar.value, "<<") == 0;

    if (!merges && !read_key(r, m, key_event, &key))
        return false;
    if (!yaml_events_next(&r->events, &event))
        return false;
    if (items && !merges && is_item_list(key.data, &event)) {
        mapping_put(m, key.data, made(cJSON_CreateArray()));
        *items = true;
        return true;
    }

    cJSON *value = read_node(r, &event, &inner);
    if (!value)
        return false;
    if (merges) {
        /* Anchors may point into it, so it lives as long as the document. */
        cJSON_AddItemToArray(r->kept, value);
        if (!mapping_merge(m, value))
            return refuse(r, event.start_mark, "'<<' needs a mapping or a list of mappings");
        /* It is merged when the mapping ends, which copies it once more. */
        if (!charge_copy(r, event.start_mark, (struct weight){inner.nodes, inner.bytes, 0}))
            return false;
    } else {
        mapping_put(m, key.data, value);
        set_place(r, value, key_event->start_mark);
    }
    weight->bytes += key.len;
    yaml_cost_add(weight, inner);
    return true;
}

static cJSON *read_mapping(struct yaml_reader *r, const yaml_event_t *start, struct weight *weight)
{
    CLEANUP(mapping_release) struct mapping m;

    mapping_init(&m, r->seed);
    m.object->valueint = (int)start->start_mark.line + 1;
    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &event))
            return NULL;
        if (event.type == YAML_MAPPING_END_EVENT)
            break;
        if (!read_member(r, &m, &event, weight, NULL))
            return NULL;
    }
    return mapping_take(&m);
}

static cJSON *read_alias(struct yaml_reader *r, const yaml_event_t *event, struct weight *weight)
{
    const struct anchor *named = find_anchor(r, event);

    if (!named || !charge_copy(r, event->start_mark, named->weight))
        return NULL;
    *weight = named->weight;
    return made(cJSON_Duplicate(named->node, true));
}

static cJSON *read_container(struct yaml_reader *r, const yaml_event_t *event,
                             struct weight *weight)
{
    bool is_sequence = event->type == YAML_SEQUENCE_START_EVENT;
    cJSON *node;
    struct anchor *anchor = open_anchor(r, is_sequence ? event->data.sequence_start.anchor
                                                       : event->data.mapping_start.anchor);
    *weight = (struct weight){.nodes = 1, .height = 1};
    if (!charge_written(r, event->start_mark, *weight))
        return NULL;
    r->used.height++;
    node = is_sequence ? read_sequence(r, weight) : read_mapping(r, event, weight);
    r->used.height--;
    if (node)
        anchor_set_node(anchor, node, *weight);
    return node;
}

/* Calls itself through the readers of containers; `charge` bounds the depth. */
static cJSON *read_node(struct yaml_reader *r, const yaml_event_t *event, struct weight *weight)
{
    cJSON *node = event->type == YAML_SCALAR_EVENT  ? read_scalar(r, event, weight)
                  : event->type == YAML_ALIAS_EVENT ? read_alias(r, event, weight)
                                                    : read_container(r, event, weight);

    if (node)
        set_place(r, node, event->start_mark);
    return node;
}

static void forget_document(struct yaml_reader *r)
{
    anchors_release(&r->anchors);
    mapping_release(&r->list);
    r->list = (struct mapping){.object = NULL};
    secret_tree_cleanup(&r->kept);
    r->kept = made(cJSON_CreateArray());
    r->used = (struct weight){0};
}

struct yaml_reader *yaml_reader_new(yaml_read_fn *read, void *context, struct yaml_limits limits)
{
    struct yaml_reader *r = xcalloc(1, sizeof(*r));

    yaml_events_init(&r->events, read, context,
                     (struct yaml_event_limits){limits.bytes_max + SPAN_SLACK, limits.term});
    r->limits = limits;
    r->seed = platform_seed();
    forget_document(r);
    return r;
}

void yaml_reader_free(struct yaml_reader *reader)
{
    if (!reader)
        return;
    forget_document(reader);
    cJSON_Delete(reader->kept);
    yaml_events_release(&reader->events);
    free(reader);
}

/* The tree of the document is complete. */
static bool end_document(struct yaml_reader *r, struct json_position *where)
{
    CLEANUP(yaml_event_delete) yaml_event_t end = {0};

    *where = r->list_where;
    return yaml_events_next(&r->events, &end);
}

/* Reads members of the document that may be a list: up to its items, or to its end. */
static bool read_list(struct yaml_reader *r, cJSON **out, struct json_position *where)
{
    struct weight ignored = {0};

    while (!r->in_items) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &event))
            return false;
        if (event.type == YAML_MAPPING_END_EVENT) {
            *out = mapping_take(&r->list);
            return end_document(r, where);
        }
        if (!read_member(r, &r->list, &event, &ignored, &r->in_items))
            return false;
    }
    r->used.height++;
    return true;
}

/* Reads the document that has just begun: up to its items, or to its end. */
static bool read_document(struct yaml_reader *r, const yaml_event_t *start, cJSON **out,
                          struct json_position *where)
{
    CLEANUP(yaml_event_delete) yaml_event_t root = {0};
    struct weight weight = {0};

    if (r->began && r->limits.as_written)
        return refuse(r, start->start_mark, "more than one document");
    r->began = true;
    forget_document(r);
    if (!yaml_events_next(&r->events, &root))
        return false;
    r->list_where = (struct json_position){root.start_mark.line + 1, root.start_mark.column + 1};
    if (!r->limits.by_item || root.type != YAML_MAPPING_START_EVENT) {
        *out = read_node(r, &root, &weight);
        return *out && end_document(r, where);
    }
    /* Never closed: an alias of the document is inside it. */
    open_anchor(r, root.data.mapping_start.anchor);
    if (!charge_written(r, root.start_mark, (struct weight){.nodes = 1, .height = 1}))
        return false;
    r->used.height++;
    mapping_init(&r->list, r->seed);
    r->list.object->valueint = (int)root.start_mark.line + 1;
    return read_list(r, out, where);
}

/*
 * Reads an item. Anchors point into it, so one with an anchor is kept, and the caller gets a copy;
 * the others do not count any more as soon as they are handed out.
 */
static bool read_item(struct yaml_reader *r, const yaml_event_t *event, cJSON **out)
{
    const struct anchor *newest = r->anchors.newest;
    struct weight before = r->used;
    struct weight weight = {0};
    cJSON *kept = r->kept;

    r->kept = made(cJSON_CreateArray());
    *out = read_node(r, event, &weight);
    if (*out && r->anchors.newest == newest) {
        cJSON_Delete(r->kept);
        r->used = before;
    } else {
        cJSON *copy = *out ? made(cJSON_Duplicate(*out, true)) : NULL;

        if (*out)
            cJSON_AddItemToArray(r->kept, *out);
        cJSON_AddItemToArray(kept, r->kept);
        *out = copy;
    }
    r->kept = kept;
    return *out != NULL;
}

/* Reads the next item, or behind the last one the rest of the document. */
static bool read_items(struct yaml_reader *r, cJSON **out, struct json_position *where)
{
    CLEANUP(yaml_event_delete) yaml_event_t event = {0};

    if (!yaml_events_next(&r->events, &event))
        return false;
    if (event.type == YAML_SEQUENCE_END_EVENT) {
        r->in_items = false;
        r->used.height--;
        return read_list(r, out, where);
    }
    *where = (struct json_position){event.start_mark.line + 1, event.start_mark.column + 1};
    return read_item(r, &event, out);
}

enum yaml_outcome yaml_reader_next(struct yaml_reader *reader, cJSON **out,
                                   struct json_position *where, struct error *err)
{
    struct yaml_events *events = &reader->events;

    events->err = err;
    while (!events->failed) {
        CLEANUP(secret_tree_cleanup) cJSON *tree = NULL;
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!reader->in_items && !yaml_events_next(events, &event))
            break;
        if (event.type == YAML_STREAM_END_EVENT)
            return YAML_READ_END;
        if (reader->in_items ? !read_items(reader, &tree, where)
                             : event.type == YAML_DOCUMENT_START_EVENT &&
                                   !read_document(reader, &event, &tree, where))
            break;
        if (!tree || (!reader->in_items && cJSON_IsNull(tree)))
            continue;
        *out = move_out(&tree);
        return reader->in_items ? YAML_READ_ITEM : YAML_READ_DOCUMENT;
    }
    *where = events->where;
    return YAML_READ_MALFORMED;
}

size_t yaml_line(const cJSON *mapping)
{
    return cJSON_IsObject(mapping) ? (size_t)mapping->valueint : 0;
}

void yaml_reader_cleanup(struct yaml_reader **reader)
{
    yaml_reader_free(*reader);
}

bool yaml_read_config(const char *path, const char *text, size_t len, cJSON **out,
                      struct error *err)
{
    struct yaml_limits limits = {
        .nodes_max = YAML_CONFIG_MAX, .bytes_max = CONFIG_TEXTS_MAX, .as_written = true};
    struct yaml_text source = {text, len};
    CLEANUP(secret_tree_cleanup) cJSON *tree = NULL;
    struct json_position where;
    enum yaml_outcome outcome;

    CLEANUP(yaml_reader_cleanup)
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    do
        outcome = yaml_reader_next(reader, &tree, &where, err);
    while (outcome == YAML_READ_DOCUMENT);
    if (outcome != YAML_READ_END)
        return fail_in(err, "%s:%zu:%zu", path, where.line, where.column);
    *out = move_out(&tree);
    return true;
}

bool yaml_fail(const char *path, const cJSON *node, struct error *err)
{
    return fail_in(err, "%s:%d:%.0f", path, node->valueint, node->valuedouble);
}
