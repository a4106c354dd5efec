/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/frame.h"
#include "exporter/web/html.h"
#include "exporter/web/link.h"
#include "exporter/web/list_parts.h"
#include "metrics/expose/report_items.h"
#include "metrics/rules/policy_versions.h"

static void add_number(const struct cards *c, size_t number)
{
    strbuf_addf(c->out, "<td class=\"number\">%zu</td>\n", number);
}

static void add_policy(const struct cards *c, const struct entry *policy)
{
    const struct policy_decision *d = policy_decision(policy);
    struct policy_counts counts = policy_counts_of(policy);
    const char *between = "";

    strbuf_adds(c->out, "<tr>\n<td>");
    link_entry(c->out, policy);
    strbuf_adds(c->out, "</td>\n");
    add_number(c, counts.selected);
    add_number(c, counts.won);
    add_number(c, counts.claimed);
    add_number(c, counts.stale);
    add_number(c, d && d->history ? policy_history_count_used_versions(d->history) : 0);
    strbuf_adds(c->out, "<td>");
    for (unsigned i = 0; i < POLICY_PROBLEM_COUNT; i++) {
        if (!(entry_policy_problems(policy) & 1U << i))
            continue;
        strbuf_addf(c->out, "%s%s", between, policy_problem_texts[i]);
        between = "; ";
    }
    strbuf_adds(c->out, "</td>\n</tr>\n");
}

void policies_page(struct call *call, const struct health *h)
{
    static const char *const heads[] = {
        "Policy", "Selected", "Won", "Claimed", "Stale", "Versions in use", "Problems", NULL,
    };
    const struct list_elements elements = {REPORT_POLICIES, h, add_policy};
    const char *token;
    size_t count;

    frame_open(&call->body, FRAME_POLICIES, "Policies");
    list_form(call);
    html_table(&call->body, "Policies", heads);
    if (!list_elements(call, &elements, &count, &token))
        return;
    html_table_end(&call->body);
    if (count == 0)
        strbuf_adds(&call->body, LIST_NONE);
    list_foot(call, token, "api/v1/policies");
    frame_close(&call->body, paging_made_ms(call->paging));
}
