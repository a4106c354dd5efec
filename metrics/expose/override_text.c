/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/override_text.h"

#include "metrics/base/utf8.h"

enum { VALUE_MAX_BYTES = 120 };

/* Appends a value as JSON on one line, cut if it is long. */
static void add_value(struct strbuf *out, const cJSON *value)
{
    CLEANUP(free_cleanup) char *text = value ? cJSON_PrintUnformatted(value) : NULL;

    if (!text)
        strbuf_adds(out, "(not set)");
    else if (strlen(text) > VALUE_MAX_BYTES)
        strbuf_addf(out, "%.*s...", (int)utf8_cut_length(text, VALUE_MAX_BYTES), text);
    else
        strbuf_adds(out, text);
}

void override_change_add_text(struct strbuf *out, const struct override_change *change, bool hidden)
{
    strbuf_addf(out, "%s: ", *change->path ? change->path : "(the whole object)");
    if (hidden) {
        strbuf_adds(out, "changed; values of Secrets are not shown");
        return;
    }
    add_value(out, change->from);
    strbuf_adds(out, " -> ");
    add_value(out, change->to);
}

static void write_value(struct json_writer *w, const char *key, const cJSON *value)
{
    CLEANUP(free_cleanup) char *text = value ? cJSON_PrintUnformatted(value) : NULL;

    if (text)
        json_writer_raw_json(w, key, text);
}

static void write_change(struct json_writer *w, const struct override_change *change, bool hidden)
{
    json_writer_text(w, "path", change->path);
    if (hidden) {
        json_writer_bool(w, "hidden", true);
        return;
    }
    write_value(w, "from", change->from);
    write_value(w, "to", change->to);
}

void override_changes_write(struct json_writer *w, const struct override_changes *changes,
                            bool hidden)
{
    json_writer_open(w, "changes", '[');
    for (size_t i = 0; i < changes->count; i++) {
        json_writer_open(w, NULL, '{');
        write_change(w, &changes->items[i], hidden);
        json_writer_close(w, '}');
    }
    json_writer_close(w, ']');
}
