/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/incomplete.h"

void incomplete_init(struct incomplete *i, struct intern *strings)
{
    *i = (struct incomplete){.strings = strings};
}

static void drop(struct incomplete *i, const struct incomplete_kind *item)
{
    intern_drop(i->strings, item->api_version);
    intern_drop(i->strings, item->kind);
}

void incomplete_release(struct incomplete *i)
{
    for (size_t at = 0; at < i->count; at++)
        drop(i, &i->items[at]);
    free(i->items);
    *i = (struct incomplete){.strings = i->strings};
}

/* Where the kind is, or `count`. */
static size_t find(const struct incomplete *i, const char *api_version, const char *kind)
{
    size_t at = 0;

    while (at < i->count && (strcmp(i->items[at].kind, kind) != 0 ||
                             strcmp(i->items[at].api_version, api_version) != 0))
        at++;
    return at;
}

bool incomplete_set(struct incomplete *i, const char *api_version, const char *kind,
                    bool incomplete)
{
    size_t at = find(i, api_version, kind);

    if (incomplete == (at < i->count))
        return false;
    if (incomplete) {
        i->items = xreallocarray(i->items, i->count + 1, sizeof(*i->items));
        i->items[i->count++] = (struct incomplete_kind){intern_add(i->strings, api_version),
                                                        intern_add(i->strings, kind)};
    } else {
        drop(i, &i->items[at]);
        i->items[at] = i->items[--i->count];
    }
    return true;
}

bool incomplete_has(const struct incomplete *i, const char *api_version, const char *kind)
{
    return find(i, api_version, kind) < i->count;
}

bool incomplete_has_type(const struct incomplete *i, const struct type *type)
{
    size_t at = 0;

    while (at < i->count &&
           (i->items[at].kind != type->kind || i->items[at].api_version != type->api_version))
        at++;
    return at < i->count;
}

unsigned incomplete_classes(const struct incomplete *i)
{
    unsigned classes = 0;

    for (size_t at = 0; at < i->count; at++)
        classes |= 1u << kind_of(i->items[at].api_version, i->items[at].kind)->class;
    return classes;
}
