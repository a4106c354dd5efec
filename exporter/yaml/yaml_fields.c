/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_fields.h"

#include "exporter/system/platform.h"

enum { SPAN_SLACK = 64 * 1024 }; /* Bytes that libyaml reads ahead. */

struct fields_reader {
    struct yaml_events events;
    struct yaml_limits limits;
    uint64_t seed; /* From platform_random_seed(), unpredictable for authors of texts. */
    struct anchors anchors;
    struct field_node *kept; /* Trees that anchors of the document refer to. Owned; or NULL. */
    size_t nodes;            /* Number of nodes in memory. */
    unsigned depth;
    const struct wanted_objects *wanted;
    size_t at; /* Index of the first wanted object that was not passed. */
};

static struct json_position position_of(const yaml_event_t *event)
{
    return (struct json_position){event->start_mark.line + 1, event->start_mark.column + 1};
}

static int compare_positions(struct json_position a, struct json_position b)
{
    if (a.line != b.line)
        return a.line < b.line ? -1 : 1;
    return a.column < b.column ? -1 : a.column > b.column;
}

static bool is_container(const yaml_event_t *event)
{
    return event->type == YAML_SEQUENCE_START_EVENT || event->type == YAML_MAPPING_START_EVENT;
}

static bool is_end(const yaml_event_t *event)
{
    return event->type == YAML_SEQUENCE_END_EVENT || event->type == YAML_MAPPING_END_EVENT;
}

/* Returns the anchor of a node; NULL without one. */
static const char *anchor_name(const yaml_event_t *event)
{
    if (event->type == YAML_SCALAR_EVENT)
        return (const char *)event->data.scalar.anchor;
    if (event->type == YAML_SEQUENCE_START_EVENT)
        return (const char *)event->data.sequence_start.anchor;
    if (event->type == YAML_MAPPING_START_EVENT)
        return (const char *)event->data.mapping_start.anchor;
    return NULL;
}

static bool is_done(const struct fields_reader *r)
{
    return r->at == r->wanted->count;
}

/* ---- trees ---- */

/* Position and text of the key of a node; the text is "" for an item. */
struct field_key {
    struct json_position where;
    const char *text;
    size_t len;
    bool merges;
};

static struct field_key make_key(const yaml_event_t *event)
{
    struct field_key key = {.where = position_of(event), .text = ""};

    /* The text of an alias is not known: no path finds the field. */
    if (event->type == YAML_SCALAR_EVENT) {
        key.text = (const char *)event->data.scalar.value;
        key.len = strlen(key.text);
        key.merges = event->data.scalar.plain_implicit && strcmp(key.text, "<<") == 0;
    }
    return key;
}

/* Declared here because nodes contain nodes. */
static struct field_node *build_node(struct fields_reader *r, const yaml_event_t *event,
                                     const struct field_key *key);

static bool build_items(struct fields_reader *r, struct field_node *sequence)
{
    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &event))
            return false;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return true;

        struct field_key key = {.where = position_of(&event), .text = ""};
        struct field_node *item = build_node(r, &event, &key);

        if (!item)
            return false;
        field_node_add(sequence, item);
    }
}

static bool build_members(struct fields_reader *r, struct field_node *mapping)
{
    for (;;) {
        CLEANUP(yaml_event_delete) yaml_event_t key_event = {0};
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &key_event))
            return false;
        if (key_event.type == YAML_MAPPING_END_EVENT)
            return true;
        if (is_container(&key_event) || !yaml_events_next(&r->events, &event))
            return false;

        struct field_key key = make_key(&key_event);
        struct field_node *member = build_node(r, &event, &key);

        if (!member)
            return false;
        field_node_add(mapping, member);
    }
}

static struct field_node *build_node(struct fields_reader *r, const yaml_event_t *event,
                                     const struct field_key *key)
{
    enum field_kind kind = event->type == YAML_MAPPING_START_EVENT    ? FIELD_MAPPING
                           : event->type == YAML_SEQUENCE_START_EVENT ? FIELD_SEQUENCE
                           : event->type == YAML_ALIAS_EVENT          ? FIELD_ALIAS
                                                                      : FIELD_SCALAR;
    CLEANUP(field_node_cleanup) struct field_node *node = NULL;
    struct anchor *anchor = anchors_add(&r->anchors, r->seed, anchor_name(event));
    struct field_node *built;

    if (++r->nodes > r->limits.nodes_max || r->depth == JSON_DEPTH_MAX)
        return NULL;
    node = field_node_new(kind, key->text, key->len, key->where);
    node->merges = key->merges;
    if (kind == FIELD_ALIAS) {
        const struct anchor *named =
            anchors_find(&r->anchors, r->seed, (const char *)event->data.alias.anchor);

        node->target = named ? named->node : NULL;
    }
    r->depth++;
    if ((kind == FIELD_MAPPING && !build_members(r, node)) ||
        (kind == FIELD_SEQUENCE && !build_items(r, node)))
        return NULL;
    r->depth--;
    anchor_set_node(anchor, node, (struct yaml_cost){0});
    built = node;
    node = NULL;
    return built;
}

/* Builds the tree of a node that has no key, passes it on if `wanted`, and frees it. */
static bool build_tree(struct fields_reader *r, const yaml_event_t *event, bool wanted)
{
    const struct field_key key = {.where = position_of(event), .text = ""};
    const struct anchor *newest = r->anchors.newest;
    size_t before = r->nodes;
    struct field_node *tree = build_node(r, event, &key);

    if (!tree)
        return false;
    if (wanted)
        r->wanted->each(r->wanted->context, r->at++, tree);
    if (r->anchors.newest == newest) {
        field_node_free(tree);
        r->nodes = before;
        return true;
    }
    if (!r->kept)
        r->kept = field_node_new(FIELD_SEQUENCE, "", 0, key.where);
    field_node_add(r->kept, tree);
    return true;
}

/* ---- documents ---- */

/* Skips a node, but builds the trees that aliases may refer to. */
static bool skip_node(struct fields_reader *r, const yaml_event_t *event)
{
    unsigned depth = is_container(event);

    if (anchor_name(event))
        return build_tree(r, event, false);
    while (depth > 0) {
        CLEANUP(yaml_event_delete) yaml_event_t next = {0};

        if (!yaml_events_next(&r->events, &next))
            return false;
        if (anchor_name(&next)) {
            if (!build_tree(r, &next, false))
                return false;
            continue;
        }
        depth = is_container(&next) ? depth + 1 : depth - is_end(&next);
    }
    return true;
}

/* Passes the wanted objects that are in front of a position. */
static void pass_up_to(struct fields_reader *r, struct json_position where)
{
    while (!is_done(r) && compare_positions(r->wanted->positions[r->at], where) < 0)
        r->at++;
}

/* Passes on the wanted objects among the items of a tree. Recursive: an item may be a list. */
static void receive_items(struct fields_reader *r, const struct field_node *items)
{
    for (const struct field_node *item = items ? items->first : NULL; item; item = item->next) {
        pass_up_to(r, item->where);
        if (is_done(r))
            return;
        if (compare_positions(r->wanted->positions[r->at], item->where) == 0)
            r->wanted->each(r->wanted->context, r->at++, item);
        else
            receive_items(r, field_node_member(item, "items"));
    }
}

/* Walks a list, or its items, with an anchor: the tree is kept, because aliases may refer to it. */
static bool walk_anchored(struct fields_reader *r, const yaml_event_t *event)
{
    const struct field_node *tree;

    if (!build_tree(r, event, false))
        return false;
    tree = r->kept->last;
    receive_items(r, tree->kind == FIELD_SEQUENCE ? tree : field_node_member(tree, "items"));
    return !is_done(r);
}

/* Declared here because an item may be a list. */
static bool walk_object(struct fields_reader *r, const yaml_event_t *event);

static bool walk_items(struct fields_reader *r)
{
    while (!is_done(r)) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &event))
            return false;
        if (event.type == YAML_SEQUENCE_END_EVENT)
            return true;
        if (!walk_object(r, &event))
            return false;
    }
    return false;
}

/* Walks the members of an object that is not wanted: its items may be. */
static bool walk_members(struct fields_reader *r)
{
    while (!is_done(r)) {
        CLEANUP(yaml_event_delete) yaml_event_t key = {0};
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};
        bool items;

        if (!yaml_events_next(&r->events, &key))
            return false;
        if (key.type == YAML_MAPPING_END_EVENT)
            return true;
        if (is_container(&key) || !yaml_events_next(&r->events, &event))
            return false;
        items =
            event.type == YAML_SEQUENCE_START_EVENT && strcmp(make_key(&key).text, "items") == 0;
        if (!items ? !skip_node(r, &event)
                   : !(anchor_name(&event) ? walk_anchored(r, &event) : walk_items(r)))
            return false;
    }
    return false;
}

/* Returns false at the end of the last wanted object, and at an error. */
static bool walk_object(struct fields_reader *r, const yaml_event_t *event)
{
    bool is_object = event->type == YAML_MAPPING_START_EVENT || event->type == YAML_ALIAS_EVENT;
    bool walked;

    pass_up_to(r, position_of(event));
    if (is_done(r))
        return false;
    if (is_object && compare_positions(r->wanted->positions[r->at], position_of(event)) == 0)
        return build_tree(r, event, true);
    if (event->type != YAML_MAPPING_START_EVENT)
        return skip_node(r, event);
    if (anchor_name(event))
        return walk_anchored(r, event);
    if (r->depth == JSON_DEPTH_MAX)
        return false;
    r->depth++;
    walked = walk_members(r);
    r->depth--;
    return walked;
}

static void reset_document(struct fields_reader *r)
{
    anchors_release(&r->anchors);
    field_node_free(r->kept);
    r->kept = NULL;
    r->nodes = 0;
}

void yaml_fields_read(yaml_read_fn *read, void *context, struct yaml_limits limits,
                      const struct wanted_objects *wanted)
{
    struct fields_reader *r = xcalloc(1, sizeof(*r));
    struct error ignored;

    r->limits = limits;
    r->seed = platform_random_seed();
    r->wanted = wanted;
    yaml_events_init(&r->events, read, context,
                     (struct yaml_event_limits){limits.bytes_max + SPAN_SLACK, limits.term});
    r->events.err = &ignored;
    while (!is_done(r)) {
        CLEANUP(yaml_event_delete) yaml_event_t event = {0};

        if (!yaml_events_next(&r->events, &event) || event.type == YAML_STREAM_END_EVENT)
            break;
        if (event.type == YAML_DOCUMENT_START_EVENT)
            reset_document(r);
        else if ((is_container(&event) || event.type == YAML_SCALAR_EVENT) &&
                 !walk_object(r, &event))
            break;
    }
    reset_document(r);
    yaml_events_release(&r->events);
    free(r);
}
