/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/manifests/yaml_file.h"

#include "exporter/manifests/list.h"

/*
 * How much longer a document can be as JSON: "-" and a line break become
 * "null,". Anything beyond comes from aliases.
 */
enum { GROWTH_MAX = 4 };

static size_t grown(size_t bytes)
{
    return bytes > SIZE_MAX / (2 * GROWTH_MAX) ? SIZE_MAX / 2 : bytes * GROWTH_MAX;
}

void yaml_file_init(struct yaml_file *y, const struct manifest_limits *limits)
{
    *y = (struct yaml_file){
        .limits = *limits,
        .text = STRBUF_INIT(limits->file_max_bytes),
        .json = STRBUF_INIT(grown(limits->file_max_bytes)),
    };
}

void yaml_file_release(struct yaml_file *y)
{
    yaml_reader_free(y->reader);
    y->reader = NULL;
    strbuf_release(&y->text);
    strbuf_release(&y->json);
    free(y->objects);
    y->objects = NULL;
}

bool yaml_file_add(struct yaml_file *y, const char *bytes, size_t len)
{
    strbuf_add(&y->text, bytes, len);
    return strbuf_ok(&y->text);
}

static void keep(void *context, cJSON *object, size_t line)
{
    struct yaml_file *y = context;
    char *json = cJSON_PrintUnformatted(object);

    if (!json)
        memory_exhausted(0);

    size_t len = strlen(json);
    if (len > y->limits.object_max_bytes && y->too_large == 0)
        y->too_large = line;
    if (y->count == y->capacity) {
        y->capacity = y->capacity * 2 + 8;
        y->objects = xreallocarray(y->objects, y->capacity, sizeof(*y->objects));
    }
    y->objects[y->count++] = (struct yaml_object){line, y->json.len, len};
    /* With a NUL after each, as json_parse needs it. */
    strbuf_add(&y->json, json, len + 1);
    free(json);
}

enum yaml_outcome yaml_file_parse(struct yaml_file *y, struct json_position *where,
                                  struct error *err)
{
    struct yaml_limits limits = {
        .nodes_max = y->limits.nodes_max,
        .bytes_max = grown(y->limits.file_max_bytes),
        .term = y->limits.term,
    };
    CLEANUP(json_cleanup) cJSON *document = NULL;

    if (!y->reader) {
        y->source = (struct yaml_text){y->text.data, y->text.len};
        y->reader = yaml_reader_new(yaml_read_text, &y->source, limits);
    }

    enum yaml_outcome outcome = yaml_reader_next(y->reader, &document, where, err);
    if (outcome == YAML_READ_DOCUMENT) {
        list_each(document, where->line, keep, y);
        if (y->too_large > 0) {
            *where = (struct json_position){y->too_large, 1};
            fail(err, "the object is larger than %zu bytes", y->limits.object_max_bytes);
            return YAML_READ_MALFORMED;
        }
        if (!strbuf_ok(&y->json)) {
            fail(err, "the file, with its anchors expanded, is too large");
            return YAML_READ_MALFORMED;
        }
    }
    if (outcome == YAML_READ_END) {
        yaml_reader_free(y->reader);
        y->reader = NULL;
        strbuf_release(&y->text);
    }
    return outcome;
}

bool yaml_file_hand_out(struct yaml_file *y, json_object_fn *each, void *context)
{
    if (y->handed_out == y->count)
        return false;

    const struct yaml_object *object = &y->objects[y->handed_out++];
    struct error err;
    CLEANUP(json_cleanup)
    cJSON *tree = json_parse(y->json.data + object->begin, object->len, NULL, &err);

    /* Cannot fail: the tree it was printed from came from YAML that was checked. */
    if (!tree)
        abort();
    each(context, tree, (struct json_place){object->line, y->handed_out});
    return true;
}
