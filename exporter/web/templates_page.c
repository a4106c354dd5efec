/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/filter.h"
#include "exporter/web/frame.h"
#include "exporter/web/html.h"
#include "exporter/web/link.h"
#include "exporter/web/list_parts.h"
#include "metrics/expose/decision_text.h"

/* A table that is being written. */
struct template_table {
    struct strbuf *out;
    int64_t now_ms;
    size_t count;
};

static void add_text(struct strbuf *out, const char *text)
{
    strbuf_adds(out, "<td>");
    html_text(out, text ? text : "");
    strbuf_adds(out, "</td>\n");
}

static void add_policy(struct strbuf *out, const struct row *row)
{
    const struct entry *policy = row->claimed ? row->claimed : row->policy;

    strbuf_adds(out, "<td>");
    if (policy && row->claimed && !row->claimed_exists)
        link_policy_name(out, policy_name_of(policy));
    else if (policy)
        link_policy(out, policy_name_of(policy));
    if (policy && row->version > 0)
        strbuf_addf(out, ", version %" PRIu32, row->version);
    if (policy && row->behind > 0)
        strbuf_addf(out, ", %" PRId32 " behind", row->behind);
    strbuf_adds(out, "</td>\n");
}

static void add_row(void *context, const struct row *row)
{
    struct template_table *t = context;
    const char *reason = reason_name(row->state, row->reason);
    const struct entry *e = row->template;

    strbuf_adds(t->out, "<tr>\n<td>");
    link_template(t->out, (struct identity){e->partition->type->api_version, entry_kind(e),
                                            entry_ns(e), e->name});
    strbuf_addf(t->out, "</td>\n<td>%s%s%s%s%s</td>\n", state_names[row->state], reason ? ", " : "",
                reason ? reason : "", row->state == STATE_STALE ? ", " : "",
                row->state == STATE_STALE ? phase_names[row->phase] : "");
    add_text(t->out, row->stage < STAGE_COUNT ? stage_names[row->stage] : NULL);
    strbuf_adds(t->out, "<td>");
    if (row->since_ms > 0)
        html_time(t->out, row->since_ms, t->now_ms);
    if (row->since_seen)
        strbuf_adds(t->out, ", first seen so");
    strbuf_adds(t->out, "</td>\n");
    add_policy(t->out, row);
    strbuf_addf(t->out, "<td class=\"number\">%" PRIu32 "</td>\n", row->clusters);
    add_text(t->out, actor_names[row->actor]);
    add_text(t->out, row->changed_by);
    add_text(t->out, row->owner);
    strbuf_adds(t->out, "</tr>\n");
    t->count++;
}

void templates_page(struct call *call, const struct health *h)
{
    static const char *const heads[] = {
        "Template", "State",        "Stage",      "Since", "Policy",
        "Clusters", "Who must act", "Changed by", "Owner", NULL,
    };
    struct template_table table = {&call->body, paging_made_ms(call->paging), 0};
    struct row_filter filter;
    struct error err;
    const char *token;

    (void)h;
    if (!filter_rows(&call->query, &filter, &err)) {
        api_refuse(call, MHD_HTTP_BAD_REQUEST, err.text);
        return;
    }
    frame_open(&call->body, FRAME_TEMPLATES, "Templates");
    list_form(call);
    html_table(&call->body, "Templates", heads);
    token = list_each_row(call, &filter, add_row, &table);
    html_table_end(&call->body);
    if (table.count == 0)
        strbuf_adds(&call->body, LIST_NONE);
    list_foot(call, token, "api/v1/templates");
    frame_close(&call->body, table.now_ms);
}
