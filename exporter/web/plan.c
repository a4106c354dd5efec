/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/evaluation.h"
#include "exporter/files/manifest_source.h"
#include "exporter/system/platform.h"
#include "exporter/web/api.h"
#include "metrics/expose/report.h"

enum { OBJECTS_MAX = 1000, WORK_MAX_MS = 2000 };

/* How long it may take. */
struct term {
    int64_t end_ms;            /* Steady. */
    const struct clerk *clerk; /* NULL for a plan without a clerk. */
};

static bool is_over(void *context)
{
    const struct term *term = context;

    return platform_steady_ms() >= term->end_ms || (term->clerk && clerk_is_ending(term->clerk));
}

/* The ceiling for the whole is that of the request's body. */
static struct manifest_limits limits_until(struct term *term)
{
    return (struct manifest_limits){
        .yaml_max_bytes = 1 << 20,
        .object_max_bytes = 1 << 20,
        .nodes_max = 200 * 1000,
        .term = {is_over, term},
    };
}

static void refuse_late(struct call *call)
{
    api_refuse(call, MHD_HTTP_GATEWAY_TIMEOUT,
               "this plan takes more than 2 s: the verb plan takes as long as it takes");
}

/* A change while its objects are read. */
struct change {
    struct plan *plan;
    size_t count;
};

static bool apply(void *context, const cJSON *object, struct error *err)
{
    struct change *change = context;

    return change->count++ < OBJECTS_MAX ? plan_apply(change->plan, object, err)
                                         : fail(err, "more than %d objects", OBJECTS_MAX);
}

/* False if it is refused. */
static bool apply_all(struct plan *p, struct call *call, const struct evaluation *e,
                      struct term *term)
{
    const char *ns = call->query.values[PARAMETER_NAMESPACE];
    const struct manifest_limits limits = limits_until(term);
    struct manifests *m = manifests_new(NULL, NULL, 0, ns ? ns : e->options.namespace, &limits);
    struct change change = {.plan = p};
    struct error err;
    bool fine;

    manifests_know(m, e->manifests);
    manifests_hand_out(m, apply, &change);
    fine = manifests_read_text(m, call->content_is_json ? "body.json" : "body.yaml",
                               call->content.data, call->content.len, &err);
    manifests_free(m);
    if (!fine && is_over(term))
        refuse_late(call);
    else if (change.count > OBJECTS_MAX)
        api_refuse(call, MHD_HTTP_CONTENT_TOO_LARGE, "more than 1000 objects: plan them in parts");
    else if (!fine)
        api_refuse(call, MHD_HTTP_BAD_REQUEST, err.text);
    else if (change.count == 0)
        api_refuse(call, MHD_HTTP_BAD_REQUEST, "there is no object in the body: POST manifests");
    return call->status == MHD_HTTP_OK;
}

/* As the verb plans with --output json. */
void api_plan(struct call *call, const struct health *h)
{
    struct term term = {platform_steady_ms() + WORK_MAX_MS, call->clerk};
    const struct evaluation *e = h->evaluation;
    struct plan *p = plan_new(e->engine);
    const struct plan_result *result;

    plan_set_limit(p, (struct overlay_limit){is_over, &term});
    /* At an API server everything has been applied. */
    if (!e->session)
        plan_admit_manifests(p);
    if (apply_all(p, call, e, &term)) {
        result = plan_finish(p);
        if (plan_limit_reached(p))
            refuse_late(call);
        else
            report_plan(p, result, e->engine, NULL, &call->body);
    }
    plan_free(p);
}
