/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml.h"

#include <math.h>

#include "exporter/system/platform.h"
#include "exporter/system/secret.h"
#include "exporter/yaml/yaml_events.h"
#include "exporter/yaml/yaml_scalar.h"
#include "metrics/base/shown.h"

enum {
    KEYS_COMPARED = 16,     /* Up to this number of keys, comparisons are faster than a hash map. */
    COPIES_MAX = 8,         /* Nodes that copies may add for each node in the text; also bytes. */
    SPAN_SLACK = 64 * 1024, /* Bytes beyond span_max: libyaml reads ahead. */
    CONFIG_TEXTS_MAX = 4 * YAML_CONFIG_MAX, /* Bytes of texts in a configuration with aliases. */
};

/* Ends the process if cJSON had no memory. Returns the item. */
static cJSON *check_memory(cJSON *item)
{
    if (!item)
        memory_exhausted(0);
    return item;
}

/* Returns the tree and sets the variable to NULL. */
static cJSON *move_out_tree(cJSON **tree)
{
    cJSON *moved = *tree;

    *tree = NULL;
    return moved;
}

/* ---- mappings ---- */

/* A mapping that is being read. A lookup of a key takes constant time. */
struct mapping {
    cJSON *object;
    cJSON *merged;   /* Array of references to the values of `<<`, in the order of the text. */
    struct map keys; /* Hash map of the members; empty up to KEYS_COMPARED members. */
    size_t count;
    uint64_t seed; /* From platform_random_seed(), unpredictable for authors of texts. */
};

static bool has_key(const void *item, const void *key)
{
    return strcmp(((const cJSON *)item)->string, key) == 0;
}

static uint64_t hash_key(const struct mapping *m, const char *key)
{
    return map_hash(key, strlen(key), m->seed);
}

static void mapping_init(struct mapping *m, uint64_t seed)
{
    *m = (struct mapping){
        .seed = seed,
        .object = check_memory(cJSON_CreateObject()),
        .merged = check_memory(cJSON_CreateArray()),
        .keys = MAP_INIT(has_key),
    };
}

/* Accepts a struct filled with zeros. */
static void mapping_release(struct mapping *m)
{
    secret_json_cleanup(&m->object);
    cJSON_Delete(m->merged);
    map_release(&m->keys);
}

static cJSON *mapping_find(const struct mapping *m, const char *key)
{
    return m->count > KEYS_COMPARED ? map_get(&m->keys, hash_key(m, key), key)
                                    : cJSON_GetObjectItemCaseSensitive(m->object, key);
}

static bool mapping_has(const struct mapping *m, const char *key)
{
    return mapping_find(m, key) != NULL;
}

/* Removes the member with the key, and returns it, owned by the caller; NULL without one. */
static cJSON *mapping_remove(struct mapping *m, const char *key)
{
    cJSON *member = mapping_find(m, key);

    if (!member)
        return NULL;
    if (m->count > KEYS_COMPARED)
        map_take(&m->keys, hash_key(m, key), key);
    /* A map of fewer keys is rebuilt when the next member is added. */
    if (m->count == KEYS_COMPARED + 1)
        map_release(&m->keys);
    m->count--;
    return cJSON_DetachItemViaPointer(m->object, member);
}

/* Adds a member with a new key. The mapping owns `item`. */
static void mapping_add(struct mapping *m, const char *key, cJSON *item)
{
    cJSON *member = NULL;

    if (!cJSON_AddItemToObject(m->object, key, item))
        memory_exhausted(0);
    m->count++;
    if (m->count == KEYS_COMPARED + 1) {
        cJSON_ArrayForEach (member, m->object)
            map_add(&m->keys, hash_key(m, member->string), member);
    } else if (m->count > KEYS_COMPARED) {
        map_add(&m->keys, hash_key(m, key), item);
    }
}

/*
 * Stores a value of `<<` for mapping_take(). The value is borrowed. Returns false unless the value
 * is a mapping or a list of mappings.
 */
static MUST_USE bool mapping_add_merge(struct mapping *m, cJSON *value)
{
    const cJSON *source;
    bool valid = cJSON_IsObject(value) || cJSON_IsArray(value);

    if (cJSON_IsArray(value)) {
        cJSON_ArrayForEach (source, value)
            valid = valid && cJSON_IsObject(source);
    }
    if (valid && !cJSON_AddItemReferenceToArray(m->merged, value))
        memory_exhausted(0);
    return valid;
}

/* Adds copies of the members of `source` with keys that the mapping does not have. */
static void merge_members(struct mapping *m, const cJSON *source)
{
    const cJSON *member;

    cJSON_ArrayForEach (member, source) {
        cJSON *copy = mapping_has(m, member->string) ? NULL : cJSON_Duplicate(member, true);

        if (copy)
            mapping_add(m, member->string, copy);
    }
}

/*
 * Adds the members of the `<<` values; if several have the same key, the first. Returns the object,
 * owned by the caller.
 */
static MUST_USE cJSON *mapping_take(struct mapping *m)
{
    const cJSON *value;
    const cJSON *source;

    cJSON_ArrayForEach (value, m->merged) {
        if (cJSON_IsObject(value)) {
            merge_members(m, value);
            continue;
        }
        cJSON_ArrayForEach (source, value)
            merge_members(m, source);
    }
    return move_out_tree(&m->object);
}

/* ---- reader and limits ---- */

struct yaml_reader {
    struct yaml_events events;
    struct yaml_limits limits;
    uint64_t seed; /* From platform_random_seed(), unpredictable for authors of texts. */
    struct anchors anchors;
    cJSON *kept;              /* Array of values outside the tree, which anchors may refer to. */
    struct yaml_cost used;    /* Cost of the trees in memory; `height` is the current depth. */
    struct yaml_cost written; /* Cost of the whole text without aliases and merge keys. */
    struct yaml_cost copied;  /* Cost of the copies by aliases and merge keys in the whole text. */

    repeated_key_fn *receive_repeated; /* NULL: a repeated key is an error. */
    void *receive_context;
    struct mapping root; /* With by_item: root of the current document. */
    struct json_position root_where;
    bool in_items; /* The next event starts an item, or ends the items. */
    bool began;    /* A document has begun. */
};

static bool fail_at(struct yaml_reader *r, yaml_mark_t mark, const char *reason)
{
    return yaml_events_fail(&r->events, mark, reason);
}

/* Adds the cost of a node before its allocation. Returns false with an error above a limit. */
static bool reserve_cost(struct yaml_reader *r, yaml_mark_t mark, struct yaml_cost cost)
{
    if (cost.nodes > r->limits.nodes_max - r->used.nodes ||
        cost.bytes > r->limits.bytes_max - r->used.bytes)
        return fail_at(r, mark, "the document, with its anchors expanded, is too large");
    if (r->used.height + cost.height > JSON_DEPTH_MAX)
        return fail_at(r, mark, "nested deeper than 128 levels");
    r->used.nodes += cost.nodes;
    r->used.bytes += cost.bytes;
    return true;
}

/* Adds the cost of a node in the text. Returns false with an error above a limit. */
static bool reserve_written_cost(struct yaml_reader *r, yaml_mark_t mark, struct yaml_cost cost)
{
    r->written.nodes += cost.nodes;
    r->written.bytes += cost.bytes;
    return reserve_cost(r, mark, cost);
}

/* Returns true if `copied` exceeds `allowance` plus COPIES_MAX times `written`. */
static bool has_too_many_copies(size_t copied, size_t written, size_t allowance)
{
    return copied > allowance && copied - allowance > written * COPIES_MAX;
}

/*
 * Adds the cost of a copy of a node. Returns false with an error above a limit, or if all documents
 * together have too many copies.
 */
static bool reserve_copy_cost(struct yaml_reader *r, yaml_mark_t mark, struct yaml_cost cost)
{
    if (!reserve_cost(r, mark, cost))
        return false;
    r->copied.nodes += cost.nodes;
    r->copied.bytes += cost.bytes;
    return (!has_too_many_copies(r->copied.nodes, r->written.nodes, r->limits.nodes_max) &&
            !has_too_many_copies(r->copied.bytes, r->written.bytes, r->limits.bytes_max)) ||
           fail_at(r, mark, "the text, with its anchors expanded, is too large");
}

static struct anchor *open_anchor(struct yaml_reader *r, const yaml_char_t *name)
{
    return anchors_add(&r->anchors, r->seed, (const char *)name);
}

static const struct anchor *find_anchor(struct yaml_reader *r, const yaml_event_t *event)
{
    const char *name = (const char *)event->data.alias.anchor;
    const struct anchor *anchor = anchors_find(&r->anchors, r->seed, name);

    /* The error omits the name, because a password that begins with '*' is an alias in YAML. */
    if (anchor && anchor->node)
        return anchor;
    if (anchor)
        fail_at(r, event->start_mark, "the anchor of this alias contains itself");
    else
        fail_at(r, event->start_mark, "there is no anchor of this name before this alias");
    return NULL;
}

static bool resolve_scalar(struct yaml_reader *r, const yaml_event_t *event, struct scalar *out)
{
    const char *text = (const char *)event->data.scalar.value;
    struct error why;

    if (strlen(text) != event->data.scalar.length)
        return fail_at(r, event->start_mark, "a NUL character in a text");
    if (r->limits.as_written) {
        *out = (struct scalar){.type = SCALAR_TEXT};
        return true;
    }
    if (scalar_resolve(text, (const char *)event->data.scalar.tag,
                       event->data.scalar.plain_implicit != 0, out, &why))
        return true;
    return fail_at(r, event->start_mark, why.text);
}

/* Stores the position in the members for numbers, which mappings and texts do not use. */
static void store_position(cJSON *node, yaml_mark_t mark)
{
    node->valueint = (int)mark.line + 1;
    node->valuedouble = (double)(mark.column + 1);
}

/* Stores the position of a node of a tree of texts. */
static void set_position(struct yaml_reader *r, cJSON *node, yaml_mark_t mark)
{
    if (r->limits.as_written)
        store_position(node, mark);
}

static cJSON *make_text(struct yaml_reader *r, const yaml_event_t *event)
{
    const char *text = (const char *)event->data.scalar.value;
    cJSON *node = check_memory(cJSON_CreateString(text));

    if (r->limits.as_written && event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
        scalar_is_null(text))
        node->type = cJSON_NULL;
    return node;
}

static cJSON *read_scalar(struct yaml_reader *r, const yaml_event_t *event, struct yaml_cost *cost)
{
    struct anchor *anchor = open_anchor(r, event->data.scalar.anchor);
    struct scalar scalar = {0};
    cJSON *node = NULL;

    *cost = (struct yaml_cost){.nodes = 1, .bytes = event->data.scalar.length};
    if (!reserve_written_cost(r, event->start_mark, *cost) || !resolve_scalar(r, event, &scalar))
        return NULL;
    if (scalar.type == SCALAR_FLOAT && !isfinite(scalar.number)) {
        fail_at(r, event->start_mark, "JSON has no infinity and no 'not a number'");
        return NULL;
    }
    switch (scalar.type) {
    case SCALAR_TEXT:
        node = make_text(r, event);
        break;
    case SCALAR_NULL:
        node = check_memory(cJSON_CreateNull());
        break;
    case SCALAR_BOOL:
        node = check_memory(cJSON_CreateBool(scalar.boolean));
        break;
    case SCALAR_INT:
    case SCALAR_FLOAT:
        node = check_memory(cJSON_CreateNumber(scalar.number));
        break;
    }
    anchor_set_node(anchor, node, *cost);
    return node;
}

/* Declared here because a node contains nodes. */
static cJSON *read_node(struct yaml_reader *r, const yaml_event_t *event, struct yaml_cost *cost);

static cJSON *read_sequence(struct yaml_reader *r, struct yaml_cost *cost)
{
    CLEANUP(secret_json_cleanup) cJSON *array = check_memory(cJSON_CreateArray());

    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};
        struct yaml_cost value_cost = {0};

        if (!yaml_events_next(&r->events, &event))
            return NULL;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return move_out_tree(&array);

        cJSON *item = read_node(r, &event, &value_cost);
        if (!item)
            return NULL;
        cJSON_AddItemToArray(array, item);
        yaml_cost_add(cost, value_cost);
    }
}

/*
 * Appends the text, number or boolean to which an alias refers. Returns false with an error for
 * other nodes and for an alias without an anchor.
 */
static bool read_alias_key(struct yaml_reader *r, const yaml_event_t *event, struct strbuf *key)
{
    const struct anchor *anchor = find_anchor(r, event);
    const cJSON *node = anchor ? anchor->node : NULL;

    if (!node)
        return false;
    if (node->valuestring)
        strbuf_adds(key, node->valuestring);
    else if (cJSON_IsBool(node))
        strbuf_adds(key, cJSON_IsTrue(node) ? "true" : "false");
    else if (cJSON_IsNumber(node))
        strbuf_addf(key, "%.17g", node->valuedouble);
    else
        return fail_at(r, event->start_mark, "a key must be a string, a number or a boolean");
    return true;
}

static struct json_position position_of(yaml_mark_t mark)
{
    return (struct json_position){mark.line + 1, mark.column + 1};
}

/*
 * Appends the text of a key. Returns false with an error for an invalid key, and for a repeated one
 * unless the caller receives repeated keys.
 */
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
        return fail_at(r, event->start_mark, "a key must be a string, a number or a boolean");
    } else if (!resolve_scalar(r, event, &scalar)) {
        return false;
    } else if (!scalar_append_key(&scalar, text, key, &why)) {
        return fail_at(r, event->start_mark, why.text);
    } else if (event->data.scalar.anchor) {
        cJSON *named = check_memory(cJSON_CreateString(key->data));

        cJSON_AddItemToArray(r->kept, named);
        anchor_set_node(open_anchor(r, event->data.scalar.anchor), named,
                        (struct yaml_cost){.nodes = 1, .bytes = key->len});
    }
    struct yaml_cost cost = {.bytes = strbuf_ok(key) ? key->len : SIZE_MAX / 2};

    if (!(event->type == YAML_ALIAS_EVENT ? reserve_copy_cost(r, event->start_mark, cost)
                                          : reserve_written_cost(r, event->start_mark, cost)))
        return false;
    if (!mapping_has(m, key->data))
        return true;
    if (r->receive_repeated) {
        r->receive_repeated(r->receive_context, key->data, position_of(event->start_mark));
        return true;
    }
    /* The error omits the key, because a key of a configuration may be a misplaced password. */
    if (r->limits.as_written)
        return fail_at(r, event->start_mark, "a key appears twice in one mapping");
    fail(&why, "the key '%s' appears twice in one mapping", shown(key->data).text);
    return fail_at(r, event->start_mark, why.text);
}

/* Returns true for a list of items without an anchor: an alias needs the complete list. */
static bool is_item_list(const char *key, const yaml_event_t *event)
{
    return strcmp(key, "items") == 0 && event->type == YAML_SEQUENCE_START_EVENT &&
           !event->data.sequence_start.anchor;
}

/*
 * Reads the value that follows the event of a key. If `items` is not NULL and the value is a list
 * of items, adds an empty array and sets `items`; the next event starts an item or ends the list.
 */
static bool read_member(struct yaml_reader *r, struct mapping *m, const yaml_event_t *key_event,
                        struct yaml_cost *cost, bool *items)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_SECRET(r->limits.bytes_max);
    CLEANUP(yaml_event_delete) yaml_event_t event = {0};
    struct yaml_cost value_cost = {0};
    bool merges = key_event->type == YAML_SCALAR_EVENT && key_event->data.scalar.plain_implicit &&
                  strcmp((const char *)key_event->data.scalar.value, "<<") == 0;

    if (!merges && !read_key(r, m, key_event, &key))
        return false;
    if (!yaml_events_next(&r->events, &event))
        return false;
    /* Items that were returned cannot be taken back. */
    if (items && !merges && strcmp(key.data, "items") == 0 && mapping_has(m, key.data))
        return fail_at(r, key_event->start_mark, "the key 'items' appears twice in one mapping");
    if (items && !merges && is_item_list(key.data, &event)) {
        mapping_add(m, key.data, check_memory(cJSON_CreateArray()));
        *items = true;
        return true;
    }

    cJSON *value = read_node(r, &event, &value_cost);
    if (!value)
        return false;
    if (merges) {
        /* Anchors may refer to nodes of the value, so the value is kept with the document. */
        cJSON_AddItemToArray(r->kept, value);
        if (!mapping_add_merge(m, value))
            return fail_at(r, event.start_mark, "'<<' needs a mapping or a list of mappings");
        /* mapping_take() copies the members of the value. */
        if (!reserve_copy_cost(r, event.start_mark,
                               (struct yaml_cost){value_cost.nodes, value_cost.bytes, 0}))
            return false;
    } else {
        cJSON *replaced = mapping_remove(m, key.data);

        /* Anchors may refer to the value that does not count. */
        if (replaced)
            cJSON_AddItemToArray(r->kept, replaced);
        mapping_add(m, key.data, value);
        set_position(r, value, key_event->start_mark);
    }
    cost->bytes += key.len;
    yaml_cost_add(cost, value_cost);
    return true;
}

static cJSON *read_mapping(struct yaml_reader *r, const yaml_event_t *start, struct yaml_cost *cost)
{
    CLEANUP(mapping_release) struct mapping m;

    mapping_init(&m, r->seed);
    store_position(m.object, start->start_mark);
    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &event))
            return NULL;
        if (event.type == YAML_MAPPING_END_EVENT)
            break;
        if (!read_member(r, &m, &event, cost, NULL))
            return NULL;
    }
    return mapping_take(&m);
}

static cJSON *read_alias(struct yaml_reader *r, const yaml_event_t *event, struct yaml_cost *cost)
{
    const struct anchor *named = find_anchor(r, event);

    if (!named || !reserve_copy_cost(r, event->start_mark, named->cost))
        return NULL;
    *cost = named->cost;
    return check_memory(cJSON_Duplicate(named->node, true));
}

static cJSON *read_container(struct yaml_reader *r, const yaml_event_t *event,
                             struct yaml_cost *cost)
{
    bool is_sequence = event->type == YAML_SEQUENCE_START_EVENT;
    cJSON *node;
    struct anchor *anchor = open_anchor(r, is_sequence ? event->data.sequence_start.anchor
                                                       : event->data.mapping_start.anchor);
    *cost = (struct yaml_cost){.nodes = 1, .height = 1};
    if (!reserve_written_cost(r, event->start_mark, *cost))
        return NULL;
    r->used.height++;
    node = is_sequence ? read_sequence(r, cost) : read_mapping(r, event, cost);
    r->used.height--;
    if (node)
        anchor_set_node(anchor, node, *cost);
    return node;
}

/* Recursive through read_container(). reserve_cost() limits the depth. */
static cJSON *read_node(struct yaml_reader *r, const yaml_event_t *event, struct yaml_cost *cost)
{
    cJSON *node = event->type == YAML_SCALAR_EVENT  ? read_scalar(r, event, cost)
                  : event->type == YAML_ALIAS_EVENT ? read_alias(r, event, cost)
                                                    : read_container(r, event, cost);

    if (node)
        set_position(r, node, event->start_mark);
    return node;
}

static void reset_document(struct yaml_reader *r)
{
    anchors_release(&r->anchors);
    mapping_release(&r->root);
    r->root = (struct mapping){.object = NULL};
    secret_json_cleanup(&r->kept);
    r->kept = check_memory(cJSON_CreateArray());
    r->used = (struct yaml_cost){0};
}

struct yaml_reader *yaml_reader_new(yaml_read_fn *read, void *context, struct yaml_limits limits)
{
    struct yaml_reader *r = xcalloc(1, sizeof(*r));

    yaml_events_init(&r->events, read, context,
                     (struct yaml_event_limits){limits.bytes_max + SPAN_SLACK, limits.term});
    r->limits = limits;
    r->seed = platform_random_seed();
    reset_document(r);
    return r;
}

void yaml_reader_receive_repeated_keys(struct yaml_reader *reader, repeated_key_fn *receive,
                                       void *context)
{
    reader->receive_repeated = receive;
    reader->receive_context = context;
}

void yaml_reader_free(struct yaml_reader *reader)
{
    if (!reader)
        return;
    reset_document(reader);
    cJSON_Delete(reader->kept);
    yaml_events_release(&reader->events);
    free(reader);
}

/* Reads the end event of a document, and stores the position of the start of the document. */
static bool end_document(struct yaml_reader *r, struct json_position *where)
{
    CLEANUP(yaml_event_delete) yaml_event_t end = {0};

    *where = r->root_where;
    return yaml_events_next(&r->events, &end);
}

/* Reads members of the root up to the items, or up to the end of the document. */
static bool read_root_members(struct yaml_reader *r, cJSON **out, struct json_position *where)
{
    struct yaml_cost ignored = {0};

    while (!r->in_items) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &event))
            return false;
        if (event.type == YAML_MAPPING_END_EVENT) {
            *out = mapping_take(&r->root);
            return end_document(r, where);
        }
        if (!read_member(r, &r->root, &event, &ignored, &r->in_items))
            return false;
    }
    r->used.height++;
    return true;
}

/* Reads a document after its start event, up to its items or its end. */
static bool read_document(struct yaml_reader *r, const yaml_event_t *start, cJSON **out,
                          struct json_position *where)
{
    CLEANUP(yaml_event_delete) yaml_event_t root = {0};
    struct yaml_cost cost = {0};

    if (r->began && r->limits.one_document)
        return fail_at(r, start->start_mark, "more than one document");
    r->began = true;
    reset_document(r);
    if (!yaml_events_next(&r->events, &root))
        return false;
    r->root_where = (struct json_position){root.start_mark.line + 1, root.start_mark.column + 1};
    if (!r->limits.by_item || root.type != YAML_MAPPING_START_EVENT) {
        *out = read_node(r, &root, &cost);
        return *out && end_document(r, where);
    }
    /* The node of this anchor is never set: an alias inside the document would contain itself. */
    open_anchor(r, root.data.mapping_start.anchor);
    if (!reserve_written_cost(r, root.start_mark, (struct yaml_cost){.nodes = 1, .height = 1}))
        return false;
    r->used.height++;
    mapping_init(&r->root, r->seed);
    store_position(r->root.object, root.start_mark);
    return read_root_members(r, out, where);
}

/*
 * Reads an item. An item that contains an anchor is kept for aliases, and the caller gets a copy.
 * Any other item no longer counts for the limits when the function returns.
 */
static bool read_item(struct yaml_reader *r, const yaml_event_t *event, cJSON **out)
{
    const struct anchor *newest = r->anchors.newest;
    struct yaml_cost before = r->used;
    struct yaml_cost cost = {0};
    cJSON *kept = r->kept;

    r->kept = check_memory(cJSON_CreateArray());
    *out = read_node(r, event, &cost);
    if (*out && r->anchors.newest == newest) {
        cJSON_Delete(r->kept);
        r->used = before;
    } else {
        cJSON *copy = *out ? check_memory(cJSON_Duplicate(*out, true)) : NULL;

        if (*out)
            cJSON_AddItemToArray(r->kept, *out);
        cJSON_AddItemToArray(kept, r->kept);
        *out = copy;
    }
    r->kept = kept;
    return *out != NULL;
}

/* Reads the next item, or the rest of the document after the last item. */
static bool read_item_or_rest(struct yaml_reader *r, cJSON **out, struct json_position *where)
{
    CLEANUP(yaml_event_delete) yaml_event_t event = {0};

    if (!yaml_events_next(&r->events, &event))
        return false;
    if (event.type == YAML_SEQUENCE_END_EVENT) {
        r->in_items = false;
        r->used.height--;
        return read_root_members(r, out, where);
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
        CLEANUP(secret_json_cleanup) cJSON *tree = NULL;
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!reader->in_items && !yaml_events_next(events, &event))
            break;
        if (event.type == YAML_STREAM_END_EVENT)
            return YAML_READ_END;
        if (reader->in_items ? !read_item_or_rest(reader, &tree, where)
                             : event.type == YAML_DOCUMENT_START_EVENT &&
                                   !read_document(reader, &event, &tree, where))
            break;
        if (!tree || (!reader->in_items && cJSON_IsNull(tree)))
            continue;
        *out = move_out_tree(&tree);
        return reader->in_items ? YAML_READ_ITEM : YAML_READ_DOCUMENT;
    }
    *where = events->where;
    return YAML_READ_MALFORMED;
}

struct yaml_excerpt yaml_reader_excerpt(const struct yaml_reader *reader)
{
    return yaml_events_excerpt(&reader->events);
}

struct json_position yaml_position(const cJSON *mapping)
{
    return cJSON_IsObject(mapping)
               ? (struct json_position){(size_t)mapping->valueint, (size_t)mapping->valuedouble}
               : (struct json_position){0, 0};
}

void yaml_reader_cleanup(struct yaml_reader **reader)
{
    yaml_reader_free(*reader);
}

bool yaml_read_config(const char *path, const char *text, size_t len, cJSON **out,
                      struct error *err)
{
    struct yaml_limits limits = {.nodes_max = YAML_CONFIG_MAX,
                                 .bytes_max = CONFIG_TEXTS_MAX,
                                 .as_written = true,
                                 .one_document = true};
    struct yaml_text source = {text, len};
    CLEANUP(secret_json_cleanup) cJSON *tree = NULL;
    struct json_position where;
    enum yaml_outcome outcome;

    CLEANUP(yaml_reader_cleanup)
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    do
        outcome = yaml_reader_next(reader, &tree, &where, err);
    while (outcome == YAML_READ_DOCUMENT);
    if (outcome != YAML_READ_END)
        return fail_in(err, "%s:%zu:%zu", path, where.line, where.column);
    *out = move_out_tree(&tree);
    return true;
}

struct json_position yaml_written_position(const cJSON *node)
{
    return (struct json_position){(size_t)node->valueint, (size_t)node->valuedouble};
}

bool yaml_fail(const char *path, const cJSON *node, struct error *err)
{
    return fail_in(err, "%s:%d:%.0f", path, node->valueint, node->valuedouble);
}
