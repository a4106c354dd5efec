/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/filter.h"
#include "exporter/web/list.h"

static const char *const columns[] = {
    "apiVersion",
    "kind",
    "namespace",
    "name",
    "state",
    "reason",
    "phase",
    "stage",
    "stageReason",
    "since",
    "sinceSeen",
    "policy.kind",
    "policy.namespace",
    "policy.name",
    "claimed.kind",
    "claimed.namespace",
    "claimed.name",
    "version",
    "behind",
    "clusters",
    "changedBy",
    "owner",
    "actor",
    NULL,
};

static const struct list_def templates = {"TemplateList", columns};

/* `state`: of these alone; negative: of all, or of what is asked for. */
static void answer(struct call *call, int state)
{
    struct row_filter filter;
    struct error err;

    if (!filter_rows(&call->query, &filter, &err)) {
        api_refuse(call, MHD_HTTP_BAD_REQUEST, err.text);
        return;
    }
    if (state >= 0)
        filter.state = state;
    list_rows(call, &templates, &filter);
}

void api_templates(struct call *call, const struct health *h)
{
    (void)h;
    answer(call, -1);
}

void api_pending(struct call *call, const struct health *h)
{
    (void)h;
    answer(call, STATE_PENDING);
}

void api_stale(struct call *call, const struct health *h)
{
    (void)h;
    answer(call, STATE_STALE);
}
