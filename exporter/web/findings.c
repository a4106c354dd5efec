/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/web/filter.h"
#include "exporter/web/list.h"
#include "metrics/expose/report.h"

/* The lists of the report that are asked for by themselves. */

static const char *const policy_columns[] = {
    "kind", "namespace", "name", "selected", "won", "claimed", "stale", "clusters", NULL,
};
static const char *const conflict_columns[] = {
    "resource.apiVersion",
    "resource.kind",
    "resource.namespace",
    "resource.name",
    "binding.namespace",
    "binding.name",
    "field",
    "resolved",
    "stored",
    "origin",
    "message",
    "wants",
    NULL,
};
static const char *const lease_columns[] = {
    "asset", "assetType", "state", "holder", "namespace", "expiration", "conflicts", NULL,
};

static const struct list_def policies = {"PolicyList", policy_columns};
static const struct list_def conflicts = {"ConflictList", conflict_columns};
static const struct list_def leases = {"LeaseList", lease_columns};

/* The elements of a list that are asked for, while they are gathered. */
struct gathering {
    const struct call *call;
    const struct engine *engine;
    enum report_list list;
    struct strbuf lines;
};

static void gather(void *context, const struct entry *entry)
{
    struct gathering *g = context;

    if (filter_wants(&g->call->query, g->list, entry))
        report_add_lines(g->engine, g->list, entry, &g->lines);
}

static void answer(struct call *call, const struct health *h, enum report_list list,
                   const struct list_def *def)
{
    if (!paging_goes_on(call->paging)) {
        struct gathering g = {call, h->evaluation->engine, list, STRBUF_INIT(LIST_LINES_MAX)};

        report_each_entry(g.engine, list, gather, &g);
        if (!list_set_lines(call, &g.lines))
            return;
    }
    list_lines(call, def);
}

void api_policies(struct call *call, const struct health *h)
{
    answer(call, h, REPORT_POLICIES, &policies);
}

void api_conflicts(struct call *call, const struct health *h)
{
    answer(call, h, REPORT_CONFLICTS, &conflicts);
}

void api_leases(struct call *call, const struct health *h)
{
    answer(call, h, REPORT_LEASES, &leases);
}
