/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/protobuf.h"

#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"

/* ---- wire format ---- */

enum { VARINT_MAX_BYTES = 10 };

enum protobuf_outcome protobuf_read_varint(struct protobuf_reader *r, uint64_t *out)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < VARINT_MAX_BYTES; i++) {
        if (r->at == r->end)
            return PROTOBUF_CUT;

        unsigned char byte = (unsigned char)*r->at++;

        /* The tenth byte has the highest bit only. */
        if (i == VARINT_MAX_BYTES - 1 && byte > 1)
            return PROTOBUF_INVALID;
        value |= (uint64_t)(byte & 0x7f) << (7 * i);
        if (byte < 0x80) {
            *out = value;
            return PROTOBUF_READ;
        }
    }
    return PROTOBUF_INVALID;
}

static enum protobuf_outcome skip_bytes(struct protobuf_reader *r, size_t len)
{
    if ((size_t)(r->end - r->at) < len)
        return PROTOBUF_CUT;
    r->at += len;
    return PROTOBUF_READ;
}

enum protobuf_outcome protobuf_read_head(struct protobuf_reader *r, struct protobuf_value *out)
{
    uint64_t tag;
    enum protobuf_outcome outcome = protobuf_read_varint(r, &tag);

    if (outcome != PROTOBUF_READ)
        return outcome;
    if (tag >> 3 == 0 || tag > UINT32_MAX)
        return PROTOBUF_INVALID;
    *out = (struct protobuf_value){.number = (uint32_t)tag >> 3, .wire = (unsigned)tag & 7};
    switch (out->wire) {
    case PROTOBUF_VARINT:
    case PROTOBUF_BYTES:
        return protobuf_read_varint(r, &out->varint);
    case PROTOBUF_FIXED64:
        return skip_bytes(r, sizeof(uint64_t));
    case PROTOBUF_FIXED32:
        return skip_bytes(r, sizeof(uint32_t));
    default:
        return PROTOBUF_INVALID;
    }
}

bool protobuf_read_field(struct protobuf_reader *r, struct protobuf_value *out, struct error *err)
{
    *out = (struct protobuf_value){0};

    enum protobuf_outcome outcome = protobuf_read_head(r, out);

    if (outcome == PROTOBUF_READ && out->wire == PROTOBUF_BYTES) {
        size_t left = (size_t)(r->end - r->at);

        if (out->varint > left)
            outcome = PROTOBUF_CUT;
        out->bytes = r->at;
        out->len = out->varint > left ? left : (size_t)out->varint;
        r->at += out->len;
    }
    if (outcome == PROTOBUF_READ)
        return true;
    return fail(err, outcome == PROTOBUF_CUT ? "not valid protobuf: the message is cut"
                                             : "not valid protobuf: a tag or number is invalid");
}

/* ---- conversion to JSON ---- */

/* Returns the number of bytes before the first one that needs an escape. */
static size_t count_plain_bytes(const char *bytes, const char *end)
{
    const char *at = bytes;

    while (at < end && (unsigned char)*at >= ' ' && *at != '"' && *at != '\\')
        at++;
    return (size_t)(at - bytes);
}

static void write_text(struct strbuf *out, const char *bytes, size_t len)
{
    const char *end = bytes + len;
    size_t plain = count_plain_bytes(bytes, end);
    char *to = plain == len ? strbuf_extend(out, len + 2) : NULL;

    if (to) {
        to[0] = '"';
        memcpy(to + 1, bytes, len);
        to[len + 1] = '"';
        return;
    }
    strbuf_addc(out, '"');
    for (; plain < (size_t)(end - bytes); plain = count_plain_bytes(bytes, end)) {
        strbuf_add(out, bytes, plain);
        bytes += plain;
        strbuf_addf(out, "\\u%04x", (unsigned)(unsigned char)*bytes++);
    }
    strbuf_add(out, bytes, plain);
    strbuf_addc(out, '"');
}

/*
 * Sets `out` to the value of field `number` of a message; zero without that field. Other fields are
 * ignored.
 */
static bool read_only_field(const struct protobuf_value *message, uint32_t number,
                            enum protobuf_wire wire, struct protobuf_value *out, struct error *err)
{
    struct protobuf_reader r = {message->bytes, message->bytes + message->len};
    struct protobuf_value value;

    *out = (struct protobuf_value){.wire = wire, .bytes = ""};
    while (r.at < r.end) {
        if (!protobuf_read_field(&r, &value, err))
            return false;
        if (value.number == number && value.wire == wire)
            *out = value;
    }
    return true;
}

/* Appends a time as JSON string. */
static bool write_time(const struct protobuf_value *value, struct strbuf *out, struct error *err)
{
    struct protobuf_value seconds;
    char text[32];

    if (!read_only_field(value, 1, PROTOBUF_VARINT, &seconds, err))
        return false;

    int64_t s = (int64_t)seconds.varint;

    if (s > INT64_MAX / 1000 || s < INT64_MIN / 1000)
        return fail(err, "not valid protobuf: a time is out of range");
    format_timestamp(s * 1000, text);
    write_text(out, text, strlen(text));
    return true;
}

/* Appends a map entry as member of a JSON object. */
static bool write_map_entry(const struct protobuf_value *entry, struct strbuf *out,
                            struct error *err)
{
    struct protobuf_value key, value;

    if (!read_only_field(entry, 1, PROTOBUF_BYTES, &key, err) ||
        !read_only_field(entry, 2, PROTOBUF_BYTES, &value, err))
        return false;
    write_text(out, key.bytes, key.len);
    strbuf_addc(out, ':');
    write_text(out, value.bytes, value.len);
    return true;
}

static bool write_json(const struct protobuf_value *value, struct strbuf *out, struct error *err)
{
    struct protobuf_value text;

    if (!read_only_field(value, 1, PROTOBUF_BYTES, &text, err))
        return false;
    if (text.len > 0)
        strbuf_add(out, text.bytes, text.len);
    else
        strbuf_adds(out, "null");
    return true;
}

static bool write_value(const struct protobuf_field *field, const struct protobuf_value *value,
                        struct strbuf *out, struct error *err)
{
    if (field->repeat == PROTOBUF_MAP)
        return write_map_entry(value, out, err);
    switch (field->type) {
    case PROTOBUF_TEXT:
        write_text(out, value->bytes, value->len);
        return true;
    case PROTOBUF_INT:
        strbuf_add_int(out, (int64_t)value->varint);
        return true;
    case PROTOBUF_BOOL:
        strbuf_adds(out, value->varint ? "true" : "false");
        return true;
    case PROTOBUF_TIME:
        return write_time(value, out, err);
    case PROTOBUF_JSON:
        return write_json(value, out, err);
    case PROTOBUF_MESSAGE:
        return protobuf_write_object(field->message, value->bytes, value->len, out, err);
    case PROTOBUF_OTHER:
        return field->write(value->bytes, value->len, out, err);
    }
    abort();
}

/* Returns true if JSON of the API server has no member for the value of a field. */
static bool is_left_out(const struct protobuf_field *field, const struct protobuf_value *value)
{
    if (field->type == PROTOBUF_INT)
        return value->varint == 0;
    return (field->type == PROTOBUF_TEXT || field->type == PROTOBUF_TIME) && value->len == 0;
}

/* State of protobuf_write_members(). */
struct message_writer {
    const struct protobuf_message *message;
    const struct protobuf_field *open; /* Repeated field with an open bracket, or NULL. */
    uint32_t seen;                     /* Fields that were read, bits by number. */
    char separator;                    /* Of the next member. */
    struct strbuf *out;
};

static void close_repeated_field(struct message_writer *m)
{
    if (m->open)
        strbuf_addc(m->out, m->open->repeat == PROTOBUF_MAP ? '}' : ']');
    m->open = NULL;
}

/* Appends the separator, the key with its quotes, and a colon. One append is much faster than four.
 */
static void append_key(struct strbuf *out, char separator, const char *key)
{
    size_t len = strlen(key);
    char *to = strbuf_extend(out, len + 4);

    if (!to)
        return;
    *to++ = separator;
    *to++ = '"';
    to = mempcpy(to, key, len);
    *to++ = '"';
    *to = ':';
}

/* Appends the key of a member, or the separator of the next value in an open bracket. */
static void begin_value(struct message_writer *m, const struct protobuf_field *field)
{
    if (m->open == field) {
        strbuf_addc(m->out, ',');
        return;
    }
    append_key(m->out, m->separator, field->key);
    m->separator = ',';
    if (field->repeat != PROTOBUF_ONCE) {
        strbuf_addc(m->out, field->repeat == PROTOBUF_MAP ? '{' : '[');
        m->open = field;
    }
}

/* Returns the row of a field that is converted, else NULL. */
static const struct protobuf_field *find_field(const struct message_writer *m,
                                               const struct protobuf_value *value)
{
    const struct protobuf_field *field =
        value->number < m->message->count ? &m->message->fields[value->number] : NULL;

    return field && field->key ? field : NULL;
}

/* Checks the place and the type of a value, and appends its key or separator. */
static bool begin_field(struct message_writer *m, const struct protobuf_field *field,
                        const struct protobuf_value *value, struct error *err)
{
    bool is_number = field->type == PROTOBUF_INT || field->type == PROTOBUF_BOOL;

    if (value->wire != (is_number ? PROTOBUF_VARINT : PROTOBUF_BYTES))
        return fail(err, "not valid protobuf: '%s' has another type", field->key);
    if (m->open != field && (m->seen >> value->number & 1))
        return fail(err, "not valid protobuf: '%s' is at two places", field->key);
    m->seen |= UINT32_C(1) << value->number;
    if (field->repeat != PROTOBUF_ONCE || !is_left_out(field, value))
        begin_value(m, field);
    return true;
}

static bool write_field(struct message_writer *m, const struct protobuf_value *value,
                        struct error *err)
{
    const struct protobuf_field *field = find_field(m, value);

    if (m->open != field)
        close_repeated_field(m);
    if (!field)
        return true;
    if (!begin_field(m, field, value, err))
        return false;
    return (field->repeat == PROTOBUF_ONCE && is_left_out(field, value)) ||
           write_value(field, value, m->out, err);
}

/*
 * Appends the first bytes of a cut value if they may contain whole members. Does not append the end
 * of the object, because later members are missing.
 */
static void write_cut_field(struct message_writer *m, const struct protobuf_value *value,
                            struct error *err)
{
    const struct protobuf_field *field = find_field(m, value);
    bool begun = false;

    if (!value->bytes || !field || field->repeat != PROTOBUF_ONCE)
        return;
    close_repeated_field(m);
    if (field->type == PROTOBUF_MESSAGE || field->type == PROTOBUF_OTHER)
        begun = begin_field(m, field, value, err);
    if (begun && field->type == PROTOBUF_MESSAGE)
        (void)!protobuf_write_members(field->message, value->bytes, value->len, '{', m->out, err);
    else if (begun)
        field->write(value->bytes, value->len, m->out, err);
}

char protobuf_write_members(const struct protobuf_message *message, const char *bytes, size_t len,
                            char separator, struct strbuf *out, struct error *err)
{
    struct protobuf_reader r = {bytes, bytes + len};
    struct message_writer m = {.message = message, .separator = separator, .out = out};
    struct protobuf_value value;

    while (r.at < r.end) {
        if (!protobuf_read_field(&r, &value, err)) {
            write_cut_field(&m, &value, err);
            return '\0';
        }
        if (!write_field(&m, &value, err))
            return '\0';
    }
    close_repeated_field(&m);
    return m.separator;
}

bool protobuf_write_object(const struct protobuf_message *message, const char *bytes, size_t len,
                           struct strbuf *out, struct error *err)
{
    char separator = protobuf_write_members(message, bytes, len, '{', out, err);

    protobuf_end_object(separator, out);
    return separator != '\0';
}

void protobuf_end_object(char separator, struct strbuf *out)
{
    if (separator != '\0')
        strbuf_adds(out, separator == '{' ? "{}" : "}");
}
