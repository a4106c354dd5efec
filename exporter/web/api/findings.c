/* SPDX-License-Identifier: Apache-2.0 */
#include <strings.h>

#include "exporter/evaluation.h"
#include "exporter/web/api/list.h"
#include "exporter/web/health.h"
#include "metrics/expose/parties.h"
#include "metrics/expose/report.h"
#include "metrics/model/object.h"
#include "metrics/rules/connector.h"

/* The lists of the report that are asked for by themselves. */

enum { LINES_MAX = 256 * 1024 * 1024 };

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

static bool fits(const struct query *q, struct identity id)
{
    const char *ns = q->values[PARAMETER_NAMESPACE], *kind = q->values[PARAMETER_KIND];
    const char *search = q->values[PARAMETER_SEARCH];

    return (!ns || strcmp(ns, id.ns) == 0) && (!kind || strcasecmp(kind, id.kind) == 0) &&
           (!search || strcasestr(id.name, search));
}

static bool wants_policy(const void *context, const struct entry *policy)
{
    return fits(context, (struct identity){.kind = entry_kind(policy),
                                           .ns = entry_ns(policy),
                                           .name = policy->name});
}

static bool wants_conflict(const void *context, const struct entry *dependency)
{
    return fits(context, dependency_resource(dependency));
}

static bool wants_lease(const void *context, const struct entry *lease)
{
    const char *holder = lease_decision(lease)->holder_ns;

    return fits(context,
                (struct identity){.kind = "", .ns = holder ? holder : "", .name = lease->name});
}

static void answer(struct call *call, const struct health *h, struct report_choice choice,
                   const struct list_def *def)
{
    if (!paging_goes_on(call->paging)) {
        struct strbuf lines = STRBUF_INIT(LINES_MAX);

        choice.context = &call->query;
        report_lines(h->evaluation->engine, &choice, &lines);
        if (!strbuf_ok(&lines)) {
            strbuf_release(&lines);
            api_refuse(call, MHD_HTTP_INTERNAL_SERVER_ERROR,
                       "the list is too large: ask for a part of it");
            return;
        }
        paging_set_lines(call->paging, lines_new(&lines));
    }
    list_lines(call, def);
}

void api_policies(struct call *call, const struct health *h)
{
    answer(call, h, (struct report_choice){REPORT_POLICIES, wants_policy, NULL}, &policies);
}

void api_conflicts(struct call *call, const struct health *h)
{
    answer(call, h, (struct report_choice){REPORT_CONFLICTS, wants_conflict, NULL}, &conflicts);
}

void api_leases(struct call *call, const struct health *h)
{
    answer(call, h, (struct report_choice){REPORT_LEASES, wants_lease, NULL}, &leases);
}
