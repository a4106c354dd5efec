/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/options/nearest.h"
#include "exporter/web/api/list.h"
#include "metrics/base/number.h"

static const char *const columns[] = {
    "apiVersion",   "kind",         "namespace",
    "name",         "state",        "reason",
    "phase",        "stage",        "stageReason",
    "since",        "policy.kind",  "policy.namespace",
    "policy.name",  "claimed.kind", "claimed.namespace",
    "claimed.name", "version",      "behind",
    "clusters",     "changedBy",    "owner",
    "actor",        NULL,
};

static const struct list_def templates = {"TemplateList", columns};

static const char *next_state(void *context)
{
    size_t *at = context;

    return *at < STATE_COUNT ? state_names[(*at)++] : NULL;
}

static bool read_state(const char *value, int *out, struct error *err)
{
    const char *nearest;
    size_t at = 0;

    for (int i = 0; i < STATE_COUNT; i++) {
        if (strcmp(state_names[i], value) == 0) {
            *out = i;
            return true;
        }
    }
    nearest = nearest_name(value, next_state, &at);
    return fail(err, "there is no state '%.64s'%s%s%s", value, nearest ? "; do you mean '" : "",
                nearest ? nearest : "", nearest ? "'?" : "");
}

static bool read_filter(const struct query *q, struct row_filter *out, struct error *err)
{
    const char *version = q->values[PARAMETER_VERSION];
    uint64_t number;

    *out = ROW_FILTER_ALL;
    out->ns = q->values[PARAMETER_NAMESPACE];
    out->kind = q->values[PARAMETER_KIND];
    out->group = q->values[PARAMETER_GROUP];
    out->policy = q->values[PARAMETER_POLICY];
    out->owner = q->values[PARAMETER_OWNER];
    out->search = q->values[PARAMETER_SEARCH];
    out->reason = q->values[PARAMETER_REASON];
    if (q->values[PARAMETER_STATE] && !read_state(q->values[PARAMETER_STATE], &out->state, err))
        return false;
    if (out->reason && !reason_exists(out->reason))
        return fail(err, "there is no reason '%.64s'", out->reason);
    if (version && !parse_uint(version, UINT32_MAX, &number))
        return fail(err, "'version' takes the number of a policy's version");
    if (version)
        out->version = (int64_t)number;
    return true;
}

/* `state`: of these alone; negative: of all, or of what is asked for. */
static void answer(struct call *call, int state)
{
    struct row_filter filter;
    struct error err;

    if (!read_filter(&call->query, &filter, &err)) {
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
