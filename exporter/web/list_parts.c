/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/list_parts.h"

#include "exporter/evaluation.h"
#include "exporter/web/filter.h"
#include "exporter/web/html.h"
#include "exporter/web/link.h"
#include "metrics/rules/decision.h"

/* What the fields of the form are called. */
static const char *const labels[PARAMETER_COUNT] = {
    [PARAMETER_STATE] = "State",          [PARAMETER_KIND] = "Kind",
    [PARAMETER_GROUP] = "API group",      [PARAMETER_NAMESPACE] = "Namespace",
    [PARAMETER_REASON] = "Reason",        [PARAMETER_POLICY] = "Policy",
    [PARAMETER_VERSION] = "Version",      [PARAMETER_OWNER] = "Owner",
    [PARAMETER_SEARCH] = "Name contains", [PARAMETER_STAGE] = "Stage",
    [PARAMETER_ACTOR] = "Who must act",
};

/* Those that are there though nobody has asked by them. */
enum {
    ALWAYS = PARAMETER_BIT(STATE) | PARAMETER_BIT(KIND) | PARAMETER_BIT(NAMESPACE) |
             PARAMETER_BIT(POLICY) | PARAMETER_BIT(SEARCH),
};

static void add_states(struct strbuf *out, const char *chosen)
{
    strbuf_adds(out, "<select id=\"state\" name=\"state\">\n<option value=\"\">all</option>\n");
    for (unsigned i = 0; i < STATE_COUNT; i++)
        strbuf_addf(out, "<option%s>%s</option>\n",
                    chosen && strcmp(chosen, state_names[i]) == 0 ? " selected" : "",
                    state_names[i]);
    strbuf_adds(out, "</select>");
}

static void add_field(struct strbuf *out, enum parameter parameter, const char *value)
{
    const char *name = parameter_names[parameter];

    strbuf_addf(out, "<div>\n<label for=\"%s\">%s</label>\n", name, labels[parameter]);
    if (parameter == PARAMETER_STATE) {
        add_states(out, value);
    } else {
        strbuf_addf(out, "<input type=\"text\" id=\"%s\" name=\"%s\" value=\"", name, name);
        html_text(out, value ? value : "");
        strbuf_adds(out, "\">");
    }
    strbuf_adds(out, "\n</div>\n");
}

void list_form(struct call *call)
{
    struct strbuf *out = &call->body;

    strbuf_addf(out, "<form action=\"%s\" method=\"get\">\n", call->endpoint->path + 1);
    for (unsigned i = 0; i < PARAMETER_COUNT; i++) {
        const char *value = call->query.values[i];

        if (labels[i] && (call->endpoint->known >> i & 1) && (value || (ALWAYS >> i & 1)))
            add_field(out, (enum parameter)i, value);
    }
    strbuf_adds(out, "<button type=\"submit\">Show</button>\n</form>\n");
}

/* A link with the same question, but for where it begins, and in another format. */
static void add_link(struct call *call, const char *path, const char *token, const char *format,
                     const char *text)
{
    struct link_value values[PARAMETER_COUNT];

    for (unsigned i = 0; i < PARAMETER_COUNT; i++)
        values[i] = (struct link_value){(enum parameter)i, call->query.values[i]};
    values[PARAMETER_CONTINUE].value = token;
    if (format) {
        values[PARAMETER_FORMAT].value = format;
        values[PARAMETER_LIMIT].value = NULL;
    }
    link_open(&call->body, path, values, PARAMETER_COUNT);
    strbuf_addf(&call->body, "%s</a>\n", text);
}

void list_foot(struct call *call, const char *token, const char *api)
{
    const char *path = call->endpoint->path + 1;

    strbuf_adds(&call->body, "<p class=\"ways\">\n");
    if (call->query.values[PARAMETER_CONTINUE])
        add_link(call, path, NULL, NULL, "First page");
    if (token)
        add_link(call, path, token, NULL, "Next page");
    add_link(call, api, NULL, "json", "All of them as JSON");
    add_link(call, api, NULL, "csv", "as CSV");
    strbuf_adds(&call->body, "</p>\n");
}

/* ---- elements ---- */

/* Elements that are being made, a line each. */
struct making {
    const struct call *call;
    const struct list_elements *elements;
    struct cards cards;
    struct strbuf element;
    struct strbuf lines;
};

static void make(void *context, const struct entry *entry)
{
    struct making *m = context;

    if (!filter_wants(&m->call->query, m->elements->list, entry))
        return;
    strbuf_reset(&m->element);
    m->elements->write(&m->cards, entry);
    if (m->element.len == 0)
        return;
    for (size_t i = 0; i < m->element.len; i++)
        strbuf_addc(&m->lines, m->element.data[i] == '\n' ? ' ' : m->element.data[i]);
    strbuf_addc(&m->lines, '\n');
}

static bool make_all(struct call *call, const struct list_elements *e)
{
    struct making m = {
        .call = call,
        .elements = e,
        .element = STRBUF_INIT(LIST_LINES_MAX),
        .lines = STRBUF_INIT(LIST_LINES_MAX),
    };

    m.cards = (struct cards){e->health->evaluation->engine, e->health->now_ms, LIST_PARTIES_MAX,
                             &m.element};
    report_each_entry(m.cards.engine, e->list, make, &m);
    strbuf_release(&m.element);
    return list_set_lines(call, &m.lines);
}

/* The elements of one page. */
struct shown_lines {
    struct strbuf *out;
    size_t *count;
};

static void show(void *context, const char *line, size_t len)
{
    const struct shown_lines *s = context;

    strbuf_add(s->out, line, len);
    strbuf_addc(s->out, '\n');
    ++*s->count;
}

bool list_elements(struct call *call, const struct list_elements *e, size_t *count,
                   const char **token)
{
    struct shown_lines shown = {&call->body, count};

    *count = 0;
    if (!paging_goes_on(call->paging) && !make_all(call, e))
        return false;
    *token = list_each_line(call, show, &shown);
    return true;
}
