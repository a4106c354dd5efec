/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/session.h"
#include "exporter/web/api_lists.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/report.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/findings.h"

/*
 * What pages show of one object among others, as an element of a list: what is wrong with it, since
 * when, who must act, and links to all that it names.
 */
struct card_writer {
    const struct engine *engine; /* It has nothing left to evaluate. */
    int64_t now_ms;
    size_t policy_names_max; /* Of each side of a conflict so many are shown. */
    struct strbuf *out;
};

/* Appends the card of an object. */
typedef void card_fn(const struct card_writer *c, const struct entry *entry);

/* A template by its state: what that means, and who must act. */
card_fn write_template_card;
/* A template by where its binding is. */
card_fn write_delivery_card;
/* A dependency: a card for each field in conflict, or that will be, with the parties by side. */
card_fn write_conflict_cards;
/* A policy with those of its versions that templates run, newest first. */
card_fn write_rollout_card;

/* What the pages of lists have in common. They have 100 elements each, unless more are asked for.
 */

/* Of a list without elements. */
#define LIST_EMPTY_TEXT "<p>There is none.</p>\n"

/* The form that chooses whom the list has, filled in as the call has it. */
void list_write_filter_form(struct queued_request *request);

/*
 * Where to go on: to the next page (`token` is what its `continue` is; NULL: this is the last one),
 * to the first one, and to the same list for programs, if the API has it at `api`.
 */
void list_write_links(struct queued_request *request, const char *token, const char *api);

/* Of a side of a conflict in a list so many parties are shown. */
enum { LIST_REFERRERS_MAX = 20 };

/* The elements of a list of the report, each as HTML that `write` appends. */
struct list_elements {
    enum report_list list;
    const struct health *health; /* Its evaluation is needed for the first page alone. */
    card_fn *write;
};

/*
 * Append those that the call asks for, as far as they are on its page; how many these are. What
 * `continue` of the next page is, NULL for the last one, goes to `token`. A list that is too large
 * is refused, and the call is answered: then it is false.
 */
bool list_elements(struct queued_request *request, const struct list_elements *e, size_t *count,
                   const char **token) MUST_USE;

/*
 * What is wrong, worst first: how much of each class of findings there is, then a section for each,
 * whose id is the word of the class (metrics/rules/findings.h), "held" or "rollout". The numbers of
 * templates by state link to the lists of them. `ns`: of this namespace alone, NULL for all.
 */
void findings_section_write(const struct card_writer *c, const struct findings *f, const char *ns);

/* The API server that is followed, and what people should know of that. */
void source_section_write(const struct kube_session *session, struct strbuf *out);

/*
 * That alone: kinds that cannot be read, that have not been read yet and are late, that are polled,
 * and that are not served.
 */
void source_cards_write(const struct kube_source *source, struct strbuf *out);
