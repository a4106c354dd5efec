/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/object_name.h"

/* Longer than any name that a server accepts. */
enum { TEXT_MAX = 512 };

static const char *const members[] = {"name", "namespace", "resourceVersion"};
enum { MEMBER_NAME, MEMBER_NAMESPACE, MEMBER_COUNT = ARRAY_LEN(members) };

struct slice {
    const char *bytes;
    size_t len;
};

struct reader {
    const char *at;
    const char *end;
    const char *path[2]; /* The members that lead to the metadata. */
    unsigned path_len;
    unsigned depth;   /* Of brackets. */
    unsigned matched; /* Of the path, how many members the objects around us are. */
    bool ended;       /* The metadata were read to their end. */
    struct slice found[MEMBER_COUNT];
};

/* The string whose opening quote was read, up to its closing one. False if that is not there. */
static bool read_string(struct reader *r, struct slice *out)
{
    *out = (struct slice){.bytes = r->at};
    for (; r->at < r->end && *r->at != '"'; r->at++) {
        if (*r->at == '\\' && r->at + 1 < r->end)
            r->at++;
    }
    out->len = (size_t)(r->at - out->bytes);
    return r->at < r->end && *r->at++ == '"';
}

static char next_byte(struct reader *r)
{
    while (r->at < r->end && strchr(" \t\r\n", *r->at))
        r->at++;
    return r->at < r->end ? *r->at : '\0';
}

static bool is(const struct slice *text, const char *word)
{
    return text->len == strlen(word) && memcmp(text->bytes, word, text->len) == 0;
}

/* The value of a member of the metadata follows. */
static void read_member(struct reader *r, const struct slice *key)
{
    struct slice value;

    if (next_byte(r) != '"')
        return;
    r->at++;
    if (!read_string(r, &value) || value.len >= TEXT_MAX || memchr(value.bytes, '\\', value.len))
        return;
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if (is(key, members[i]))
            r->found[i] = value;
    }
}

/* A string was begun; if it is a key, so is what follows it. */
static void read_key(struct reader *r)
{
    struct slice key;
    bool inside = r->matched + 1 == r->depth; /* All objects around us are on the path. */

    if (!read_string(r, &key) || !inside || next_byte(r) != ':')
        return;
    r->at++;
    if (r->matched == r->path_len)
        read_member(r, &key);
    else if (is(&key, r->path[r->matched]) && next_byte(r) == '{')
        r->matched++;
}

static void close_bracket(struct reader *r)
{
    r->ended = r->matched == r->path_len && r->depth == r->path_len + 1;
    r->depth -= r->depth > 0;
    if (r->matched > 0 && r->matched >= r->depth)
        r->matched = r->depth > 0 ? r->depth - 1 : 0;
}

static void read_metadata(struct reader *r)
{
    while (r->at < r->end && !r->ended) {
        char byte = *r->at++;

        if (byte == '"')
            read_key(r);
        else if (byte == '{' || byte == '[')
            r->depth++;
        else if (byte == '}' || byte == ']')
            close_bracket(r);
    }
}

cJSON *object_name_read(const char *json, size_t len, bool event)
{
    struct reader r = {
        .at = json,
        .end = json + len,
        .path = {event ? "object" : "metadata", "metadata"},
        .path_len = event ? 2 : 1,
    };
    cJSON *object, *metadata;

    read_metadata(&r);
    if (r.found[MEMBER_NAME].len == 0 || (!r.ended && r.found[MEMBER_NAMESPACE].len == 0))
        return NULL;
    object = cJSON_CreateObject();
    metadata = cJSON_AddObjectToObject(object, "metadata");
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        char text[TEXT_MAX];

        snprintf(text, sizeof(text), "%.*s", (int)r.found[i].len,
                 r.found[i].bytes ? r.found[i].bytes : "");
        if (*text && !cJSON_AddStringToObject(metadata, members[i], text))
            memory_exhausted(0);
    }
    return object;
}
