/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/html.h"

#include "exporter/system/url.h"
#include "exporter/version.h"
#include "metrics/base/number.h"
#include "metrics/base/timestamp.h"
#include "metrics/base/utf8.h"
#include "metrics/model/store.h"
#include "metrics/rules/problems/problem_table.h"

enum { TEXT_MAX_BYTES = 64 * 1024, LINK_MAX_BYTES = 64 * 1024 };

#define REPLACEMENT_CHARACTER "\xEF\xBF\xBD" /* U+FFFD */

static const char *entity_of(char c)
{
    switch (c) {
    case '&':
        return "&amp;";
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void html_text(struct strbuf *out, const char *text)
{
    while (*text != '\0') {
        const char *begin = text, *entity = entity_of(*text);
        uint32_t point = utf8_next(&text);

        if (entity)
            strbuf_adds(out, entity);
        else if (point == UTF8_BROKEN || utf8_is_unsafe(point))
            strbuf_adds(out, REPLACEMENT_CHARACTER);
        else
            strbuf_add(out, begin, (size_t)(text - begin));
    }
}

void html_textf(struct strbuf *out, const char *fmt, ...)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX_BYTES);
    va_list args;

    va_start(args, fmt);
    strbuf_vaddf(&text, fmt, args);
    va_end(args);
    html_text(out, text.data);
}

/* Appends a duration in one unit; `space` is between number and unit. */
static void add_duration(struct strbuf *out, int64_t duration_ms, const char *space)
{
    static const struct {
        int64_t seconds;
        const char *name;
    } units[] = {{86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};
    int64_t seconds = duration_ms / 1000;
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(units) && seconds < units[i].seconds)
        i++;
    strbuf_addf(out, "%" PRId64 "%s%s", seconds / units[i].seconds, space, units[i].name);
}

void html_duration(struct strbuf *out, int64_t duration_ms)
{
    add_duration(out, duration_ms, " ");
}

void html_time(struct strbuf *out, int64_t time_ms, int64_t now_ms)
{
    char time[32];

    format_timestamp(time_ms, time);
    strbuf_addf(out, "<time datetime=\"%s\">%s</time>", time, time);
    if (now_ms == 0 || now_ms < time_ms)
        return;
    strbuf_adds(out, " (");
    html_duration(out, now_ms - time_ms);
    strbuf_adds(out, " ago)");
}

void html_age(struct strbuf *out, int64_t time_ms, bool seen, int64_t now_ms)
{
    char time[32];

    if (time_ms <= 0)
        return;
    format_timestamp(time_ms, time);
    strbuf_addf(out, "<time datetime=\"%s\" title=\"%s%s\">%s", time,
                seen ? "first seen at " : "since ", time, seen ? "over " : "");
    add_duration(out, now_ms > time_ms ? now_ms - time_ms : 0, "&nbsp;");
    strbuf_adds(out, "</time>");
}

void html_since(struct strbuf *out, int64_t time_ms, bool seen, int64_t now_ms)
{
    if (time_ms <= 0)
        return;
    strbuf_adds(out, seen ? ", first seen in this state " : ", since ");
    html_time(out, time_ms, now_ms);
}

void html_bytes(struct strbuf *out, double bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t i = 0;

    while (i + 1 < ARRAY_LEN(units) && (bytes >= 1024 || bytes <= -1024)) {
        bytes /= 1024;
        i++;
    }
    strbuf_addf(out, bytes < 10 && i > 0 ? "%.1f %s" : "%.0f %s", bytes, units[i]);
}

void html_cores(struct strbuf *out, double cores)
{
    if (cores >= 100 || cores <= -100)
        strbuf_addf(out, "%.0f", cores);
    else
        strbuf_add_double(out, (double)(int)(cores * 100) / 100);
}

void html_section(struct strbuf *out, const char *id, const char *title, size_t count)
{
    strbuf_addf(out,
                "<section aria-labelledby=\"%s\">\n<h2 id=\"%s\">%s "
                "<span class=\"faint\">%zu</span></h2>\n",
                id, id, title, count);
}

void html_remaining_count(struct strbuf *out, size_t count)
{
    if (count > HTML_SHOWN_MAX)
        strbuf_addf(out, "<p class=\"faint\">And %zu more.</p>\n", count - HTML_SHOWN_MAX);
}

void html_severity_icon(struct strbuf *out, unsigned severity)
{
    static const char *const icons[SEVERITY_COUNT] = {
        [SEVERITY_CRITICAL] = "\xE2\x97\x86", /* U+25C6, a diamond */
        [SEVERITY_WARNING] = "\xE2\x96\xB2",  /* U+25B2, a triangle */
        [SEVERITY_INFO] = "\xE2\x97\x8F",     /* U+25CF, a circle */
    };

    strbuf_addf(out, "<span class=\"icon\" aria-hidden=\"true\">%s</span> ", icons[severity]);
}

void html_severity(struct strbuf *out, unsigned severity)
{
    if (severity >= SEVERITY_COUNT) {
        strbuf_adds(out, "off");
        return;
    }
    strbuf_addf(out, "<span class=\"severity %s\">", severity_names[severity]);
    html_severity_icon(out, severity);
    strbuf_addf(out, "%s</span>", severity_names[severity]);
}

/* ---- tables ---- */

/* Appends a link that sorts by a column; a second use of the link reverses the order. */
static void add_sort_link(struct strbuf *out, const struct html_column *column,
                          const struct query *query)
{
    const char *sorted = query->values[PARAMETER_SORT];
    struct link_value values[PARAMETER_COUNT];
    char reverse[64];

    link_values_init(values, query);
    snprintf(reverse, sizeof(reverse), "-%s", column->sort);
    values[PARAMETER_PAGE].value = NULL;
    values[PARAMETER_CONTINUE].value = NULL;
    values[PARAMETER_SORT].value =
        sorted && strcmp(sorted, column->sort) == 0 ? reverse : column->sort;
    link_open(out, "", values, PARAMETER_COUNT);
    strbuf_addf(out, "%s</a>", column->heading);
}

static void add_heading(struct strbuf *out, const struct html_column *column,
                        const struct query *query)
{
    const char *sorted = query ? query->values[PARAMETER_SORT] : NULL;
    bool reverse = sorted && *sorted == '-';
    bool by_this = sorted && column->sort && strcmp(sorted + reverse, column->sort) == 0;

    strbuf_adds(out, "<th scope=\"col\"");
    if (column->style)
        strbuf_addf(out, " class=\"%s\"", column->style);
    if (by_this)
        strbuf_addf(out, " aria-sort=\"%s\"", reverse ? "descending" : "ascending");
    strbuf_addc(out, '>');
    if (query && column->sort)
        add_sort_link(out, column, query);
    else
        strbuf_adds(out, column->heading);
    strbuf_adds(out, "</th>");
}

/* The region scrolls, also by keys, if the table is wider than the screen. */
struct html_table html_table_open(struct strbuf *out, const char *label,
                                  const struct html_column *columns, const struct query *query)
{
    strbuf_addf(out,
                "<div class=\"wide\" role=\"region\" tabindex=\"0\" aria-label=\"%s\">\n<table>\n"
                "<thead>\n<tr>",
                label);
    for (size_t i = 0; columns[i].heading; i++)
        add_heading(out, &columns[i], query);
    strbuf_adds(out, "</tr>\n</thead>\n<tbody>\n");
    return (struct html_table){.out = out, .columns = columns};
}

void html_row_close(struct html_table *t)
{
    if (t->next > 0)
        strbuf_adds(t->out, "</td>\n");
    if (t->row)
        strbuf_adds(t->out, "</tr>\n");
    t->next = 0;
    t->row = false;
}

void html_row_open(struct html_table *t, const char *style)
{
    html_row_close(t);
    t->row = true;
    strbuf_adds(t->out, "<tr");
    if (style)
        strbuf_addf(t->out, " class=\"%s\"", style);
    strbuf_adds(t->out, ">\n");
}

void html_cell_open(struct html_table *t)
{
    const struct html_column *column = &t->columns[t->next];

    assert(column->heading);
    if (t->next > 0)
        strbuf_adds(t->out, "</td>\n");
    strbuf_addf(t->out, "<td data-label=\"%s\"", column->heading);
    if (column->style)
        strbuf_addf(t->out, " class=\"%s\"", column->style);
    strbuf_addc(t->out, '>');
    t->next++;
}

void html_cell_text(struct html_table *t, const char *text)
{
    html_cell_open(t);
    html_text(t->out, text ? text : "");
}

void html_cell_number(struct html_table *t, int64_t number)
{
    html_cell_open(t);
    strbuf_addf(t->out, "%" PRId64, number);
}

void html_table_close(struct html_table *t)
{
    html_row_close(t);
    strbuf_adds(t->out, "</tbody>\n</table>\n</div>\n");
}

/* ---- layout ---- */

static const struct {
    const char *address;
    const char *name;
} navigation_links[] = {
#define NAVIGATION_ROW(id, address, name) {address, name},
    NAVIGATION_LINKS(NAVIGATION_ROW)};

void page_layout_open(struct strbuf *out, enum navigation_link current, const char *title)
{
    page_layout_open_titled(out, current, title, title);
}

void page_layout_open_titled(struct strbuf *out, enum navigation_link current, const char *title,
                             const char *heading)
{
    strbuf_adds(out, "<!DOCTYPE html>\n"
                     "<html lang=\"en\">\n"
                     "<head>\n"
                     "<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>");
    html_text(out, title);
    strbuf_adds(out, "</title>\n"
                     "<link rel=\"stylesheet\" href=\"style.css\">\n"
                     "</head>\n"
                     "<body>\n"
                     "<a class=\"skip\" href=\"#main\">To the content</a>\n"
                     "<header>\n"
                     "<p class=\"name\">" EXPORTER_NAME "</p>\n"
                     "<nav aria-label=\"Pages\">\n");
    for (unsigned i = 0; i < ARRAY_LEN(navigation_links); i++)
        strbuf_addf(out, "<a href=\"%s\"%s>%s</a>\n", navigation_links[i].address,
                    i == current ? " aria-current=\"page\"" : "", navigation_links[i].name);
    strbuf_adds(out, "</nav>\n</header>\n<main id=\"main\">\n<h1>");
    html_text(out, heading);
    strbuf_adds(out, "</h1>\n");
}

void page_layout_close(struct strbuf *out, int64_t now_ms)
{
    strbuf_adds(out, "</main>\n<footer>\n<p>" EXPORTER_NAME " " EXPORTER_VERSION);
    if (now_ms > 0) {
        strbuf_adds(out, ", as of ");
        html_time(out, now_ms, 0);
    }
    strbuf_adds(out, "</p>\n</footer>\n</body>\n</html>\n");
}

void page_layout_write_error(struct strbuf *out, const char *text)
{
    page_layout_open(out, NAVIGATION_NONE, "Error");
    strbuf_adds(out, "<p class=\"bad\">");
    html_text(out, text);
    strbuf_adds(out, "</p>\n<p>See the <a href=\"./\">problems</a> or the "
                     "<a href=\"templates\">templates</a>.</p>\n");
    page_layout_close(out, 0);
}

/* ---- links ---- */

void link_open(struct strbuf *out, const char *path, const struct link_value *values, size_t count)
{
    link_open_as(out, path, values, count, "");
}

void link_open_as(struct strbuf *out, const char *path, const struct link_value *values,
                  size_t count, const char *attributes)
{
    CLEANUP(strbuf_release) struct strbuf link = STRBUF_INIT(LINK_MAX_BYTES);

    strbuf_addf(&link, "%s?", path);
    for (size_t i = 0; i < count; i++) {
        if (values[i].value)
            url_add_parameter(&link, parameter_names[values[i].parameter], values[i].value);
    }
    strbuf_adds(out, "<a href=\"");
    html_text(out, link.data);
    strbuf_addf(out, "\"%s>", attributes);
}

static void add_object_name(struct strbuf *out, const char *kind, const char *ns, const char *name)
{
    html_textf(out, "%s %s%s%s", kind, ns, *ns != '\0' ? "/" : "", name);
}

void link_values_init(struct link_value values[PARAMETER_COUNT], const struct query *query)
{
    for (unsigned i = 0; i < PARAMETER_COUNT; i++)
        values[i] = (struct link_value){(enum parameter)i, query->values[i]};
}

void link_policy_open(struct strbuf *out, struct policy_name policy)
{
    link_open_with(out, "policy", {PARAMETER_KIND, policy.kind},
                   {PARAMETER_NAMESPACE, *policy.ns ? policy.ns : NULL},
                   {PARAMETER_NAME, policy.name});
}

void link_policy(struct strbuf *out, struct policy_name policy)
{
    link_policy_open(out, policy);
    add_object_name(out, policy.kind, policy.ns, policy.name);
    strbuf_adds(out, "</a>");
}

void link_policy_name(struct strbuf *out, struct policy_name policy)
{
    add_object_name(out, policy.kind, policy.ns, policy.name);
}

/* Opens a link to a page about an object, with the API group as a parameter. */
static void open_object_link(struct strbuf *out, const char *path, struct identity id)
{
    CLEANUP(free_cleanup) char *group = xmemdup0(id.api_version, api_group_len(id.api_version));

    link_open_with(out, path, {PARAMETER_KIND, id.kind}, {PARAMETER_GROUP, group},
                   {PARAMETER_NAMESPACE, *id.ns ? id.ns : NULL}, {PARAMETER_NAME, id.name});
}

static void link_object(struct strbuf *out, const char *path, struct identity id)
{
    open_object_link(out, path, id);
    add_object_name(out, id.kind, id.ns, id.name);
    strbuf_adds(out, "</a>");
}

void link_template(struct strbuf *out, struct identity template)
{
    link_object(out, "template", template);
}

void link_dependency(struct strbuf *out, struct identity resource)
{
    link_object(out, "conflict", resource);
}

void link_entry(struct strbuf *out, const struct entry *entry)
{
    const struct identity id = entry_identity(entry);

    if (entry_exists(entry) && entry_class(entry) == CLASS_TEMPLATE)
        link_template(out, id);
    else if (entry_exists(entry) && entry_class(entry) == CLASS_POLICY)
        link_policy(out, policy_name_of(entry));
    else if (entry_exists(entry) && entry_class(entry) == CLASS_CLUSTER)
        link_cluster(out, id.name);
    else
        add_object_name(out, id.kind, id.ns, id.name);
}

void link_namespace(struct strbuf *out, const char *ns)
{
    link_open_with(out, "namespace", {PARAMETER_NAMESPACE, ns});
    html_text(out, ns);
    strbuf_adds(out, "</a>");
}

void link_cluster(struct strbuf *out, const char *name)
{
    link_open_with(out, "cluster", {PARAMETER_NAME, name});
    html_text(out, name);
    strbuf_adds(out, "</a>");
}

void link_short_name(struct strbuf *out, enum object_class class, bool dependency,
                     struct identity id)
{
    if (class == CLASS_POLICY && !dependency)
        link_policy_open(out, (struct policy_name){id.kind, id.ns, id.name});
    else
        open_object_link(out, dependency ? "conflict" : "template", id);
    html_textf(out, "%s %s", id.kind, id.name);
    strbuf_adds(out, "</a>");
}
