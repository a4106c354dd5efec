/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"
#include "metrics/base/strbuf.h"
#include "metrics/expose/policy_names.h"

/* HTML of the pages for people. All functions append to `out`. */

/*
 * Appends a text, escaped for an element or a quoted attribute. Unsafe characters
 * (utf8_is_unsafe) and broken UTF-8 become U+FFFD.
 */
void html_text(struct strbuf *out, const char *text);

/* Formats as printf() and appends the result, if up to 64 KiB, with html_text(): escapes markup. */
void html_textf(struct strbuf *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

/*
 * Appends a time in milliseconds since the epoch and, unless `now_ms` is 0 or before it, its age in
 * one unit: "2026-01-31T23:59:59Z (3 d ago)".
 */
void html_time(struct strbuf *out, int64_t time_ms, int64_t now_ms);

/* Appends a duration in milliseconds, in one unit, rounded down: "3 d", "12 min". */
void html_duration(struct strbuf *out, int64_t duration_ms);

/*
 * Appends the age of a time in one unit, "3 h", with the time as a tooltip; nothing if the time is
 * 0. `seen`: the time is that of the first observation, so the age is "over 3 h".
 */
void html_age(struct strbuf *out, int64_t time_ms, bool seen, int64_t now_ms);

/*
 * Appends ", since ", or with `seen` ", first seen so ", and a time as html_time() does; nothing if
 * the time is 0. `seen`: the state was first observed at this time, and may be older.
 */
void html_since(struct strbuf *out, int64_t time_ms, bool seen, int64_t now_ms);

/* Appends a number of bytes in a binary unit, with at most one digit behind the point. */
void html_bytes(struct strbuf *out, double bytes);

/* Appends a number of cores, with at most two digits behind the point. */
void html_cores(struct strbuf *out, double cores);

/* Opens a section with id, title (not escaped) and count; the caller adds "</section>". */
void html_section(struct strbuf *out, const char *id, const char *title, size_t count);

/* Maximum number of objects in a section, and default length of a list. */
enum { HTML_SHOWN_MAX = 100 };

/* Appends how many of `count` objects exceed HTML_SHOWN_MAX; nothing if `count` does not. */
void html_remaining_count(struct strbuf *out, size_t count);

/*
 * Appends the word of a severity with an icon, in its colour. `severity`: enum problem_severity;
 * any other value is "off".
 */
void html_severity(struct strbuf *out, unsigned severity);

/* Appends the icon of a severity (enum problem_severity) and a space. */
void html_severity_icon(struct strbuf *out, unsigned severity);

/* ---- tables ---- */

/* Column of a table. The texts are not escaped. */
struct html_column {
    const char *heading;
    const char *sort;  /* Value of the parameter `sort` for this column; NULL: cannot be sorted. */
    const char *style; /* Class of the cells; NULL for none. */
};

/*
 * A table that is being written: rows of cells, in the order of the columns. On a narrow screen the
 * style sheet shows each row as a card, with the heading before each cell.
 */
struct html_table {
    struct strbuf *out;
    const struct html_column *columns; /* Ends with a column without heading (NULL). */
    size_t next;                       /* Index of the column of the next cell. */
    bool row;                          /* A row is open. */
};

/*
 * Opens a table with an accessible label. Unless `query` is NULL, the headings are links that sort:
 * the same page with the parameters of `query`, except `page` and `continue`.
 */
struct html_table html_table_open(struct strbuf *out, const char *label,
                                  const struct html_column *columns, const struct query *query);
/* Opens a row; `style` is its class, or NULL. Ends the row before it. */
void html_row_open(struct html_table *t, const char *style);
/* Ends the row; needed only if another text than a row or the end of the table follows. */
void html_row_close(struct html_table *t);
/* Opens the next cell of the row; the caller appends its content. Ends the cell before it. */
void html_cell_open(struct html_table *t);
/* Append the next cell with a text, escaped (NULL: empty), or with a number. */
void html_cell_text(struct html_table *t, const char *text);
void html_cell_number(struct html_table *t, int64_t number);
void html_table_close(struct html_table *t);

/* ---- layout ---- */

/*
 * Pages in the navigation at the top of each page: enumerator, address and name. Addresses on pages
 * are relative, so that they work behind a proxy that adds a prefix. Therefore all pages must be on
 * the same level.
 */
#define NAVIGATION_LINKS(LINK)                                                                     \
    LINK(OVERVIEW, "./", "Problems")                                                               \
    LINK(TEMPLATES, "templates", "Templates")                                                      \
    LINK(POLICIES, "policies", "Policies")                                                         \
    LINK(CONFLICTS, "conflicts", "Conflicts")                                                      \
    LINK(CLUSTERS, "clusters", "Clusters")                                                         \
    LINK(NAMESPACES, "namespaces", "Namespaces")                                                   \
    LINK(EXPORTER, "exporter", "Exporter")

#define NAVIGATION_ENUMERATOR(id, address, name) NAVIGATION_##id,
/* NAVIGATION_NONE is for pages that are not in the navigation. */
enum navigation_link { NAVIGATION_LINKS(NAVIGATION_ENUMERATOR) NAVIGATION_NONE };

/* Appends the start of a page, up to its heading `title`, which is escaped. */
void page_layout_open(struct strbuf *out, enum navigation_link current, const char *title);

/* The same with a title for browser tabs that is not the heading. */
void page_layout_open_titled(struct strbuf *out, enum navigation_link current, const char *title,
                             const char *heading);

/* Appends the end of a page. `now_ms`: time of its data, ms since the epoch; 0: shows no time. */
void page_layout_close(struct strbuf *out, int64_t now_ms);

/* Appends a whole page with an error, which is escaped. */
void page_layout_write_error(struct strbuf *out, const char *text);

/* ---- links, and names of objects such as "Deployment default/web" ---- */

/* A parameter in the query of a link; omitted if `value` is NULL. */
struct link_value {
    enum parameter parameter;
    const char *value;
};

/* Opens a link to the page at `path`, which has no '/' at its start; the caller appends "</a>". */
void link_open(struct strbuf *out, const char *path, const struct link_value *values, size_t count);
/* The same with further attributes of the element: "" or " aria-current=\"true\"". */
void link_open_as(struct strbuf *out, const char *path, const struct link_value *values,
                  size_t count, const char *attributes);
#define link_open_with(out, path, ...)                                                             \
    link_open(out, path, (const struct link_value[]){__VA_ARGS__},                                 \
              ARRAY_LEN(((const struct link_value[]){__VA_ARGS__})))

/*
 * Appends the name of an object; with a link to its page if the object is a template, policy or
 * member cluster that exists. Reads the object of the entry, so the store must not change during
 * the call.
 */
void link_entry(struct strbuf *out, const struct entry *entry);

/* Sets `values` to all parameters of a query, by enum parameter. */
void link_values_init(struct link_value values[PARAMETER_COUNT], const struct query *query);

/* Opens a link to the page of a policy; the caller appends "</a>". */
void link_policy_open(struct strbuf *out, struct policy_name policy);

/* Append the name of a policy, existing or not, with and without a link to its page. */
void link_policy(struct strbuf *out, struct policy_name policy);
void link_policy_name(struct strbuf *out, struct policy_name policy);

/* Appends the name of a template with a link to its page, whether or not the template exists. */
void link_template(struct strbuf *out, struct identity template);

/* Appends the name of a dependency with a link to the page of the values that referrers want. */
void link_dependency(struct strbuf *out, struct identity resource);

/* Appends the name of a namespace with a link to its page. */
void link_namespace(struct strbuf *out, const char *ns);

/* Appends the name of a member cluster with a link to its page. */
void link_cluster(struct strbuf *out, const char *name);

/*
 * Appends kind and name of a template, a policy or, with `dependency`, a dependency without their
 * namespace, with a link to its page. Reads only the identity of the entry.
 */
void link_short_name(struct strbuf *out, enum object_class class, bool dependency,
                     struct identity id);
