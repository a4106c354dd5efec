/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/frame.h"
#include "exporter/web/html.h"
#include "exporter/web/link.h"
#include "exporter/web/list_parts.h"
#include "metrics/model/store.h"

enum { PARTIES_MAX = 1000, TITLE_MAX = 4096 };

void conflicts_page(struct call *call, const struct health *h)
{
    const struct list_elements elements = {REPORT_CONFLICTS, h, card_conflicts};
    const char *token;
    size_t count;

    frame_open(&call->body, FRAME_CONFLICTS, "Conflicts");
    list_form(call);
    strbuf_adds(&call->body, "<h2>Fields about which those who require a dependency disagree</h2>\n"
                             "<ul class=\"cards\">\n");
    if (!list_elements(call, &elements, &count, &token))
        return;
    strbuf_adds(&call->body, "</ul>\n");
    if (count == 0)
        strbuf_adds(&call->body, LIST_NONE);
    list_foot(call, token, "api/v1/conflicts");
    frame_close(&call->body, paging_made_ms(call->paging));
}

/* ---- one dependency ---- */

/* The dependencies that are about what a call names. */
struct finding {
    const struct query *query;
    const struct entry *found;
};

static void find(void *context, const struct entry *dependency)
{
    struct finding *f = context;
    char *const *values = f->query->values;
    const char *group = values[PARAMETER_GROUP], *ns = values[PARAMETER_NAMESPACE];
    struct identity id = resource_identity_of(dependency);
    size_t len = api_group_len(id.api_version);

    if (strcmp(id.kind, values[PARAMETER_KIND]) == 0 &&
        strcmp(id.name, values[PARAMETER_NAME]) == 0 && strcmp(id.ns, ns ? ns : "") == 0 &&
        (!group || (strlen(group) == len && memcmp(group, id.api_version, len) == 0)))
        f->found = dependency;
}

static void add_values(struct strbuf *out, const struct dependency_decision *d)
{
    strbuf_adds(out, "<dl class=\"facts\">\n");
    for (unsigned i = 0; i < DEPENDENCY_FIELD_COUNT; i++)
        strbuf_addf(out, "<dt>%s</dt>\n<dd>%s%s</dd>\n", dependency_field_names[i],
                    dependency_value_name(i, d->fields[i].resolved),
                    d->fields[i].conflict ? ", of several that are wanted" : "");
    strbuf_addf(out, "<dt>Required by</dt>\n<dd>%" PRIu32 "</dd>\n</dl>\n", d->referrers);
}

void conflict_page(struct call *call, const struct health *h)
{
    const struct engine *engine = h->evaluation->engine;
    const struct cards cards = {engine, h->now_ms, PARTIES_MAX, &call->body};
    CLEANUP(strbuf_release) struct strbuf title = STRBUF_INIT(TITLE_MAX);
    struct finding f = {&call->query, NULL};
    size_t before;

    report_each_entry(engine, REPORT_CONFLICTS, find, &f);
    if (!f.found) {
        api_refuse(call, MHD_HTTP_NOT_FOUND, "nobody requires this as a dependency");
        return;
    }

    struct identity id = resource_identity_of(f.found);

    strbuf_addf(&title, "%s %s%s%s", id.kind, id.ns, *id.ns ? "/" : "", id.name);
    frame_open(&call->body, JSON_FRAME_ELSEWHERE, title.data);
    strbuf_adds(&call->body, "<p>A dependency: it goes where those that require it are, and there "
                             "is one binding with one value of each field for all of them.</p>\n");
    add_values(&call->body, dependency_decision(f.found));
    strbuf_adds(&call->body, "<h2>Who disagrees</h2>\n<ul class=\"cards\">\n");
    before = call->body.len;
    card_conflicts(&cards, f.found);
    bool agree = call->body.len == before;

    strbuf_adds(&call->body, "</ul>\n");
    if (agree)
        strbuf_adds(&call->body, "<p class=\"good\">All who require it agree.</p>\n");
    strbuf_adds(&call->body, "<p>");
    link_template(&call->body, id);
    strbuf_adds(&call->body, " itself, as a template</p>\n");
    frame_close(&call->body, h->now_ms);
}
