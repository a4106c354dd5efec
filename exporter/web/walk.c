/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/walk.h"

#include <strings.h>

static bool fail_at(struct reading *r, const yaml_node_t *node, struct error *err)
{
    bool placed = r->placed;

    r->placed = true;
    return !placed && document_fail(r->path, node, err);
}

bool walk_is_null(const yaml_node_t *node)
{
    const char *text = document_text(node);

    return text && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
           (*text == '\0' || strcmp(text, "~") == 0 || strcasecmp(text, "null") == 0);
}

static bool is_repeated(const struct reading *r, const yaml_node_t *mapping,
                        const yaml_node_pair_t *pair, const char *key)
{
    for (const yaml_node_pair_t *i = mapping->data.mapping.pairs.start; i < pair; i++) {
        const char *earlier = document_text(yaml_document_get_node(r->document, i->key));

        if (earlier && strcmp(earlier, key) == 0)
            return true;
    }
    return false;
}

bool walk_pairs(struct reading *r, const yaml_node_t *mapping, size_t most, pair_fn *see,
                const void *context, struct error *err)
{
    if (walk_is_null(mapping))
        return true;
    if (mapping->type != YAML_MAPPING_NODE)
        return fail(err, "expected 'key: value' lines") || fail_at(r, mapping, err);
    for (const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;
         pair < mapping->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(r->document, pair->key);
        const char *name = document_text(key);
        bool sound = name || fail(err, "a key is not a text");

        /* Bounded before each is compared with those before it. */
        if (sound && (size_t)(pair - mapping->data.mapping.pairs.start) >= most)
            sound = fail(err, "more than %zu keys", most);
        if (sound && is_repeated(r, mapping, pair, name))
            sound = fail(err, "a key is there twice");
        if (!sound)
            return fail_at(r, key, err);
        if (!see(r, name, yaml_document_get_node(r->document, pair->value), context, err))
            return fail_at(r, key, err);
    }
    return true;
}
