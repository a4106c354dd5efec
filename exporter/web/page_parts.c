/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/page_parts.h"

#include "exporter/evaluation.h"
#include "exporter/web/list_query.h"
#include "metrics/base/number.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/problems/problem_table.h"

enum { PAGE_NUMBER_MAX = 1000000 };

/* ---- pages with a list ---- */

/* Labels of the fields of filter forms; NULL for parameters without a field. */
static const char *const filter_labels[PARAMETER_COUNT] = {
    [PARAMETER_STATE] = "State",          [PARAMETER_KIND] = "Kind",
    [PARAMETER_GROUP] = "API group",      [PARAMETER_NAMESPACE] = "Namespace",
    [PARAMETER_REASON] = "Reason",        [PARAMETER_POLICY] = "Policy",
    [PARAMETER_VERSION] = "Version",      [PARAMETER_OWNER] = "Owner",
    [PARAMETER_SEARCH] = "Name contains", [PARAMETER_STAGE] = "Stage",
    [PARAMETER_ACTOR] = "Actor",          [PARAMETER_PROBLEM] = "Problem",
    [PARAMETER_SEVERITY] = "Severity",    [PARAMETER_STATUS] = "Status",
    [PARAMETER_CAUSE] = "Explained by",   [PARAMETER_FIELD] = "Field",
    [PARAMETER_ORIGIN] = "Origin",        [PARAMETER_WHERE] = "Conditions",
};

/* Words that a field offers for selection; `words` is NULL for a text field. */
struct field_words {
    const char *const *words;
    size_t count;
};

static struct field_words words_of_field(const struct filter_fields *fields,
                                         enum parameter parameter)
{
    const struct list_column *column =
        fields->list ? list_filter_column(fields->list, parameter) : NULL;

    if (column)
        return (struct field_words){column->words, column->word_count};
    if (parameter == PARAMETER_SEVERITY)
        return (struct field_words){severity_names, SEVERITY_COUNT};
    if (parameter == PARAMETER_PROBLEM)
        return (struct field_words){problem_names, PROBLEM_COUNT};
    return (struct field_words){NULL, 0};
}

static void add_filter_field(struct strbuf *out, enum parameter parameter,
                             struct field_words choice, const char *value)
{
    const char *name = parameter_names[parameter];

    strbuf_addf(out, "<div>\n<label for=\"%s\">%s</label>\n", name, filter_labels[parameter]);
    if (choice.words) {
        strbuf_addf(out, "<select id=\"%s\" name=\"%s\">\n<option value=\"\">all</option>\n", name,
                    name);
        for (size_t i = 0; i < choice.count; i++)
            strbuf_addf(out, "<option%s>%s</option>\n",
                        value && strcmp(value, choice.words[i]) == 0 ? " selected" : "",
                        choice.words[i]);
        strbuf_adds(out, "</select>");
    } else {
        strbuf_addf(out, "<input type=\"text\" id=\"%s\" name=\"%s\"%s value=\"", name, name,
                    parameter == PARAMETER_WHERE ? " placeholder=\"stale&gt;0,since&gt;7d\"" : "");
        html_text(out, value ? value : "");
        strbuf_adds(out, "\">");
    }
    strbuf_adds(out, "\n</div>\n");
}

/* Returns true for parameters that select a part of a list. */
static bool is_position(unsigned parameter)
{
    return parameter == PARAMETER_PAGE || parameter == PARAMETER_CONTINUE;
}

/* Returns true if the form of the request has a field, visible or hidden, for the parameter. */
static bool has_field(const struct queued_request *request, unsigned parameter)
{
    return request->endpoint->known >> parameter & 1 && !is_position(parameter);
}

/* Appends the fields for the parameters of a set, and for `others` that the request sets. */
static void add_filter_fields(struct queued_request *request, const struct filter_fields *fields,
                              parameter_set set, parameter_set others)
{
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        const char *value = request->query.values[i];

        if (has_field(request, i) && filter_labels[i] &&
            (set >> i & 1 || (value && others >> i & 1)))
            add_filter_field(&request->body, (enum parameter)i,
                             words_of_field(fields, (enum parameter)i), value);
    }
}

/* Appends the values that the form keeps without a field. */
static void add_hidden_fields(struct queued_request *request, parameter_set hidden)
{
    struct strbuf *out = &request->body;

    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        const char *value = request->query.values[i];

        if (!value || !has_field(request, i) || (filter_labels[i] && !(hidden >> i & 1)))
            continue;
        strbuf_addf(out, "<input type=\"hidden\" name=\"%s\" value=\"", parameter_names[i]);
        html_text(out, value);
        strbuf_adds(out, "\">\n");
    }
}

/* Returns true if the request sets a parameter of a set that has a field. */
static bool sets_any(const struct queued_request *request, parameter_set set)
{
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (request->query.values[i] && filter_labels[i] && set >> i & 1)
            return true;
    }
    return false;
}

void filter_form_write(struct queued_request *request, const struct filter_fields *fields)
{
    const char *path = request->endpoint->path + 1;
    struct strbuf *out = &request->body;

    strbuf_addf(out, "<form action=\"%s\" method=\"get\">\n", *path ? path : "./");
    add_hidden_fields(request, fields->hidden);
    add_filter_fields(request, fields, fields->shown, ~(fields->folded | fields->hidden));
    if (fields->folded) {
        strbuf_addf(out, "<details%s>\n<summary>More filters</summary>\n",
                    sets_any(request, fields->folded) ? " open" : "");
        add_filter_fields(request, fields, fields->folded, 0);
        strbuf_adds(out, "</details>\n");
    }
    strbuf_adds(out, "<button type=\"submit\">Filter</button>\n</form>\n");
}

void request_link_open(struct queued_request *request, struct link_value changed,
                       const char *attributes)
{
    const char *path = request->endpoint->path + 1;
    struct link_value values[PARAMETER_COUNT];

    link_values_init(values, &request->query);
    values[PARAMETER_PAGE].value = NULL;
    values[PARAMETER_CONTINUE].value = NULL;
    /* A reason is one of the problem; only hidden problems have a cause. */
    if (changed.parameter == PARAMETER_PROBLEM)
        values[PARAMETER_REASON].value = NULL;
    if (changed.parameter == PARAMETER_STATUS)
        values[PARAMETER_CAUSE].value = NULL;
    values[changed.parameter].value = changed.value;
    link_open_as(&request->body, *path ? path : "./", values, PARAMETER_COUNT, attributes);
}

void filter_link_write(struct queued_request *request, enum parameter parameter, const char *value,
                       const char *text, size_t count)
{
    const char *chosen = request->query.values[parameter];
    bool current = chosen && strcmp(chosen, value) == 0;

    request_link_open(request, (struct link_value){parameter, current ? NULL : value},
                      current ? " aria-current=\"true\"" : "");
    strbuf_addf(&request->body, "<b>%zu</b> %s</a>", count, text);
}

void filter_list_write(struct queued_request *request)
{
    const char *path = request->endpoint->path + 1;
    struct strbuf *out = &request->body;
    size_t count = 0;

    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (!filter_labels[i] || !request->query.values[i])
            continue;
        strbuf_adds(out, count++ == 0 ? "<p class=\"filters\">Filters:\n" : "");
        request_link_open(request, (struct link_value){(enum parameter)i, NULL}, "");
        html_textf(out, "%s: %s", filter_labels[i], request->query.values[i]);
        strbuf_adds(out, " <span aria-hidden=\"true\">\xC3\x97</span>"
                         "<span class=\"unseen\">, clear this filter</span></a>\n");
    }
    if (count > 1)
        strbuf_addf(out, "<a href=\"%s\">Clear all filters</a>\n", *path ? path : "./");
    if (count > 0)
        strbuf_adds(out, "</p>\n");
}

bool page_number_from_request(struct queued_request *request, size_t *page)
{
    const char *value = request->query.values[PARAMETER_PAGE];
    uint64_t number = 1;

    if (value && (!parse_uint(value, PAGE_NUMBER_MAX, &number) || number == 0)) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "'page' takes the number of a page, from 1 on");
        return false;
    }
    *page = (size_t)number;
    return true;
}

struct list_part list_part_make(size_t page, size_t total)
{
    size_t pages = total == 0 ? 1 : (total - 1) / HTML_SHOWN_MAX + 1;
    struct list_part part = {.page = page < pages ? page : pages, .total = total};

    part.first = (part.page - 1) * HTML_SHOWN_MAX;
    part.end = total - part.first < HTML_SHOWN_MAX ? total : part.first + HTML_SHOWN_MAX;
    return part;
}

static void add_part_link(struct queued_request *request, size_t page, const char *text)
{
    const char *path = request->endpoint->path + 1;
    struct link_value values[PARAMETER_COUNT];
    char number[24];

    link_values_init(values, &request->query);
    snprintf(number, sizeof(number), "%zu", page);
    values[PARAMETER_PAGE].value = page > 1 ? number : NULL;
    link_open(&request->body, *path ? path : "./", values, PARAMETER_COUNT);
    strbuf_addf(&request->body, "%s</a>\n", text);
}

/* Appends a link to the whole list in a format; `other` as in list_part_write_links(). */
static void add_format_link(struct queued_request *request, const char *api, const char *format,
                            const struct link_value *other)
{
    struct link_value values[PARAMETER_COUNT];

    link_values_init(values, &request->query);
    values[PARAMETER_PAGE].value = NULL;
    values[PARAMETER_REFRESH].value = NULL;
    values[PARAMETER_FORMAT].value = format;
    if (!values[other->parameter].value)
        values[other->parameter].value = other->value;
    link_open(&request->body, api, values, PARAMETER_COUNT);
    strbuf_addf(&request->body, "%s</a>\n", strcmp(format, "json") == 0 ? "JSON" : "CSV");
}

void list_part_write_links(struct queued_request *request, const struct list_part *part,
                           const char *api, const struct link_value *other)
{
    struct strbuf *out = &request->body;

    strbuf_adds(out, "<p class=\"ways\">\n");
    if (part->total > HTML_SHOWN_MAX)
        strbuf_addf(out, "<span class=\"faint\">Rows %zu to %zu of %zu</span>\n", part->first + 1,
                    part->end, part->total);
    if (part->page > 1)
        add_part_link(request, part->page - 1, "Previous page");
    if (part->end < part->total)
        add_part_link(request, part->page + 1, "Next page");
    if (api) {
        add_format_link(request, api, "json", other);
        add_format_link(request, api, "csv", other);
    }
    strbuf_adds(out, "</p>\n");
}

/* ---- the API server ---- */

/*
 * Appends at most HTML_SHOWN_MAX kinds that cannot be read. Returns the number of all of them. Once
 * the source is ready, omits kinds that were never read: add_late_kinds() appends the late ones.
 */
static size_t add_failed_kinds(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (*f->failure.text == '\0' || (kube_source_ready(source) && !f->synced) ||
            count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", f->api_version, f->resource);
        strbuf_addf(out, " cannot be read%s<br><span class=\"bad\">",
                    f->synced ? "; its last known objects are used" : "");
        html_text(out, f->failure.text);
        strbuf_adds(out, "</span></li>\n");
    }
    return count;
}

/* Appends at most HTML_SHOWN_MAX kinds that are listed, not watched. Returns the number of all. */
static size_t add_polled_kinds(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *f = kube_source_reflector(source, i);

        if (!f->watch.polled || count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", f->api_version, f->resource);
        strbuf_adds(out, " is listed every 30 s: no connection is left to watch it over HTTP/1.1"
                         "</li>\n");
    }
    return count;
}

/* Appends at most HTML_SHOWN_MAX kinds that are late. Returns the number of all of them. */
static size_t add_late_kinds(const struct kube_source *source, struct strbuf *out)
{
    size_t count = 0;

    for (size_t i = 0; i < kube_source_missing_kind_count(source); i++) {
        const struct missing_kind *k = kube_source_missing_kind(source, i);

        if (!k->late || count++ >= HTML_SHOWN_MAX)
            continue;
        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", k->api_version, k->kind);
        strbuf_adds(out, " has not been read yet; dependent results are missing<br>"
                         "<span class=\"bad\">");
        html_text(out, missing_kind_reason(k->reflector));
        strbuf_adds(out, "</span></li>\n");
    }
    return count;
}

/* Appends at most HTML_SHOWN_MAX kinds that policies select but that are not watched. */
static void add_unserved_kinds(const struct kube_source *source, struct strbuf *out)
{
    static const char *const why[] = {
        [DISCOVERY_UNKNOWN] = "not known yet",
        [DISCOVERY_ABSENT] = "not served",
        [DISCOVERY_UNWATCHED] = "not watched by Karmada in this version",
    };

    for (size_t i = 0; i < kube_source_unserved_kind_count(source) && i < HTML_SHOWN_MAX; i++) {
        const struct unserved_kind *u = kube_source_unserved_kind(source, i);

        strbuf_adds(out, "<li>");
        html_textf(out, "%s %s", u->api_version, u->kind);
        strbuf_addf(out, " is selected by a policy and %s</li>\n", why[u->answer]);
    }
}

void source_cards_write(const struct kube_source *source, struct strbuf *out)
{
    size_t count;

    strbuf_adds(out, "<ul class=\"cards\">\n");
    count = add_failed_kinds(source, out);
    count += add_late_kinds(source, out);
    count += add_polled_kinds(source, out);
    add_unserved_kinds(source, out);
    strbuf_adds(out, "</ul>\n");
    html_remaining_count(out, count);
}

void source_section_write(const struct kube_session *session, struct strbuf *out)
{
    strbuf_adds(out, "<section aria-labelledby=\"source\">\n<h2 id=\"source\">Source</h2>\n<p>");
    html_textf(out, "%s, %s", kube_session_server_url(session),
               kube_session_config_origin(session));
    strbuf_adds(out, "</p>\n");
    source_cards_write(kube_session_source(session), out);
    strbuf_adds(out, "</section>\n");
}
