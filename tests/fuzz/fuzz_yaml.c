/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/manifest_reader.h"

#include "metrics/base/json.h"

/*
 * For any bytes in a YAML file, each parsed tree is within the limits and prints as JSON that
 * parses to the same tree. A failure has a reason and a position.
 */

enum { NODES_MAX = 2000, BYTES_MAX = 1 << 16, DOCUMENTS_MAX = 1 << 12 };

static size_t count_nodes(const cJSON *tree, unsigned depth)
{
    const cJSON *item;
    size_t nodes = 1;

    if (depth > JSON_DEPTH_MAX)
        abort();
    cJSON_ArrayForEach (item, tree)
        nodes += count_nodes(item, depth + 1);
    return nodes;
}

static void check_tree(const cJSON *tree)
{
    CLEANUP(free_cleanup) char *text = cJSON_PrintUnformatted(tree);
    struct error err;

    CLEANUP(json_cleanup) cJSON *again = json_parse(text, strlen(text), NULL, &err);
    CLEANUP(free_cleanup) char *second = again ? cJSON_PrintUnformatted(again) : NULL;
    if (!second || strcmp(text, second) != 0 || count_nodes(tree, 0) > NODES_MAX)
        abort();
}

static void check_failure(const char *text, size_t len, struct json_position where,
                          const struct error *err)
{
    size_t lines = json_position_of(text, len).line;
    size_t breaks = 0;

    /* YAML has other line breaks than '\n', such as '\r' and U+0085. */
    for (size_t i = 0; i < len; i++)
        breaks += text[i] == '\r' || (unsigned char)text[i] >= 0x80 ? 1 : 0;
    if (where.line == 0 || where.column == 0 || where.line > lines + breaks + 1 || !*err->text)
        abort();
}

static void read_trees(const char *text, size_t len, bool by_item)
{
    struct yaml_text source = {text, len};
    struct yaml_limits limits = {
        .nodes_max = NODES_MAX, .bytes_max = BYTES_MAX, .by_item = by_item};
    struct yaml_reader *reader = yaml_reader_new(yaml_read_text, &source, limits);
    struct json_position where = {0, 0};
    struct error err = {0};
    enum yaml_outcome outcome;
    cJSON *tree = NULL;

    for (unsigned i = 0; i < DOCUMENTS_MAX; i++) {
        outcome = yaml_reader_next(reader, &tree, &where, &err);
        if (outcome == YAML_READ_MALFORMED)
            check_failure(text, len, where, &err);
        if (outcome != YAML_READ_DOCUMENT && outcome != YAML_READ_ITEM)
            break;
        check_tree(tree);
        cJSON_Delete(tree);
    }
    yaml_reader_free(reader);
}

static void check_object(void *context, cJSON *object, struct json_place place)
{
    size_t *last = context;

    if (!object || place.line == 0 || place.offset <= *last)
        abort();
    *last = place.offset;
}

/* Checks that each node of a configuration is a text, null, list or object with a position. */
static void check_written(const cJSON *node)
{
    const cJSON *child;
    bool has_text = cJSON_IsString(node) || cJSON_IsNull(node);

    if (has_text != (node->valuestring != NULL) || node->valueint < 1 || node->valuedouble < 1 ||
        !(has_text || cJSON_IsArray(node) || cJSON_IsObject(node)))
        abort();
    cJSON_ArrayForEach (child, node)
        check_written(child);
}

static void read_config(const char *text, size_t len)
{
    cJSON *tree = NULL;
    struct error err = {""};

    if (yaml_read_config("x", text, len, &tree, &err) ? *err.text != '\0'
                                                      : tree || strncmp(err.text, "x:", 2) != 0)
        abort();
    if (tree)
        check_written(tree);
    cJSON_Delete(tree);
}

/* Reads the text as a manifest file: parses all of it, then hands out the objects in order. */
static void read_objects(const char *text, size_t len)
{
    struct manifest_limits limits = {
        .yaml_max_bytes = BYTES_MAX, .object_max_bytes = BYTES_MAX, .nodes_max = NODES_MAX};
    struct yaml_file yaml;
    struct json_position where;
    struct error err;
    enum yaml_outcome outcome = YAML_READ_DOCUMENT;
    size_t last = 0;

    yaml_file_init(&yaml, &limits);
    if (yaml_file_add(&yaml, text, len)) {
        while (outcome == YAML_READ_DOCUMENT || outcome == YAML_READ_ITEM)
            outcome = yaml_file_parse(&yaml, &where, &err);
        while (outcome == YAML_READ_END && yaml_file_emit_next(&yaml, check_object, &last))
            continue;
    }
    yaml_file_release(&yaml);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *text = xmemdup0((const char *)data, size);

    read_trees(text, size, false);
    read_trees(text, size, true);
    read_objects(text, size);
    read_config(text, size);
    return 0;
}
