/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/json_patch.h"

enum { INDEX_DIGITS_MAX = 10 };

/* ---- JSON pointers ---- */

void json_pointer_add_key(struct strbuf *pointer, const char *key)
{
    strbuf_addc(pointer, '/');
    for (; *key; key++) {
        if (*key == '~')
            strbuf_adds(pointer, "~0");
        else if (*key == '/')
            strbuf_adds(pointer, "~1");
        else
            strbuf_addc(pointer, *key);
    }
}

void json_pointer_add_index(struct strbuf *pointer, size_t index)
{
    strbuf_addf(pointer, "/%zu", index);
}

/* Decodes ~1 and ~0 of a part with `len` bytes. */
static char *decode_part(const char *part, size_t len)
{
    char *decoded = xmalloc(len + 1);
    size_t out = 0;

    for (size_t i = 0; i < len; i++) {
        if (part[i] == '~' && i + 1 < len && (part[i + 1] == '0' || part[i + 1] == '1'))
            decoded[out++] = part[++i] == '1' ? '/' : '~';
        else
            decoded[out++] = part[i];
    }
    decoded[out] = '\0';
    return decoded;
}

char *json_pointer_next(const char **at)
{
    const char *part = *at;
    size_t len;

    if (*part == '\0')
        return NULL;
    part++;
    len = strcspn(part, "/");
    *at = part + len;
    return decode_part(part, len);
}

bool json_parse_index(const char *text, int64_t *out)
{
    bool negative = *text == '-';
    size_t digits;

    if (*text == '-' || *text == '+')
        text++;
    digits = strspn(text, "0123456789");
    if (digits == 0 || text[digits] != '\0')
        return false;
    while (*text == '0' && text[1] != '\0') {
        text++;
        digits--;
    }
    if (digits > INDEX_DIGITS_MAX)
        return false;
    *out = 0;
    for (; *text; text++)
        *out = 10 * *out + (*text - '0');
    if (negative)
        *out = -*out;
    return true;
}

void json_replace(cJSON *parent, cJSON *old, cJSON *value)
{
    if (!(value->type & cJSON_StringIsConst))
        free(value->string);
    value->string = cJSON_IsObject(parent) ? xstrdup(old->string) : NULL;
    value->type &= ~cJSON_StringIsConst;
    cJSON_ReplaceItemViaPointer(parent, old, value);
}

void json_insert(cJSON *array, size_t index, cJSON *value)
{
    cJSON *next = cJSON_GetArrayItem(array, (int)index);

    if (!next) {
        cJSON_AddItemToArray(array, value);
        return;
    }
    /* cJSON 1.7.15 with Debian's patches refuses an item with an empty `prev`. */
    value->prev = next->prev;
    value->next = next;
    if (next == array->child)
        array->child = value;
    else
        next->prev->next = value;
    next->prev = value;
}

/* ---- operations ---- */

/* A document and its copy: a pointer that begins with an empty part changes only the copy. */
struct patched {
    cJSON **doc;
    cJSON *copy; /* NULL until it is needed. */
};

static cJSON *value_of(const struct json_patch_operation *o)
{
    return o->value ? cJSON_Duplicate(o->value, true) : cJSON_CreateNull();
}

/* Returns the element of an array at a text with an index, or NULL. */
static cJSON *element_at(const cJSON *array, const char *text)
{
    int64_t index;

    if (!json_parse_index(text, &index))
        return NULL;
    if (index < 0)
        index += cJSON_GetArraySize(array);
    return index < 0 || index > INT32_MAX ? NULL : cJSON_GetArrayItem(array, (int)index);
}

/* Returns the member or element of a container, or NULL. */
static cJSON *child_of(const cJSON *container, const char *part)
{
    if (cJSON_IsArray(container))
        return element_at(container, part);
    return cJSON_IsObject(container) ? cJSON_GetObjectItemCaseSensitive(container, part) : NULL;
}

/*
 * Returns the next container on a path. Below the root, the empty part has no container, even if
 * there is a member with this key; at the root it is a copy of the document.
 */
static cJSON *next_container(struct patched *p, cJSON *from, const char *part)
{
    if (*part != '\0')
        return child_of(from, part);
    if (from != *p->doc)
        return NULL;
    if (!p->copy)
        p->copy = cJSON_Duplicate(from, true);
    return p->copy;
}

/*
 * Returns the container of the value at a path, and in `*key` the last part, owned by the caller;
 * NULL, with `*key` NULL, if there is no container.
 */
static cJSON *find_container(struct patched *p, const char *path, char **key)
{
    cJSON *container = *p->doc;
    const char *at = strchr(path, '/');

    *key = NULL;
    if (*path == '\0') {
        *key = xstrdup("");
        return container;
    }
    while (at && container) {
        char *part = json_pointer_next(&at);

        if (*at == '\0') {
            *key = part;
            break;
        }
        container = next_container(p, container, part);
        free(part);
    }
    if (*key && (cJSON_IsObject(container) || cJSON_IsArray(container)))
        return container;
    free(*key);
    *key = NULL;
    return NULL;
}

static bool replace_document(struct patched *p, const struct json_patch_operation *o,
                             struct error *err)
{
    bool clears = strcmp(o->op, "replace") == 0 && (!o->value || cJSON_IsNull(o->value));

    if (!clears && !cJSON_IsObject(o->value) && !cJSON_IsArray(o->value))
        return fail(err,
                    "the %s operation replaces the whole document by a value that is no "
                    "object or array",
                    o->op);
    cJSON_Delete(*p->doc);
    cJSON_Delete(p->copy);
    p->copy = NULL;
    *p->doc = value_of(o);
    return true;
}

static bool add_element(cJSON *array, const struct json_patch_operation *o, const char *key,
                        struct error *err)
{
    int64_t count, index;

    if (strcmp(key, "-") == 0)
        return cJSON_AddItemToArray(array, value_of(o));
    count = cJSON_GetArraySize(array);
    if (!json_parse_index(key, &index))
        return fail(err, "the add operation does not apply: '%s' is no index of the list in %s",
                    key, o->path);
    if (index < 0)
        index += count + 1;
    if (index < 0 || index > count)
        return fail(err, "the add operation does not apply: index out of range: %s", o->path);
    json_insert(array, (size_t)index, value_of(o));
    return true;
}

static bool add_value(cJSON *container, const struct json_patch_operation *o, const char *key,
                      struct error *err)
{
    cJSON *old;

    if (cJSON_IsArray(container))
        return add_element(container, o, key, err);
    old = cJSON_GetObjectItemCaseSensitive(container, key);
    if (old)
        json_replace(container, old, value_of(o));
    else
        cJSON_AddItemToObject(container, key, value_of(o));
    return true;
}

static bool replace_value(cJSON *container, const struct json_patch_operation *o, const char *key,
                          struct error *err)
{
    cJSON *old = child_of(container, key);

    if (old)
        json_replace(container, old, value_of(o));
    else if (*key == '\0' && cJSON_IsObject(container))
        cJSON_AddItemToObject(container, key, value_of(o));
    else
        return fail(err, "the replace operation does not apply: there is no field %s", o->path);
    return true;
}

static bool remove_value(cJSON *container, const struct json_patch_operation *o, const char *key,
                         struct error *err)
{
    cJSON *old = child_of(container, key);

    if (!old)
        return fail(err, "the remove operation does not apply: there is no field %s", o->path);
    cJSON_Delete(cJSON_DetachItemViaPointer(container, old));
    return true;
}

typedef bool operation_fn(cJSON *container, const struct json_patch_operation *o, const char *key,
                          struct error *err);

static const struct {
    const char *op;
    operation_fn *apply;
} operations_table[] = {
    {"add", add_value},
    {"replace", replace_value},
    {"remove", remove_value},
};

static operation_fn *find_operation(const char *op)
{
    for (size_t i = 0; i < ARRAY_LEN(operations_table); i++) {
        if (strcmp(operations_table[i].op, op) == 0)
            return operations_table[i].apply;
    }
    return NULL;
}

static bool apply_operation(struct patched *p, const struct json_patch_operation *o,
                            struct error *err)
{
    operation_fn *apply = find_operation(o->op);
    CLEANUP(free_cleanup) char *key = NULL;
    cJSON *container;

    if (*o->path == '\0' && apply != remove_value)
        return replace_document(p, o, err);
    container = find_container(p, o->path, &key);
    if (!container)
        return fail(err, "the %s operation does not apply: the parent of %s does not exist", o->op,
                    o->path);
    return apply(container, o, key, err);
}

bool json_patch_apply(cJSON **doc, const struct json_patch_operation *operations, size_t count,
                      struct error *err)
{
    struct patched p = {.doc = doc};
    bool applied = true;

    for (size_t i = 0; i < count; i++) {
        if (!find_operation(operations[i].op))
            return fail(err, "unknown operation '%s'", operations[i].op);
    }
    for (size_t i = 0; applied && i < count; i++)
        applied = apply_operation(&p, &operations[i], err);
    cJSON_Delete(p.copy);
    return applied;
}
