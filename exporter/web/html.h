/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/policy_names.h"

/* Writing HTML from texts that others chose. */

/* Append a text so that it is shown as it is, inside an element or a quoted attribute. What HTML
 * has no place for, control characters and broken UTF-8, becomes U+FFFD. */
void html_text(struct strbuf *out, const char *text);

/* printf whose every result is such a text. For values, not for markup. */
void html_textf(struct strbuf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * A time in milliseconds since the epoch. With `now_ms`, also how long ago that was, in its largest
 * unit: "2026-01-31T23:59:59Z (3 d ago)"; 0: without.
 */
void html_time(struct strbuf *out, int64_t time_ms, int64_t now_ms);

/* Append since when something is so, behind what is said of it; `seen`: since when that is seen. */
void html_since(struct strbuf *out, int64_t time_ms, bool seen, int64_t now_ms);

/* Open a section with this id, heading and number of things; "</section>" ends it. */
void html_section(struct strbuf *out, const char *id, const char *title, size_t count);

/* Open a table with this label and headings, which end with NULL; html_table_end() ends it. */
void html_table(struct strbuf *out, const char *label, const char *const *heads);
void html_table_end(struct strbuf *out);

/* Of each class of things so many are shown: the pages are for a look, not for a search. */
enum { HTML_SHOWN_MAX = 100 };
/* Say how many more there are than are shown, if there are. */
void html_remaining_count(struct strbuf *out, size_t count);

/*
 * What all pages for people have around their content: plain HTML without any script, one style
 * sheet, and links that are relative, so that they also work behind a proxy that adds a prefix.
 * Every page is one level below the root for that.
 */

/* THE table of the places that every page links to: the enumerator, its address and its name. */
#define NAVIGATION_LINKS(PLACE)                                                                    \
    PLACE(OVERVIEW, "./", "Overview")                                                              \
    PLACE(TEMPLATES, "templates", "Templates")                                                     \
    PLACE(POLICIES, "policies", "Policies")                                                        \
    PLACE(CONFLICTS, "conflicts", "Conflicts")                                                     \
    PLACE(EXPORTER, "exporter", "Exporter")

#define NAVIGATION_ENUMERATOR(id, address, name) NAVIGATION_##id,
/* NAVIGATION_NONE: a page that is none of them. */
enum navigation_link { NAVIGATION_LINKS(NAVIGATION_ENUMERATOR) NAVIGATION_NONE };

/* Begin a page, down to its heading: `title`, which is shown as it is. */
void page_layout_open(struct strbuf *out, enum navigation_link place, const char *title);

/* End it. `now_ms`: the moment that it tells of, in milliseconds since the epoch; 0: of none. */
void page_layout_close(struct strbuf *out, int64_t now_ms);

/* A whole page that says what is wrong with a request, and where to go on. */
void page_layout_write_error(struct strbuf *out, const char *text);

/* Links from page to page, and the names of objects that carry them: "Deployment default/web". */

/* A parameter of a link; NULL as its value: not given. */
struct link_value {
    enum parameter parameter;
    const char *value;
};

/* "<a href=...>" to the page at `path` (without a '/' before it) with these parameters. */
void link_open(struct strbuf *out, const char *path, const struct link_value *values, size_t count);
#define link_open_with(out, path, ...)                                                             \
    link_open(out, path, (const struct link_value[]){__VA_ARGS__},                                 \
              ARRAY_LEN(((const struct link_value[]){__VA_ARGS__})))

/*
 * The name of an object, with a link to its page if it has one: templates and policies that exist
 * do. Reads the entry's object: the caller has the evaluation.
 */
void link_entry(struct strbuf *out, const struct entry *entry);
/* The same of a policy, which may not exist. */
void link_policy(struct strbuf *out, struct policy_name policy);
/* Appends the name of a policy without a link. */
void link_policy_name(struct strbuf *out, struct policy_name policy);
/* The same of a template, which may not be known. */
void link_template(struct strbuf *out, struct identity template);
/* The same of what a dependency is about, with a link to what is asked of it. */
void link_dependency(struct strbuf *out, struct identity resource);
/* The name of a namespace, with a link to its page. */
void link_namespace(struct strbuf *out, const char *ns);
