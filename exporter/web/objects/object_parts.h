/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"
#include "exporter/web/html.h"
#include "metrics/base/strbuf.h"
#include "metrics/explain/explain.h"
#include "metrics/simulate/template_verdicts.h"

/* Parts that the pages of objects have in common. */

/* Maximum number of names in one list of links, and of rows of a history. */
enum { OBJECT_LINKS_MAX = 20 };

/* Page of an object that is being written. */
struct object_page {
    struct strbuf *out;
    const struct health *h;
    const struct entry *entry;
    struct explanation explanation;
    size_t open_problems;
};

/* Appends the start of the page with the problems of the object. End with object_page_close(). */
void object_page_open(struct object_page *page, struct queued_request *request,
                      const struct health *h, const struct entry *entry);

/* Makes the explanation; invalidates pointers to decisions. Call it before the next functions. */
void object_page_explain(struct object_page *page);

/*
 * Appends the problems of an object as a table, or that it has none. Returns the number of open
 * problems.
 */
size_t object_problems_write(struct strbuf *out, const struct health *h, const struct entry *entry);

/* Append the lines of a section of an explanation, without its heading. */
void explained_section_write(struct strbuf *out, const struct explanation *x, const char *section);
void object_page_write_section(const struct object_page *page, const char *section);

/*
 * Appends a list of member clusters with verdict and reason: first those without the workload, so
 * that the answer to "why not on this cluster" is on the first screen. Up to HTML_SHOWN_MAX facts.
 */
void object_verdicts_write(struct strbuf *out, const struct cluster_verdicts *verdicts);

/* Appends the section "Decision": all lines outside `sections`, which ends with NULL. */
void object_page_write_decision(const struct object_page *page, const char *const *sections);

/* Appends the resolved problems of the object, if any are kept. */
void object_page_write_resolved(const struct object_page *page);

/* Appends the command that prints the explanation, and the end of the page. */
void object_page_close(struct object_page *page);

/* ---- facts: names with values, in a list that the caller opens ---- */

/* Open and close the list; a list with `title`, which is not escaped, has a heading with `id`. */
void facts_open(struct strbuf *out, const char *id, const char *title);
void facts_close(struct strbuf *out);

/* Opens a fact; the caller appends its value, and "</dd>\n". */
void fact_open(struct strbuf *out, const char *name);

/* Appends a fact with a text, escaped; nothing if the text is NULL or "". */
void fact_text(struct strbuf *out, const char *name, const char *text);

/* Appends a fact with a number. */
void fact_number(struct strbuf *out, const char *name, int64_t number);

/* Appends a fact with the age and the time of a time; nothing if it is 0. `seen`: html_since(). */
void fact_time(struct strbuf *out, const char *name, int64_t time_ms, bool seen, int64_t now_ms);
