/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/field_tree.h"

#include "metrics/base/strbuf.h"
#include "tests/unit/suite.h"

/* Adds a node with a column of its own. */
static struct field_node *add(struct field_node *parent, enum field_kind kind, const char *key,
                              size_t column)
{
    struct field_node *node =
        field_node_new(kind, key, strlen(key), (struct json_position){1, column});

    if (parent)
        field_node_add(parent, node);
    return node;
}

TEST(paths_have_keys_and_indexes)
{
    CLEANUP(field_node_cleanup) struct field_node *root = add(NULL, FIELD_MAPPING, "", 1);
    struct field_node *list = add(root, FIELD_SEQUENCE, "list", 2);
    struct field_node *item;

    add(list, FIELD_SCALAR, "", 3);
    item = add(list, FIELD_MAPPING, "", 4);
    add(item, FIELD_SCALAR, "x.y/z", 5);
    assert_int_equal(field_node_find(root, "").column, 1);
    assert_int_equal(field_node_find(root, "list").column, 2);
    assert_int_equal(field_node_find(root, "list[0]").column, 3);
    assert_int_equal(field_node_find(root, "list[1]").column, 4);
    assert_int_equal(field_node_find(root, "list[1].x.y/z").column, 5);
    assert_int_equal(field_node_find(root, "list[1].x").column, 4);
    assert_int_equal(field_node_find(root, "list[2]").column, 2);
    assert_int_equal(field_node_find(root, "list[99999999999999999999]").column, 2);
    assert_int_equal(field_node_find(root, "list[]").column, 2);
    assert_int_equal(field_node_find(root, "list[1").column, 2);
    assert_int_equal(field_node_find(root, "lists").column, 1);
    assert_int_equal(field_node_find(root, "[0]").column, 1);
    assert_ptr_equal(field_node_member(root, "list"), list);
    assert_null(field_node_member(root, "x"));
}

/* Each mapping merges the previous one twice: 2^60 ways lead to the first. */
TEST(a_search_ends_in_time)
{
    enum { LEVELS = 60 };
    CLEANUP(field_node_cleanup) struct field_node *root = add(NULL, FIELD_SEQUENCE, "", 1);
    struct field_node *before = NULL;

    for (size_t i = 0; i < LEVELS; i++) {
        struct field_node *mapping = add(root, FIELD_MAPPING, "", i + 2);

        add(mapping, FIELD_SCALAR, "other", i + 2);
        for (unsigned k = 0; before && k < 2; k++) {
            struct field_node *merge = add(mapping, FIELD_ALIAS, "<<", i + 2);

            merge->merges = true;
            merge->target = before;
        }
        before = mapping;
    }
    assert_int_equal(field_node_find(root, "[59].x").column, LEVELS + 1);
}
