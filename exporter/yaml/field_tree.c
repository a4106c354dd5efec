/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/field_tree.h"

enum {
    STEPS_MAX = 100 * 1000, /* Members that one search compares. */
    MERGES_MAX = 32,        /* Merge keys inside merge keys. */
};

struct field_node *field_node_new(enum field_kind kind, const char *key, size_t len,
                                  struct json_position where)
{
    struct field_node *node = xcalloc(1, sizeof(*node) + len + 1);

    node->kind = kind;
    node->where = where;
    memcpy(node->key, key, len);
    return node;
}

/* Recursive: the builders limit the depth. */
void field_node_free(struct field_node *node)
{
    struct field_node *next;

    if (!node)
        return;
    for (struct field_node *child = node->first; child; child = next) {
        next = child->next;
        field_node_free(child);
    }
    free(node);
}

void field_node_cleanup(struct field_node **node)
{
    field_node_free(*node);
}

void field_node_add(struct field_node *parent, struct field_node *child)
{
    if (parent->last)
        parent->last->next = child;
    else
        parent->first = child;
    parent->last = child;
}

const struct field_node *field_node_member(const struct field_node *mapping, const char *key)
{
    const struct field_node *found = NULL;

    for (const struct field_node *child = mapping->first; child; child = child->next) {
        if (!child->merges && strcmp(child->key, key) == 0)
            found = child;
    }
    return found;
}

struct field_search {
    struct json_position where; /* Place of the deepest field that was found. */
    size_t steps;               /* Compared members. */
};

/* Returns the length of the key with its dot if the path begins with it; else 0. */
static size_t match_key(const char *path, const char *key)
{
    size_t dot = *path == '.', len = strlen(key);

    if (strncmp(path + dot, key, len) != 0 || !strchr(".[", path[dot + len]))
        return 0;
    return dot + len;
}

/* Returns the length of an index such as "[12]" if the path begins with it; else 0. */
static size_t match_index(const char *path, size_t *index)
{
    enum { DIGITS_MAX = 9 };
    size_t len = 1;

    if (*path != '[')
        return 0;
    for (*index = 0; len <= DIGITS_MAX && path[len] >= '0' && path[len] <= '9'; len++)
        *index = *index * 10 + (size_t)(path[len] - '0');
    return len > 1 && path[len] == ']' ? len + 1 : 0;
}

/* Declared here because values contain values. */
static size_t search_value(struct field_search *s, const struct field_node *value, const char *path,
                           unsigned merges);

/*
 * Searches a child whose key or index is the first `len` bytes of the path. Returns the length of
 * the part of the path that was found.
 */
static size_t search_child(struct field_search *s, const struct field_node *child, const char *path,
                           size_t len, unsigned merges)
{
    s->where = child->where;
    return len + search_value(s, child, path + len, merges);
}

static size_t search_items(struct field_search *s, const struct field_node *sequence,
                           const char *path, unsigned merges)
{
    size_t index = 0, len = match_index(path, &index);
    const struct field_node *item = sequence->first;

    for (; len > 0 && item && index > 0 && s->steps < STEPS_MAX; index--, s->steps++)
        item = item->next;
    return len > 0 && item && index == 0 ? search_child(s, item, path, len, merges) : 0;
}

/* Searches in the values of `<<`, in order. */
static size_t search_merges(struct field_search *s, const struct field_node *mapping,
                            const char *path, unsigned merges)
{
    for (const struct field_node *child = mapping->first; child; child = child->next) {
        const struct field_node *source =
            child->kind == FIELD_ALIAS && child->target ? child->target : child;
        size_t found = 0;

        if (!child->merges || merges == MERGES_MAX)
            continue;
        if (source->kind != FIELD_SEQUENCE) {
            found = search_value(s, source, path, merges + 1);
        } else {
            for (source = source->first; source && found == 0; source = source->next)
                found = search_value(s, source, path, merges + 1);
        }
        if (found > 0)
            return found;
    }
    return 0;
}

/* Several keys fit if a key has dots: the one with the deepest field counts, of equals the last. */
static size_t search_members(struct field_search *s, const struct field_node *mapping,
                             const char *path, unsigned merges)
{
    struct json_position deepest = s->where;
    size_t found = 0;

    for (const struct field_node *child = mapping->first; child && s->steps < STEPS_MAX;
         child = child->next) {
        size_t len = child->merges ? 0 : match_key(path, child->key);

        s->steps++;
        if (len == 0)
            continue;
        len = search_child(s, child, path, len, merges);
        if (len >= found) {
            found = len;
            deepest = s->where;
        }
    }
    s->where = deepest;
    return found > 0 ? found : search_merges(s, mapping, path, merges);
}

static size_t search_value(struct field_search *s, const struct field_node *value, const char *path,
                           unsigned merges)
{
    if (value->kind == FIELD_ALIAS && value->target)
        value = value->target;
    if (*path == '\0' || s->steps >= STEPS_MAX)
        return 0;
    return value->kind == FIELD_SEQUENCE  ? search_items(s, value, path, merges)
           : value->kind == FIELD_MAPPING ? search_members(s, value, path, merges)
                                          : 0;
}

struct json_position field_node_find(const struct field_node *root, const char *path)
{
    struct field_search s = {.where = root->where};

    search_value(&s, root, path, 0);
    return s.where;
}
