/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/session.h"
#include "exporter/web/api_lists.h"
#include "exporter/web/html.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/report.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/findings.h"

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

/* Appends the card of a decided template: state, policy, and the role that must act. */
card_fn write_template_card;
/*
 * Appends the card of a decided template with a binding: stage and reason of its delivery,
 * Karmada's message, and the role that must act.
 */
card_fn write_delivery_card;
/* Appends a card for each field of a dependency in observed or predicted conflict. */
card_fn write_conflict_cards;
/* Appends a policy's card: its newest versions, current or in use, at most 20, then `unknown`. */
card_fn write_rollout_card;

/* ---- pages with a list ---- */

/* Maximum number of referrers on each side of a conflict in a list. */
enum { LIST_REFERRERS_MAX = 20 };

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

/* ---- findings and the API server ---- */

/*
 * Appends an overview of findings and states, then a section for each kind of finding there is; the
 * problem classes come last. The id of a section is the word of its class in findings.h, "held" for
 * templates not healthy in all targets, or "rollout". `ns`: namespace of the findings; NULL: all.
 */
void findings_section_write(const struct card_writer *c, const struct findings *f, const char *ns);

/* Appends a section about the API server, with source_cards_write(). */
void source_section_write(const struct kube_session *session, struct strbuf *out);

/*
 * Appends cards of kinds, at most 100 of each group: those that cannot be read, that are late, that
 * are listed instead of watched, and those that policies select but that are not served, not
 * watched, or not known yet.
 */
void source_cards_write(const struct kube_source *source, struct strbuf *out);
