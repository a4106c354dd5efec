/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/yaml/yaml_writer.h"

#include <ctype.h>
#include <strings.h>
#include <yaml.h>

#include "exporter/yaml/yaml.h"
#include "metrics/base/number.h"
#include "metrics/base/utf8.h"

enum { NUMBER_MAX = 64, NO_WRAP = -1, FIELD_NODES_MAX = 1 << 20, FIELD_BYTES_MAX = 1 << 24 };

/* Write handler of libyaml. Returns 0 if the buffer is full. */
static int append_yaml(void *context, unsigned char *bytes, size_t len)
{
    struct strbuf *out = context;

    strbuf_add(out, (const char *)bytes, len);
    return strbuf_ok(out) ? 1 : 0;
}

/* Emits an event and takes ownership of it. `initialized`: result of the function that made it. */
static void emit_event(yaml_emitter_t *emitter, yaml_event_t *event, int initialized)
{
    /* The text is valid UTF-8, so only memory can be missing. append_yaml() reports an overflow. */
    if (!initialized)
        memory_exhausted(0);
    if (!yaml_emitter_emit(emitter, event) && emitter->error == YAML_MEMORY_ERROR)
        memory_exhausted(0);
}

static bool is_safe_for_terminal(const char *text)
{
    while (*text != '\0') {
        if (utf8_is_unsafe(utf8_next(&text)))
            return false;
    }
    return true;
}

/*
 * Returns true if YAML 1.1 and 1.2 read the unquoted string as a string and it is safe for a
 * terminal. Returns false unless it begins with a letter; libyaml itself quotes "a: b".
 */
static bool is_plain_string(const char *text)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};

    if (!isalpha((unsigned char)*text) || !is_safe_for_terminal(text))
        return false;
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(text, words[i]) == 0)
            return false;
    }
    return true;
}

static void emit_scalar(yaml_emitter_t *emitter, const char *text, bool is_text)
{
    yaml_event_t event;
    bool plain = !is_text || is_plain_string(text);
    yaml_scalar_style_t style = plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    CLEANUP(free_cleanup) char *copy = xstrdup(text);

    emit_event(emitter, &event,
               yaml_scalar_event_initialize(&event, NULL, NULL, (yaml_char_t *)copy,
                                            (int)strlen(copy), plain, is_text, style));
}

/* Emits a JSON value. The recursion is limited by json_parse(), which rejects deep nesting. */
static void emit_item(yaml_emitter_t *emitter, const cJSON *item)
{
    CLEANUP(strbuf_release) struct strbuf number = STRBUF_INIT(NUMBER_MAX);
    bool is_map = cJSON_IsObject(item);
    const cJSON *child;
    yaml_event_t event;

    if (cJSON_IsNumber(item)) {
        strbuf_add_double(&number, item->valuedouble);
        emit_scalar(emitter, number.data, false);
        return;
    }
    if (cJSON_IsString(item)) {
        emit_scalar(emitter, item->valuestring, true);
        return;
    }
    if (!is_map && !cJSON_IsArray(item)) {
        const char *word = cJSON_IsTrue(item) ? "true" : cJSON_IsFalse(item) ? "false" : "null";

        emit_scalar(emitter, word, false);
        return;
    }
    emit_event(
        emitter, &event,
        is_map
            ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_ANY_MAPPING_STYLE)
            : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1, YAML_ANY_SEQUENCE_STYLE));
    cJSON_ArrayForEach (child, item) {
        if (is_map)
            emit_scalar(emitter, child->string, true);
        emit_item(emitter, child);
    }
    emit_event(emitter, &event,
               is_map ? yaml_mapping_end_event_initialize(&event)
                      : yaml_sequence_end_event_initialize(&event));
}

void yaml_write(const cJSON *tree, struct strbuf *out)
{
    yaml_emitter_t emitter;
    yaml_event_t event;

    if (!yaml_emitter_initialize(&emitter))
        memory_exhausted(0);
    yaml_emitter_set_output(&emitter, append_yaml, out);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, NO_WRAP);
    emit_event(&emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit_event(&emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    emit_item(&emitter, tree);
    emit_event(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
    emit_event(&emitter, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&emitter);
}

/* ---- texts in fields of objects ---- */

static cJSON *read_field(const char *text, struct error *err)
{
    struct yaml_text input = {text, strlen(text)};
    CLEANUP(yaml_reader_cleanup)
    struct yaml_reader *reader = yaml_reader_new(
        yaml_read_text, &input,
        (struct yaml_limits){.nodes_max = FIELD_NODES_MAX, .bytes_max = FIELD_BYTES_MAX});
    struct json_position where;
    cJSON *tree = NULL;

    switch (yaml_reader_next(reader, &tree, &where, err)) {
    case YAML_READ_DOCUMENT:
        return tree;
    case YAML_READ_MALFORMED:
        fail_in(err, "line %zu, column %zu", where.line, where.column);
        return NULL;
    case YAML_READ_END:
    case YAML_READ_ITEM:
        break;
    }
    return cJSON_CreateNull(); /* An empty text, as in Go. */
}

static int compare_keys(const void *a, const void *b)
{
    const cJSON *const *left = a, *const *right = b;

    return strcmp((*left)->string, (*right)->string);
}

/* Sorts the members of an object by key, and those of all objects below. */
static void sort_members(cJSON *tree)
{
    size_t count = (size_t)cJSON_GetArraySize(tree), at = 0;
    CLEANUP(free_cleanup) cJSON **members = xcalloc(count, sizeof(cJSON *));
    cJSON *item;

    cJSON_ArrayForEach (item, tree) {
        sort_members(item);
        members[at++] = item;
    }
    if (!cJSON_IsObject(tree) || count < 2)
        return;
    qsort(members, count, sizeof(cJSON *), compare_keys);
    for (at = 0; at < count; at++)
        cJSON_DetachItemViaPointer(tree, members[at]);
    for (at = 0; at < count; at++)
        cJSON_AddItemToArray(tree, members[at]);
}

static char *write_field(const cJSON *value)
{
    CLEANUP(json_cleanup) cJSON *sorted = cJSON_Duplicate(value, true);
    struct strbuf out = STRBUF_INIT(FIELD_BYTES_MAX);

    sort_members(sorted);
    yaml_write(sorted, &out);
    return strbuf_take(&out, NULL);
}

const struct yaml_converter yaml_field_converter = {read_field, write_field};
