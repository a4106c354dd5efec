/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_verbatim.h"

#include "metrics/base/strbuf.h"

/* ---- tokens ---- */

struct reader {
    const char *at;
    unsigned depth;
};

static void skip_blanks(struct reader *r)
{
    while (*r->at != '\0' && strchr(" \t\r\n", *r->at))
        r->at++;
}

static bool skip_digits(struct reader *r)
{
    size_t digits = strspn(r->at, "0123456789");

    r->at += digits;
    return digits > 0;
}

static bool skip_number(struct reader *r)
{
    r->at += *r->at == '-';
    if (*r->at == '0')
        r->at++;
    else if (!skip_digits(r))
        return false;
    if (*r->at == '.') {
        r->at++;
        if (!skip_digits(r))
            return false;
    }
    if (*r->at != 'e' && *r->at != 'E')
        return true;
    r->at++;
    r->at += *r->at == '+' || *r->at == '-';
    return skip_digits(r);
}

static bool skip_text(struct reader *r)
{
    if (*r->at++ != '"')
        return false;
    for (; *r->at != '"'; r->at++) {
        if ((unsigned char)*r->at < ' ')
            return false;
        if (*r->at != '\\')
            continue;
        r->at++;
        if (*r->at == 'u' && strspn(r->at + 1, "0123456789abcdefABCDEF") >= 4)
            r->at += 4;
        else if (*r->at == '\0' || !strchr("\"\\/bfnrt", *r->at))
            return false;
    }
    r->at++;
    return true;
}

static bool skip_word(struct reader *r, const char *word)
{
    size_t len = strlen(word);

    if (strncmp(r->at, word, len) != 0)
        return false;
    r->at += len;
    return true;
}

/* ---- values ---- */

static cJSON *read_value(struct reader *r);

static cJSON *read_plain(struct reader *r)
{
    const char *start = r->at;
    bool valid;

    if (*r->at == 'n')
        return skip_word(r, "null") ? cJSON_CreateNull() : NULL;
    if (*r->at == '"')
        valid = skip_text(r);
    else if (*r->at == 't' || *r->at == 'f')
        valid = skip_word(r, *r->at == 't' ? "true" : "false");
    else
        valid = skip_number(r);
    if (!valid)
        return NULL;

    CLEANUP(free_cleanup) char *text = xmemdup0(start, (size_t)(r->at - start));

    return cJSON_CreateRaw(text);
}

/* Reads a key and the ':' behind it. Returns the key, owned by the caller; NULL if invalid. */
static char *read_key(struct reader *r)
{
    const char *start = r->at;
    CLEANUP(json_cleanup) cJSON *text = NULL;

    if (!skip_text(r))
        return NULL;
    text = cJSON_ParseWithLength(start, (size_t)(r->at - start));
    skip_blanks(r);
    if (!cJSON_IsString(text) || *r->at != ':')
        return NULL;
    r->at++;
    return xstrdup(text->valuestring);
}

static bool read_member(struct reader *r, cJSON *object)
{
    CLEANUP(free_cleanup) char *key = read_key(r);
    cJSON *value = key ? read_value(r) : NULL;

    if (!value)
        return false;
    cJSON_AddItemToObject(object, key, value);
    return true;
}

struct keyed_node {
    cJSON *item;
    size_t index;
};

static int compare_members(const void *a, const void *b)
{
    const struct keyed_node *left = a, *right = b;
    int order = strcmp(left->item->string, right->item->string);

    return order != 0 ? order : (left->index > right->index) - (left->index < right->index);
}

/* Removes members with equal keys, except the last one. Sorts: an object may have many keys. */
static void drop_repeated_keys(cJSON *object)
{
    size_t size = (size_t)cJSON_GetArraySize(object), count = 0;
    CLEANUP(free_cleanup) struct keyed_node *members = xcalloc(size, sizeof(*members));

    for (cJSON *item = object->child; item; item = item->next, count++)
        members[count] = (struct keyed_node){item, count};
    if (count > 1)
        qsort(members, count, sizeof(*members), compare_members);
    for (size_t i = 0; i + 1 < count; i++) {
        if (strcmp(members[i].item->string, members[i + 1].item->string) == 0)
            cJSON_Delete(cJSON_DetachItemViaPointer(object, members[i].item));
    }
}

/* Reads the members or elements up to the closing bracket into `container`. */
static bool read_items(struct reader *r, cJSON *container, char closing)
{
    r->at++;
    skip_blanks(r);
    if (*r->at == closing)
        return r->at++;
    for (;; r->at++) {
        skip_blanks(r);
        if (closing == '}') {
            if (!read_member(r, container))
                return false;
        } else {
            cJSON *value = read_value(r);

            if (!value)
                return false;
            cJSON_AddItemToArray(container, value);
        }
        skip_blanks(r);
        if (*r->at == closing)
            return r->at++;
        if (*r->at != ',')
            return false;
    }
}

/* Reads a value. Returns NULL if it is invalid or too deep. */
static cJSON *read_value(struct reader *r)
{
    cJSON *value;
    bool valid;

    skip_blanks(r);
    if (*r->at != '{' && *r->at != '[')
        return read_plain(r);
    if (r->depth == JSON_DEPTH_MAX)
        return NULL;
    r->depth++;
    value = *r->at == '{' ? cJSON_CreateObject() : cJSON_CreateArray();
    valid = read_items(r, value, *r->at == '{' ? '}' : ']');
    if (valid && cJSON_IsObject(value))
        drop_repeated_keys(value);
    r->depth--;
    if (valid)
        return value;
    cJSON_Delete(value);
    return NULL;
}

cJSON *json_verbatim_parse(const char *text, struct error *err)
{
    struct reader r = {.at = text};
    cJSON *tree = read_value(&r);

    skip_blanks(&r);
    if (tree && *r.at == '\0')
        return tree;
    cJSON_Delete(tree);
    fail(err, "the text is no valid JSON: invalid at byte %zu", (size_t)(r.at - text));
    return NULL;
}

/* ---- output ---- */

char *json_verbatim_write(const cJSON *tree)
{
    struct strbuf out = STRBUF_INIT(SIZE_MAX);
    char *text = cJSON_PrintUnformatted(tree);

    for (const char *at = text; *at; at++) {
        if (*at == '<' || *at == '>' || *at == '&') {
            strbuf_addf(&out, "\\u%04x", (unsigned)*at);
        } else if (strncmp(at, "\xE2\x80\xA8", 3) == 0 || strncmp(at, "\xE2\x80\xA9", 3) == 0) {
            strbuf_adds(&out, at[2] == '\xA8' ? "\\u2028" : "\\u2029");
            at += 2;
        } else {
            strbuf_addc(&out, *at);
        }
    }
    free(text);
    return strbuf_take(&out, NULL);
}
