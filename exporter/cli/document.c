/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/document.h"

#include <ctype.h>
#include <strings.h>
#include <yaml.h>

#include "metrics/base/json.h"
#include "metrics/base/number.h"
#include "metrics/base/utf8.h"

enum { NUMBER_MAX = 64, NO_WRAP = -1 };

bool document_is_requested(enum output_format format)
{
    return format == OUTPUT_JSON || format == OUTPUT_YAML;
}

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

void document_convert(struct strbuf *text, enum output_format format)
{
    struct strbuf yaml = STRBUF_INIT(text->max);
    yaml_emitter_t emitter;
    yaml_event_t event;
    struct error err;

    if (format != OUTPUT_YAML)
        return;

    CLEANUP(json_cleanup) cJSON *tree = json_parse(text->data, text->len, NULL, &err);

    /* Only a truncated document is invalid: output_flush() then reports the overflow of `text`. */
    if (!tree)
        return;
    if (!yaml_emitter_initialize(&emitter))
        memory_exhausted(0);
    yaml_emitter_set_output(&emitter, append_yaml, &yaml);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, NO_WRAP);
    emit_event(&emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit_event(&emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    emit_item(&emitter, tree);
    emit_event(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
    emit_event(&emitter, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&emitter);
    strbuf_reset(text);
    json_escape(text, yaml.data);
    text->full |= !strbuf_ok(&yaml);
    strbuf_release(&yaml);
}
