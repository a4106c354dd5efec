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

static int append(void *context, unsigned char *bytes, size_t len)
{
    struct strbuf *out = context;

    strbuf_add(out, (const char *)bytes, len);
    return strbuf_ok(out) ? 1 : 0;
}

/* The emitter owns the event from here on. */
static void emit(yaml_emitter_t *emitter, yaml_event_t *event, int made)
{
    /* Only memory can fail; what does not fit its buffer, the buffer remembers. */
    if (!made)
        memory_exhausted(0);
    if (!yaml_emitter_emit(emitter, event) && emitter->error == YAML_MEMORY_ERROR)
        memory_exhausted(0);
}

static bool is_safe(const char *text)
{
    while (*text != '\0') {
        if (utf8_is_unsafe(utf8_next(&text)))
            return false;
    }
    return true;
}

/*
 * Would YAML 1.1 and 1.2 both read it as a text, and a terminal show it as it is? Quotes more than
 * it must: all that begins with anything but a letter.
 */
static bool is_plain(const char *text)
{
    static const char *const words[] = {"y",   "n",    "yes",   "no",  "on",
                                        "off", "true", "false", "null"};

    if (!isalpha((unsigned char)*text) || !is_safe(text))
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
    bool plain = !is_text || is_plain(text);
    yaml_scalar_style_t style = plain ? YAML_PLAIN_SCALAR_STYLE : YAML_DOUBLE_QUOTED_SCALAR_STYLE;
    CLEANUP(free_cleanup) char *copy = xstrdup(text);

    emit(emitter, &event,
         yaml_scalar_event_initialize(&event, NULL, NULL, (yaml_char_t *)copy, (int)strlen(copy),
                                      plain, is_text, style));
}

/* Recursion is safe: json_parse() refuses documents that are nested too deeply. */
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
    emit(emitter, &event,
         is_map ? yaml_mapping_start_event_initialize(&event, NULL, NULL, 1, YAML_ANY_MAPPING_STYLE)
                : yaml_sequence_start_event_initialize(&event, NULL, NULL, 1,
                                                       YAML_ANY_SEQUENCE_STYLE));
    cJSON_ArrayForEach (child, item) {
        if (is_map)
            emit_scalar(emitter, child->string, true);
        emit_item(emitter, child);
    }
    emit(emitter, &event,
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

    /* Only a document that was cut off does not parse; output_flush() then reports the buffer. */
    if (!tree)
        return;
    if (!yaml_emitter_initialize(&emitter))
        memory_exhausted(0);
    yaml_emitter_set_output(&emitter, append, &yaml);
    yaml_emitter_set_unicode(&emitter, 1);
    yaml_emitter_set_width(&emitter, NO_WRAP);
    emit(&emitter, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
    emit(&emitter, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
    emit_item(&emitter, tree);
    emit(&emitter, &event, yaml_document_end_event_initialize(&event, 1));
    emit(&emitter, &event, yaml_stream_end_event_initialize(&event));
    yaml_emitter_delete(&emitter);
    strbuf_reset(text);
    json_escape(text, yaml.data);
    /* A document that was cut off stays one. */
    text->full |= !strbuf_ok(&yaml);
    strbuf_release(&yaml);
}
