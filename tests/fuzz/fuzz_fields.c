/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/json_fields.h"
#include "exporter/yaml/yaml_fields.h"

/*
 * For any bytes in a file, each field that is found has a position in the text: of YAML, behind the
 * start of the text; of JSON, at or behind the start of the object and within its bytes.
 */

enum { NODES_MAX = 2000, BYTES_MAX = 1 << 16 };

static const char *const paths[] = {"a", "a.b", "a[0]", "spec.x[1].y", "metadata.name", "<<.a"};

static void check_fields(void *context, size_t index, const struct field_node *object)
{
    size_t *last = context;

    if (index < *last)
        abort();
    *last = index + 1;
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        struct json_position at = field_node_find(object, paths[i]);

        if (at.line == 0 || at.column == 0)
            abort();
    }
}

static void read_yaml(const char *text, size_t len)
{
    static const struct json_position wanted[] = {{1, 1}, {2, 1}, {2, 3}, {3, 3}, {5, 1}};
    struct yaml_text source = {text, len};
    struct yaml_limits limits = {.nodes_max = NODES_MAX, .bytes_max = BYTES_MAX, .by_item = true};
    size_t last = 0;

    yaml_fields_read(yaml_read_text, &source, limits,
                     &(struct wanted_objects){wanted, ARRAY_LEN(wanted), check_fields, &last});
}

static void read_json(const char *text, size_t len)
{
    struct yaml_text source = {text, len};
    struct json_place start = {7, 9, 100};
    struct field_node *object = json_fields_read(yaml_read_text, &source, start, BYTES_MAX);

    for (size_t i = 0; object && i < ARRAY_LEN(paths); i++) {
        struct json_position at = field_node_find(object, paths[i]);

        if (at.line < start.line || (at.line == start.line && at.column < start.column))
            abort();
    }
    if (object && (object->offset < start.offset || object->offset >= start.offset + len))
        abort();
    field_node_free(object);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);

    read_yaml(text, size);
    read_json(text, size);
    return 0;
}
