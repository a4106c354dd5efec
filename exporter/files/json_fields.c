/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/files/json_fields.h"

#include "metrics/base/strbuf.h"
#include "metrics/base/utf8.h"

enum {
    BUFFER = 16 * 1024,
    KEY_BYTES_MAX = 4096, /* No path has a longer key: such a field is not found. */
    NO_BYTE = -1,
};

struct json_scanner {
    yaml_read_fn *read;
    void *context;
    struct json_place at; /* Place of the next byte. */
    size_t end;           /* Offset behind which the value is too large. */
    struct strbuf key;    /* Key in quotes, as in the text. */
    size_t next;          /* Index of the next byte in `bytes`. */
    size_t len;
    char bytes[BUFFER];
};

/* Returns the next byte; NO_BYTE at the end of the text, and if the value is too large. */
static int peek(struct json_scanner *s)
{
    if (s->next == s->len) {
        s->len = s->read(s->context, s->bytes, sizeof(s->bytes));
        s->next = 0;
    }
    return s->len == 0 || s->at.offset >= s->end ? NO_BYTE : (unsigned char)s->bytes[s->next];
}

/* Goes past the byte that peek() has returned. */
static void pass(struct json_scanner *s)
{
    char byte = s->bytes[s->next++];

    s->at.offset++;
    if (byte == '\n') {
        s->at.line++;
        s->at.column = 1;
    } else {
        s->at.column += utf8_starts_character(byte);
    }
}

static int peek_token(struct json_scanner *s)
{
    while (peek(s) == ' ' || peek(s) == '\t' || peek(s) == '\r' || peek(s) == '\n')
        pass(s);
    return peek(s);
}

static bool pass_if(struct json_scanner *s, char byte)
{
    if (peek_token(s) != byte)
        return false;
    pass(s);
    return true;
}

/* Goes past a string, and appends it to `out`, which may be NULL. */
static bool pass_string(struct json_scanner *s, struct strbuf *out)
{
    bool escaped = false, ended = false;

    if (peek_token(s) != '"')
        return false;
    for (bool first = true; !ended; first = false) {
        int byte = peek(s);

        if (byte == NO_BYTE)
            return false;
        if (out)
            strbuf_addc(out, (char)byte);
        ended = byte == '"' && !escaped && !first;
        escaped = byte == '\\' && !escaped;
        pass(s);
    }
    return true;
}

/* Goes past a number or a word. */
static bool pass_word(struct json_scanner *s)
{
    size_t start = s->at.offset;

    while (peek(s) != NO_BYTE && !strchr(",:[]{}\" \t\r\n", peek(s)))
        pass(s);
    return s->at.offset > start;
}

/* Returns a node with the key in s->key; without a key, if that is empty. */
static struct field_node *make_node(const struct json_scanner *s, enum field_kind kind,
                                    struct json_place where)
{
    struct json_position position = {where.line, where.column};
    struct error ignored;

    if (s->key.len == 0)
        return field_node_new(kind, "", 0, position);

    /* The decoder of texts decodes escapes in the key. */
    CLEANUP(json_cleanup)
    cJSON *key = strbuf_ok(&s->key) ? json_parse(s->key.data, s->key.len, NULL, &ignored) : NULL;
    const char *text = cJSON_GetStringValue(key);

    return field_node_new(kind, text ? text : "", text ? strlen(text) : 0, position);
}

/* Declared here because values contain values. */
static struct field_node *scan_value(struct json_scanner *s, struct json_place where,
                                     unsigned depth);

/* Reads the members of an object or the elements of an array, up to the closing bracket. */
static bool scan_children(struct json_scanner *s, struct field_node *parent, char closing,
                          unsigned depth)
{
    if (pass_if(s, closing))
        return true;
    do {
        struct field_node *child;
        struct json_place where;

        peek_token(s);
        where = s->at;
        strbuf_reset(&s->key);
        if (closing == '}' && (!pass_string(s, &s->key) || !pass_if(s, ':')))
            return false;
        child = scan_value(s, where, depth);
        if (!child)
            return false;
        field_node_add(parent, child);
    } while (pass_if(s, ','));
    return pass_if(s, closing);
}

static struct field_node *scan_value(struct json_scanner *s, struct json_place where,
                                     unsigned depth)
{
    int byte = peek_token(s);
    enum field_kind kind = byte == '{'   ? FIELD_MAPPING
                           : byte == '[' ? FIELD_SEQUENCE
                                         : FIELD_SCALAR;
    CLEANUP(field_node_cleanup) struct field_node *node = NULL;
    struct field_node *scanned;

    if (depth == JSON_DEPTH_MAX)
        return NULL;
    node = make_node(s, kind, where);
    node->offset = s->at.offset;
    if (kind == FIELD_SCALAR && !(byte == '"' ? pass_string(s, NULL) : pass_word(s)))
        return NULL;
    if (kind != FIELD_SCALAR) {
        pass(s);
        if (!scan_children(s, node, byte == '{' ? '}' : ']', depth + 1))
            return NULL;
    }
    scanned = node;
    node = NULL;
    return scanned;
}

struct field_node *json_fields_read(yaml_read_fn *read, void *context, struct json_place start,
                                    size_t bytes_max)
{
    struct json_scanner *s = xmalloc(sizeof(*s));
    struct field_node *root;

    s->read = read;
    s->context = context;
    s->at = start;
    s->end = start.offset + bytes_max;
    s->key = STRBUF_INIT(KEY_BYTES_MAX);
    s->next = s->len = 0;
    root = scan_value(s, start, 0);
    strbuf_release(&s->key);
    /* The text may contain secrets. */
    explicit_bzero(s->bytes, sizeof(s->bytes));
    free(s);
    return root;
}
