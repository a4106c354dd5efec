/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/explain/differences.h"

#include "metrics/base/json.h"

enum { PATH_MAX_BYTES = 1 << 20 };

struct walk {
    difference_fn *each;
    void *context;
    struct strbuf path;
};

static cJSON *parse(const char *text)
{
    struct error err;

    return text ? json_parse(text, strlen(text), NULL, &err) : NULL;
}

static void emit(struct walk *w, const cJSON *before, const cJSON *after)
{
    char *old_text = before ? cJSON_PrintUnformatted(before) : NULL;
    char *new_text = after ? cJSON_PrintUnformatted(after) : NULL;

    w->each(w->context, &(struct difference){w->path.data, old_text, new_text});
    free(old_text);
    free(new_text);
}

/* True of an object, and of a list of objects. */
static bool has_parts(const cJSON *item)
{
    return cJSON_IsObject(item) || (cJSON_IsArray(item) && cJSON_IsObject(item->child));
}

static void compare(struct walk *w, const cJSON *before, const cJSON *after);

/* Compare one part of two objects or lists, one level deeper. */
static void step(struct walk *w, const char *key, int index, const cJSON *before,
                 const cJSON *after)
{
    size_t len = w->path.len;

    if (key)
        strbuf_addf(&w->path, "%s%s", len > 0 ? "." : "", key);
    else
        strbuf_addf(&w->path, "[%d]", index);
    compare(w, before, after);
    strbuf_cut(&w->path, len);
}

static void compare_members(struct walk *w, const cJSON *before, const cJSON *after)
{
    const cJSON *a = before->child;
    const cJSON *b = after->child;

    /* Canonical: the keys of both are sorted. */
    while (a || b) {
        int order = !a ? 1 : !b ? -1 : strcmp(a->string, b->string);
        const cJSON *left = order <= 0 ? a : NULL;
        const cJSON *right = order >= 0 ? b : NULL;

        step(w, left ? left->string : right->string, 0, left, right);
        a = left ? a->next : a;
        b = right ? b->next : b;
    }
}

/* Recursion is safe: json_parse() refuses texts that are nested too deeply. */
static void compare(struct walk *w, const cJSON *before, const cJSON *after)
{
    if (before && after && cJSON_Compare(before, after, true))
        return;
    if (!before || !after || !has_parts(before) || !has_parts(after) ||
        cJSON_IsObject(before) != cJSON_IsObject(after)) {
        emit(w, before, after);
        return;
    }
    if (cJSON_IsObject(before)) {
        compare_members(w, before, after);
        return;
    }

    const cJSON *a = before->child;
    const cJSON *b = after->child;

    for (int i = 0; a || b; i++) {
        step(w, NULL, i, a, b);
        a = a ? a->next : NULL;
        b = b ? b->next : NULL;
    }
}

void differences_each(const char *before, const char *after, difference_fn *each, void *context)
{
    CLEANUP(json_cleanup) cJSON *old_tree = parse(before);
    CLEANUP(json_cleanup) cJSON *new_tree = parse(after);
    struct walk w = {.each = each, .context = context, .path = STRBUF_INIT(PATH_MAX_BYTES)};

    if (old_tree || new_tree)
        compare(&w, old_tree, new_tree);
    strbuf_release(&w.path);
}

/* ---- line by line ---- */

struct lines {
    difference_line_fn *each;
    void *context;
    struct strbuf path;
    char sign;
    const cJSON *others; /* The list on the other side; its elements are in both. */
};

static bool has_element(const cJSON *list, const cJSON *element)
{
    const cJSON *item;

    cJSON_ArrayForEach (item, list) {
        if (cJSON_Compare(item, element, true))
            return true;
    }
    return false;
}

static void emit_line(const struct lines *l, const cJSON *value)
{
    CLEANUP(free_cleanup)
    char *printed = cJSON_IsString(value) ? NULL : cJSON_PrintUnformatted(value);

    l->each(l->context, &(struct difference_line){l->sign, l->path.data,
                                                  printed ? printed : value->valuestring});
}

/* Emit each plain value of one side. Recursion is safe as above. */
static void emit_leaves(struct lines *l, const cJSON *value)
{
    size_t len = l->path.len;
    const cJSON *item;
    int at = 0;

    if (!value->child) {
        emit_line(l, value);
        return;
    }
    cJSON_ArrayForEach (item, value) {
        if (cJSON_IsObject(value))
            strbuf_addf(&l->path, "%s%s", len > 0 ? "." : "", item->string);
        else if (has_parts(value))
            strbuf_addf(&l->path, "[%d]", at++);
        if (item->child || !has_element(l->others, item))
            emit_leaves(l, item);
        strbuf_cut(&l->path, len);
    }
}

static bool is_plain_list(const cJSON *value)
{
    return cJSON_IsArray(value) && !has_parts(value);
}

/* Two lists of the same elements in another order differ as a whole. */
static bool is_reordered(const cJSON *before, const cJSON *after)
{
    const cJSON *item;

    if (!is_plain_list(before) || !is_plain_list(after))
        return false;
    cJSON_ArrayForEach (item, before) {
        if (!has_element(after, item))
            return false;
    }
    cJSON_ArrayForEach (item, after) {
        if (!has_element(before, item))
            return false;
    }
    return true;
}

static void emit_side(struct lines *l, char sign, const cJSON *side, const cJSON *other)
{
    l->sign = sign;
    l->others = is_plain_list(side) && is_plain_list(other) ? other : NULL;
    if (side && is_reordered(side, other))
        emit_line(l, side);
    else if (side)
        emit_leaves(l, side);
}

static void emit_difference(void *context, const struct difference *d)
{
    CLEANUP(json_cleanup) cJSON *before = parse(d->before);
    CLEANUP(json_cleanup) cJSON *after = parse(d->after);
    struct lines *l = context;

    strbuf_cut(&l->path, 0);
    strbuf_adds(&l->path, d->path);
    emit_side(l, '-', before, after);
    emit_side(l, '+', after, before);
}

void difference_lines_each(const char *before, const char *after, difference_line_fn *each,
                           void *context)
{
    struct lines l = {.each = each, .context = context, .path = STRBUF_INIT(PATH_MAX_BYTES)};

    differences_each(before, after, emit_difference, &l);
    strbuf_release(&l.path);
}
