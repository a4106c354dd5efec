/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/session.h"
#include "exporter/web/api_lists.h"
#include "exporter/web/html.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/report.h"
#include "metrics/rules/engine.h"

/* Parts that several pages for people have in common. */

/* ---- pages with a list ---- */

/* Fields of a filter form. A field in no set is shown if the request sets its parameter. */
struct filter_fields {
    parameter_set shown;
    parameter_set
        folded; /* Behind "More filters", which is open if the request sets one of them. */
    parameter_set hidden;    /* Without a field: the form keeps the value of the request. */
    const struct list *list; /* Its columns have the words that fields offer; may be NULL. */
};

/* Appends a form with the filter of the request; the form keeps all other parameters. */
void filter_form_write(struct queued_request *request, const struct filter_fields *fields);

/*
 * Opens a link to the first part of the same list, with one parameter of the request changed (NULL:
 * omitted). `attributes`: as link_open_as(). The caller appends "</a>".
 */
void request_link_open(struct queued_request *request, struct link_value changed,
                       const char *attributes);

/*
 * Appends a link with a count that filters the list by a value. If the list is filtered by this
 * value, the link is marked as the current one and removes the filter.
 */
void filter_link_write(struct queued_request *request, enum parameter parameter, const char *value,
                       const char *text, size_t count);

/* Appends the filters of the request, each with a link that removes it; nothing without one. */
void filter_list_write(struct queued_request *request);

/* Part of a list that one page shows: at most HTML_SHOWN_MAX of its rows. */
struct list_part {
    size_t page;  /* From 1 on. */
    size_t first; /* Index of the first row. */
    size_t end;   /* Index behind the last row. */
    size_t total; /* Number of rows of the whole list. */
};

/*
 * Stores the parameter `page` of the request, or 1. Writes an error response and returns false if
 * its value is not valid.
 */
bool page_number_from_request(struct queued_request *request, size_t *page) MUST_USE;

/* Returns the part of a list with `total` rows; the last part if `page` is behind it. */
struct list_part list_part_make(size_t page, size_t total);

/*
 * Appends which rows are shown, and links with the parameters of the request: to the other parts,
 * and, unless `api` is NULL, to the whole list as JSON and CSV at this path. `other` is a parameter
 * that these two links have if the request does not set it; without one its value is NULL.
 */
void list_part_write_links(struct queued_request *request, const struct list_part *part,
                           const char *api, const struct link_value *other);

/* ---- the API server ---- */

/* Appends a section about the API server, with source_cards_write(). */
void source_section_write(const struct kube_session *session, struct strbuf *out);

/*
 * Appends cards of kinds, at most 100 of each group: those that cannot be read, that are late, that
 * are listed instead of watched, and those that policies select but that are not served, not
 * watched, or not known yet.
 */
void source_cards_write(const struct kube_source *source, struct strbuf *out);
