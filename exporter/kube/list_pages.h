/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Detects lists whose pages go on without progress. A server may return pages without objects, as
 * Kubernetes allows for selectors, but at most LIST_EMPTY_PAGES_MAX in a row. A list fails if a
 * page returns the continue token that asked for it, if a page has the same objects as an earlier
 * one, or if it has more than LIST_PAGES_MAX pages. remainingItemCount is an estimate and is not
 * used.
 */
enum { LIST_EMPTY_PAGES_MAX = 5, LIST_PAGES_MAX = 4000 };

struct list_pages {
    unsigned pages;      /* Complete pages so far. */
    unsigned empty;      /* Pages without objects in a row. */
    unsigned objects;    /* Objects in the open page. */
    bool unnamed;        /* The open page has an object without a name: it cannot be compared. */
    uint64_t sum;        /* Sum of the hashes of the objects' names in the open page. */
    uint64_t compared;   /* `sum` of the page that later pages are compared with. */
    unsigned compare_at; /* Number of the page that takes its place. */
};

/* Begins a list. */
void list_pages_begin(struct list_pages *l);

/* Begins a page, or the same page again. */
void list_pages_open(struct list_pages *l);

/* Counts an object of the open page. NULL or "" as `name`: the object has no name. */
void list_pages_note(struct list_pages *l, const char *ns, const char *name);

/*
 * Ends the open page, for which the token `asked` was sent (NULL for the first page) and which
 * returned the token `next`. Returns NULL if the list may go on, else a description of the fault.
 */
const char *list_pages_end(struct list_pages *l, const char *asked, const char *next);
