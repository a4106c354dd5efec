/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/override/override_changes.h"

#include "metrics/base/json_patch.h"
#include "metrics/base/utf8.h"

enum {
    PATH_MAX_BYTES = 1 << 16,
    VALUE_MAX_BYTES = 120,
};

/* ---- differences ---- */

static void add_change(struct override_changes *out, const char *path, const cJSON *from,
                       const cJSON *to)
{
    out->items = xreallocarray(out->items, out->count + 1, sizeof(*out->items));
    out->items[out->count++] = (struct override_change){
        .path = xstrdup(path),
        .from = from ? cJSON_Duplicate(from, true) : NULL,
        .to = to ? cJSON_Duplicate(to, true) : NULL,
    };
}

static bool plain_values_equal(const cJSON *a, const cJSON *b)
{
    if (cJSON_IsString(a) || cJSON_IsString(b))
        return cJSON_IsString(a) && cJSON_IsString(b) &&
               strcmp(a->valuestring, b->valuestring) == 0;
    if (cJSON_IsNumber(a) && cJSON_IsNumber(b))
        return !(a->valuedouble < b->valuedouble) && !(a->valuedouble > b->valuedouble);
    return (a->type & 0xFF) == (b->type & 0xFF);
}

static void find_changes(const cJSON *from, const cJSON *to, struct strbuf *path,
                         struct override_changes *out);

static int compare_keys(const void *a, const void *b)
{
    const cJSON *left = *(cJSON *const *)a, *right = *(cJSON *const *)b;

    return strcmp(left->string, right->string);
}

/* Returns the members of an object, sorted by key, and their number. The array is the caller's. */
static const cJSON **sort_members(const cJSON *object, size_t *count)
{
    size_t size = (size_t)cJSON_GetArraySize(object);
    const cJSON **members = xcalloc(size, sizeof(cJSON *));
    const cJSON *item;

    *count = 0;
    cJSON_ArrayForEach (item, object)
        members[(*count)++] = item;
    if (*count > 1)
        qsort(members, *count, sizeof(cJSON *), compare_keys);
    return members;
}

/* Both objects are walked in the order of their keys: they may have many. */
static void find_member_changes(const cJSON *from, const cJSON *to, struct strbuf *path,
                                struct override_changes *out)
{
    size_t from_count, to_count, len = path->len;
    CLEANUP(free_cleanup) const cJSON **left = sort_members(from, &from_count);
    CLEANUP(free_cleanup) const cJSON **right = sort_members(to, &to_count);

    for (size_t i = 0, k = 0; i < from_count || k < to_count;) {
        int order = i == from_count ? 1 : k == to_count ? -1 : compare_keys(&left[i], &right[k]);
        const cJSON *a = order <= 0 ? left[i] : NULL, *b = order >= 0 ? right[k] : NULL;

        json_pointer_add_key(path, order <= 0 ? left[i]->string : right[k]->string);
        find_changes(a, b, path, out);
        strbuf_cut(path, len);
        i += order <= 0;
        k += order >= 0;
    }
}

static void find_element_changes(const cJSON *from, const cJSON *to, struct strbuf *path,
                                 struct override_changes *out)
{
    const cJSON *a = from->child, *b = to->child;
    size_t len = path->len;

    for (size_t i = 0; a || b; i++) {
        json_pointer_add_index(path, i);
        find_changes(a, b, path, out);
        strbuf_cut(path, len);
        a = a ? a->next : NULL;
        b = b ? b->next : NULL;
    }
}

/* Adds the differences of two values; one may be NULL. The depth is that of the JSON. */
static void find_changes(const cJSON *from, const cJSON *to, struct strbuf *path,
                         struct override_changes *out)
{
    if (from && to && cJSON_IsObject(from) && cJSON_IsObject(to))
        find_member_changes(from, to, path, out);
    else if (from && to && cJSON_IsArray(from) && cJSON_IsArray(to))
        find_element_changes(from, to, path, out);
    else if (!from || !to || !plain_values_equal(from, to))
        add_change(out, path->data, from, to);
}

static int compare_paths(const void *a, const void *b)
{
    const struct override_change *left = a, *right = b;

    return strcmp(left->path, right->path);
}

void override_changes_find(const cJSON *from, const cJSON *to, struct override_changes *out)
{
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(PATH_MAX_BYTES);

    *out = (struct override_changes){0};
    find_changes(from, to, &path, out);
    if (out->count > 1)
        qsort(out->items, out->count, sizeof(*out->items), compare_paths);
}

void override_changes_release(struct override_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        free(changes->items[i].path);
        cJSON_Delete(changes->items[i].from);
        cJSON_Delete(changes->items[i].to);
    }
    free(changes->items);
    *changes = (struct override_changes){0};
}

bool override_changes_equal(const struct override_changes *a, const struct override_changes *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        const struct override_change *left = &a->items[i], *right = &b->items[i];

        if (strcmp(left->path, right->path) != 0 || !left->to != !right->to ||
            (left->to && !cJSON_Compare(left->to, right->to, true)))
            return false;
    }
    return true;
}

/* ---- output ---- */

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
