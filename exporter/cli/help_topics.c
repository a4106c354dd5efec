/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/help_topics.h"

#include "exporter/web/api_reference.h"
#include "metrics/base/shown.h"
#include "metrics/base/suggest.h"
#include "metrics/expose/decision_text.h"
#include "metrics/expose/problem_reference.h"
#include "metrics/expose/problem_text.h"

enum {
    SENTENCE_MAX = 4096,
    INDENT = 2,
    PARAGRAPH_INDENT = 4,
};

/* Appends a text, wrapped, and a newline. */
static void print_wrapped(struct output *o, size_t indent, const char *text)
{
    strbuf_addf(&o->text, "%*s", (int)indent, "");
    output_wrap(&o->text, text, indent, indent, o->width);
    strbuf_addc(&o->text, '\n');
}

static void print_heading(struct output *o, const char *text)
{
    strbuf_addc(&o->text, '\n');
    output_add_styled(o, STYLE_HEADING, text);
    strbuf_addc(&o->text, '\n');
}

/* ---- problems ---- */

static const char *problem_item_name(size_t index)
{
    return problem_names[index];
}

static enum output_style severity_style(enum problem_severity severity)
{
    return severity == SEVERITY_CRITICAL  ? STYLE_BAD
           : severity == SEVERITY_WARNING ? STYLE_CAUTION
                                          : STYLE_PLAIN;
}

static void print_problem_list(struct output *o)
{
    static const char *const headings[] = {"PROBLEM", "SEVERITY", "AFTER", "ALERT"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), 0);

    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        const struct problem_row *row = &problem_table[i];
        CLEANUP(strbuf_release) struct strbuf patience = STRBUF_INIT(SENTENCE_MAX);

        problem_add_patience(&patience, row->patience_s);
        table_add(&t, STYLE_PLAIN, row->name);
        table_add(&t, severity_style(row->severity), severity_names[row->severity]);
        table_add(&t, STYLE_PLAIN, patience.data);
        table_add(&t, STYLE_PLAIN, problem_alert_name((enum problem_id)i));
    }
    table_print(&t, o);
    strbuf_addc(&o->text, '\n');
    print_wrapped(o, 0,
                  "AFTER is the patience: the time for which the condition must hold before the "
                  "problem is open. --problems.patience changes it, --problems.severity changes "
                  "the severity or disables the problem.");
}

/* Appends a line such as "Cause: No policy selects the template."; without a title if it is "". */
static void print_sentence(struct output *o, const char *title,
                           void (*add)(enum problem_reason reason, struct strbuf *out),
                           enum problem_reason reason)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(SENTENCE_MAX);

    strbuf_addf(&text, "%s%s", title, *title != '\0' ? ": " : "");
    add(reason, &text);
    print_wrapped(o, PARAGRAPH_INDENT, text.data);
}

static void print_reason(struct output *o, enum problem_reason reason)
{
    const struct problem_reason_row *row = &problem_reasons[reason];
    CLEANUP(strbuf_release) struct strbuf action = STRBUF_INIT(SENTENCE_MAX);
    CLEANUP(strbuf_release) struct strbuf causes = STRBUF_INIT(SENTENCE_MAX);

    strbuf_addc(&o->text, '\n');
    if (*row->name != '\0')
        strbuf_addf(&o->text, "%*s%s\n", INDENT, "", row->name);
    print_sentence(o, "Cause", problem_reason_add_cause, reason);
    strbuf_addf(&action, "Action (%s)", actor_title(row->actor));
    print_sentence(o, action.data, problem_reason_add_action, reason);
    print_sentence(o, "", problem_reason_add_end, reason);
    problem_reason_add_causes(reason, "", &causes);
    if (causes.len == 0)
        return;
    strbuf_reset(&action);
    strbuf_addf(&action, "Hidden by: %s", causes.data);
    print_wrapped(o, PARAGRAPH_INDENT, action.data);
}

static void print_problem(struct output *o, size_t index)
{
    const struct problem_row *row = &problem_table[index];
    enum problem_reason first = problem_first_reason((enum problem_id)index);
    unsigned count = problem_reason_count((enum problem_id)index);
    CLEANUP(strbuf_release) struct strbuf facts = STRBUF_INIT(SENTENCE_MAX);

    output_add_styled(o, STYLE_HEADING, row->name);
    strbuf_addc(&o->text, '\n');
    strbuf_addf(&facts, "Severity %s, patience ", severity_names[row->severity]);
    problem_add_patience(&facts, row->patience_s);
    strbuf_addf(&facts, ", alert %s.", problem_alert_name((enum problem_id)index));
    if (row->flags & PROBLEM_NOT_IN_FILES)
        strbuf_adds(&facts, " Never reported for manifests.");
    print_wrapped(o, 0, facts.data);
    for (unsigned i = 0; i < count; i++)
        print_reason(o, (enum problem_reason)(first + i));
}

/* ---- API ---- */

static const char *endpoint_item_name(size_t index)
{
    return endpoints[index].path;
}

static void print_endpoint_list(struct output *o)
{
    static const char *const headings[] = {"ENDPOINT", "METHODS", "RESULT"};
    CLEANUP(table_release) struct table t = table_make(headings, ARRAY_LEN(headings), 0);

    for (size_t i = 0; i < API_ENDPOINT_COUNT; i++) {
        table_add(&t, STYLE_PLAIN, endpoints[i].path);
        table_add(&t, STYLE_PLAIN, endpoint_methods(&endpoints[i]));
        table_add(&t, STYLE_PLAIN, endpoints[i].summary);
    }
    table_print(&t, o);
}

static void print_parameters(struct output *o, const struct endpoint *e)
{
    CLEANUP(table_release) struct table t = table_make(NULL, 2, INDENT);

    if (e->known == 0)
        return;
    print_heading(o, "Parameters");
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        if (!(e->known >> i & 1))
            continue;
        table_add(&t, STYLE_PLAIN, parameter_names[i]);
        table_addf(&t, STYLE_PLAIN, "%s%s", parameter_texts[i],
                   e->required >> i & 1 ? " (required)" : "");
    }
    table_print(&t, o);
}

static void print_endpoint(struct output *o, size_t index)
{
    const struct endpoint *e = &endpoints[index];
    CLEANUP(table_release) struct table t = table_make(NULL, 2, INDENT);
    const struct endpoint_response *response;
    const char *type;
    size_t at = 0;

    output_add_styled(o, STYLE_HEADING, e->path);
    strbuf_addf(&o->text, " (%s)\n", endpoint_methods(e));
    print_wrapped(o, 0, e->summary);
    print_parameters(o, e);
    print_heading(o, "Formats");
    for (unsigned i = 0; (type = endpoint_media_type(e, i)) != NULL; i++)
        print_wrapped(o, INDENT, type);
    print_heading(o, "Errors");
    while ((response = endpoint_next_response(e, &at)) != NULL) {
        if (!response->text)
            continue;
        table_addf(&t, STYLE_PLAIN, "%u", response->status);
        table_add(&t, STYLE_PLAIN, response->text);
    }
    table_print(&t, o);
}

static void add_openapi(struct strbuf *out)
{
    openapi_write(out, "");
}

/* ---- topics ---- */

static const struct help_topic topics[] = {
    {
        .name = "problems",
        .summary = "problems with severity, patience, alert, reasons and actions",
        .item_word = "problem",
        .item_count = PROBLEM_COUNT,
        .item_name = problem_item_name,
        .print_list = print_problem_list,
        .print_item = print_problem,
        .add_markdown = problem_reference_add_markdown,
        .add_json = problem_reference_add_json,
    },
    {
        .name = "api",
        .summary = "endpoints of the JSON API, with parameters and formats",
        .item_word = "endpoint",
        .item_count = API_ENDPOINT_COUNT,
        .item_name = endpoint_item_name,
        .print_list = print_endpoint_list,
        .print_item = print_endpoint,
        .add_markdown = api_reference_add_markdown,
        .add_json = add_openapi,
    },
};

const struct help_topic *help_topic_at(size_t index)
{
    return index < ARRAY_LEN(topics) ? &topics[index] : NULL;
}

const struct help_topic *help_topic_find(const char *name)
{
    for (size_t i = 0; i < ARRAY_LEN(topics); i++) {
        if (strcmp(topics[i].name, name) == 0)
            return &topics[i];
    }
    return NULL;
}

/* Position of suggest_name() in the entries of a topic. */
struct item_cursor {
    const struct help_topic *topic;
    size_t at;
};

static const char *next_item(void *context)
{
    struct item_cursor *c = context;

    return c->at < c->topic->item_count ? c->topic->item_name(c->at++) : NULL;
}

bool help_topic_print(const struct help_topic *topic, const char *item, struct output *o,
                      struct error *err)
{
    struct item_cursor cursor = {topic, 0};
    const char *name, *nearest;

    if (!item) {
        topic->print_list(o);
        strbuf_addc(&o->text, '\n');
        strbuf_addf(&o->text, "Details of one %s: help %s NAME\n", topic->item_word, topic->name);
        return true;
    }
    for (size_t i = 0; (name = next_item(&cursor)) != NULL; i++) {
        const char *slash = strrchr(name, '/');

        if (strcmp(name, item) == 0 || (slash && strcmp(slash + 1, item) == 0)) {
            topic->print_item(o, i);
            return true;
        }
    }
    cursor.at = 0;
    nearest = suggest_name(item, next_item, &cursor);
    if (nearest)
        return fail(err, "unknown %s '%s'; did you mean '%s'?", topic->item_word, shown(item).text,
                    nearest);
    return fail(err, "unknown %s '%s'; 'help %s' lists all", topic->item_word, shown(item).text,
                topic->name);
}
