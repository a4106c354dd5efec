/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_writer.h"

#include "metrics/base/json.h"
#include "metrics/base/number.h"

static void begin_line(struct json_writer *w)
{
    strbuf_addc(w->out, '\n');
    for (unsigned i = 0; i < w->depth; i++)
        strbuf_addc(w->out, ' ');
}

/* Writes comma, line break and key, before the value. */
static void begin_value(struct json_writer *w, const char *key)
{
    if (w->comma)
        strbuf_addc(w->out, ',');
    w->comma = true;
    if (w->depth > 0 && w->depth <= w->lines)
        begin_line(w);
    if (key) {
        json_quote(w->out, key);
        strbuf_addc(w->out, ':');
    }
}

void json_writer_open(struct json_writer *w, const char *key, char bracket)
{
    begin_value(w, key);
    strbuf_addc(w->out, bracket);
    w->depth++;
    w->comma = false;
}

void json_writer_close(struct json_writer *w, char bracket)
{
    bool empty = !w->comma;

    w->depth--;
    w->comma = true;
    if (!empty && w->depth < w->lines)
        begin_line(w);
    strbuf_addc(w->out, bracket);
}

void json_writer_text(struct json_writer *w, const char *key, const char *value)
{
    begin_value(w, key);
    if (value)
        json_quote(w->out, value);
    else
        strbuf_adds(w->out, "null");
}

void json_writer_int(struct json_writer *w, const char *key, int64_t value)
{
    begin_value(w, key);
    strbuf_add_int(w->out, value);
}

void json_writer_bool(struct json_writer *w, const char *key, bool value)
{
    begin_value(w, key);
    strbuf_adds(w->out, value ? "true" : "false");
}

void json_writer_raw_json(struct json_writer *w, const char *key, const char *json)
{
    begin_value(w, key);
    json_escape(w->out, json ? json : "null");
}

void json_writer_bit_names(struct json_writer *w, const char *key, unsigned bits,
                           const char *const *names)
{
    json_writer_open(w, key, '[');
    for (; bits > 0; bits >>= 1, names++) {
        if (bits & 1)
            json_writer_text(w, NULL, *names);
    }
    json_writer_close(w, ']');
}

void json_writer_number(struct json_writer *w, const char *key, double value)
{
    begin_value(w, key);
    strbuf_add_double(w->out, value);
}
