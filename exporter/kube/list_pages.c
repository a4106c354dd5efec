/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/list_pages.h"

#include "metrics/base/map.h"

void list_pages_begin(struct list_pages *l)
{
    *l = (struct list_pages){.compare_at = 1};
}

void list_pages_open(struct list_pages *l)
{
    l->objects = 0;
    l->sum = 0;
    l->unnamed = false;
}

void list_pages_note(struct list_pages *l, const char *ns, const char *name)
{
    l->objects++;
    l->unnamed = l->unnamed || !name || !*name;
    /* A sum, since a page with the same objects in another order is no progress either. */
    if (!l->unnamed)
        l->sum += map_hash(name, strlen(name), map_hash(ns, strlen(ns), 0));
}

/*
 * Returns whether the page has the objects of an earlier one. Brent's algorithm finds a cycle of
 * any length with one remembered page: pages 1, 2, 4, 8 ... are remembered in turn.
 */
static bool repeats(struct list_pages *l)
{
    bool same = l->pages > 1 && !l->unnamed && l->sum == l->compared;

    if (l->pages >= l->compare_at) {
        l->compared = l->unnamed ? 0 : l->sum;
        l->compare_at = 2 * l->pages;
    }
    return same;
}

const char *list_pages_end(struct list_pages *l, const char *asked, const char *next)
{
    l->pages++;
    l->empty = l->objects > 0 ? 0 : l->empty + 1;
    if (asked && strcmp(asked, next) == 0)
        return "the list does not go on: a page returned the continue token that asked for it";
    if (l->empty > LIST_EMPTY_PAGES_MAX)
        return "the list does not go on: too many pages in a row have no objects";
    if (l->objects > 0 && repeats(l))
        return "the list does not go on: its pages repeat the same objects";
    if (l->pages >= LIST_PAGES_MAX)
        return "the list does not end: it has too many pages";
    return NULL;
}
