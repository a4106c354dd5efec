/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/explain/differences.h"

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
    w->path.len = len;
    if (len > 0)
        w->path.data[len] = '\0';
    else
        strbuf_reset(&w->path);
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
