/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/session.h"
#include "exporter/web/api_lists.h"
#include "exporter/web/html.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/report.h"
#include "metrics/rules/engine.h"

/* Parts that several pages for people have in common. */

/* ---- cards: list elements about one object, with links to the objects that are named ---- */

struct card_writer {
    const struct engine *engine; /* No object is left to evaluate. */
    int64_t now_ms;              /* Milliseconds since the epoch. */
    size_t referrers_max;        /* Maximum number of referrers on each side of a conflict. */
    struct strbuf *out;
};

/* Appends the cards, or the table row, of an object. */
typedef void card_fn(const struct card_writer *c, const struct entry *entry);

/* Appends a card for each field of a dependency in observed or predicted conflict. */
card_fn write_conflict_cards;

/* ---- pages with a list ---- */

/* Maximum number of referrers on each side of a conflict in a list. */
enum { LIST_REFERRERS_MAX = 20 };

/*
 * Appends a form with the filter of the request. `fields`: bits by enum parameter of the fields
 * that the form also has if the request does not set them.
 */
void filter_form_write(struct queued_request *request, unsigned fields);

/* Appends the start of the page, with a form that has the filter of the request. */
void list_page_open(struct queued_request *request, enum navigation_link current,
                    const char *title);

/*
 * Appends the end of a page with `count` elements, with links to other pages of the list, and to
 * the whole list as JSON and CSV. `token` is the value of `continue` for the next page, NULL on the
 * last page. `api` is the path of the list in the API, without '/' at its start.
 */
void list_page_close(struct queued_request *request, size_t count, const char *token,
                     const char *api);

/* List of the report as HTML elements, which `write` appends for each entry. */
struct list_elements {
    enum report_list list;
    const struct health *health; /* Needs `evaluation` only for the first page of the list. */
    card_fn *write;
};

/*
 * Appends the elements on the page of the list that the request selects. Sets `count` to their
 * number, and `token` to the value of `continue` for the next page, or NULL. Writes an error
 * response and returns false if the list is too large.
 */
bool list_write_elements(struct queued_request *request, const struct list_elements *e,
                         size_t *count, const char **token) MUST_USE;

/* ---- the API server ---- */

/* Appends a section about the API server, with source_cards_write(). */
void source_section_write(const struct kube_session *session, struct strbuf *out);

/*
 * Appends cards of kinds, at most 100 of each group: those that cannot be read, that are late, that
 * are listed instead of watched, and those that policies select but that are not served, not
 * watched, or not known yet.
 */
void source_cards_write(const struct kube_source *source, struct strbuf *out);
