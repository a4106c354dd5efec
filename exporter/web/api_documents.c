/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_documents.h"

#include "exporter/evaluation.h"
#include "exporter/files/manifest_source.h"
#include "exporter/system/platform.h"
#include "exporter/text/check_result.h"
#include "exporter/text/object_name.h"
#include "exporter/text/text_table.h"
#include "exporter/web/api.h"
#include "exporter/web/response.h"
#include "metrics/base/number.h"
#include "metrics/explain/explain.h"
#include "metrics/expose/report.h"

enum { NAME_MAX_BYTES = 4096 };

/* As people write it: KIND[.GROUP]/[NAMESPACE/]NAME. */
static void add_object_name(struct strbuf *out, char *const *values)
{
    const char *group = values[PARAMETER_GROUP], *ns = values[PARAMETER_NAMESPACE];

    strbuf_adds(out, values[PARAMETER_KIND]);
    if (group)
        strbuf_addf(out, ".%s", group);
    if (ns && *ns)
        strbuf_addf(out, "/%s", ns);
    strbuf_addf(out, "/%s", values[PARAMETER_NAME]);
}

/* A slash in one of them would be read as the end of it. */
static bool has_slash(char *const *values)
{
    for (size_t i = 0; i < PARAMETER_COUNT; i++) {
        if (values[i] && strchr(values[i], '/'))
            return true;
    }
    return false;
}

const struct entry *find_requested_object(struct queued_request *request, const struct health *h,
                                          unsigned classes)
{
    CLEANUP(strbuf_release) struct strbuf name = STRBUF_INIT(NAME_MAX_BYTES);
    const struct entry *entry;
    struct error err;

    if (has_slash(request->query.values)) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "a kind, group, namespace or name has no '/'");
        return NULL;
    }
    add_object_name(&name, request->query.values);
    entry = object_find_in(h->evaluation->store, classes, name.data,
                           request->query.values[PARAMETER_DEFAULT_NAMESPACE], &err);
    if (!entry && classes >> CLASS_BINDING & 1)
        entry = object_find_binding_of(h->evaluation->store, name.data);
    if (!entry)
        api_refuse(request, MHD_HTTP_NOT_FOUND, err.text);
    return entry;
}

/* What `format` and `width` ask for. False: the call is refused. */
static MUST_USE bool form_read(struct queued_request *request, struct form *out)
{
    const char *name = request->query.values[PARAMETER_FORM];
    const char *width = request->query.values[PARAMETER_WIDTH];
    uint64_t columns = OUTPUT_WIDTH_DEFAULT;

    if (name && strcmp(name, "json") != 0 && strcmp(name, "text") != 0) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "'format' takes json or text");
        return false;
    }
    if (width && !parse_uint(width, OUTPUT_WIDTH_MAX, &columns)) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST,
                   "'width' takes a number of columns, at most 10000");
        return false;
    }
    /* As where COLUMNS says so. */
    if (columns > 0 && columns < OUTPUT_WIDTH_MIN)
        columns = OUTPUT_WIDTH_MIN;
    *out = (struct form){name && strcmp(name, "text") == 0, (unsigned)columns};
    return true;
}

static MUST_USE struct output form_begin(struct queued_request *request, const struct form *form)
{
    struct output o = {.text = request->body, .width = form->width};

    request->content_type = RESPONSE_TEXT;
    return o;
}

/* Begin a text without colours in the body of the call, which form_end() gives back. */
static void form_end(struct queued_request *request, const struct output *o)
{
    request->body = o->text;
}

/* False: the call is refused. */
static bool read_history(struct queued_request *request, bool *out)
{
    const char *value = request->query.values[PARAMETER_HISTORY];

    if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "'history' takes true or false");
        return false;
    }
    *out = !value || strcmp(value, "true") == 0;
    return true;
}

static void write_text(struct queued_request *request, const struct form *form,
                       const struct explanation *x, bool forgets)
{
    struct output o = form_begin(request, form);

    explanation_print(x, &o);
    if (forgets) {
        explanation_print_line(&o, EXPLAIN_HEADING, "How it came here");
        explanation_print_line(&o, EXPLAIN_PARAGRAPH,
                               "This exporter remembers nothing: --history.entries is 0.");
    }
    form_end(request, &o);
}

/* As the verb explains, but what only the API server knows is not read. */
void api_explain(struct queued_request *request, const struct health *h)
{
    const struct entry *entry;
    struct explanation x;
    struct form form;
    bool history;

    if (!form_read(request, &form) || !read_history(request, &history))
        return;
    entry = find_requested_object(request, h, EXPLAIN_CLASSES);
    if (!entry)
        return;

    struct engine *engine = h->evaluation->engine;
    bool forgets = history && entry_class(entry) == CLASS_TEMPLATE && !engine_transitions(engine);

    explanation_init(&x);
    x.without_history = !history;
    explain_object(engine, entry, h->now_ms, &x);
    explanation_finish(&x);
    if (form.text)
        write_text(request, &form, &x, forgets);
    else
        strbuf_add(&request->body, x.json.data, x.json.len);
    explanation_release(&x);
}

enum { COUNTS_MAX_BYTES = 4096 };

/* False: the call is refused. */
static bool read_fail_on(struct queued_request *request, unsigned *out)
{
    const char *value = request->query.values[PARAMETER_FAIL_ON];
    struct error err;

    if (!value)
        return true;
    if (!option_value_set(out, OPTION_SET, fail_on_names, value, &err))
        fail_in(&err, "fail-on");
    else if (*out & ~(unsigned)FAIL_ON_CHECK)
        fail(&err, "fail-on: '%s' has consequences of a plan, and nothing is planned", value);
    else
        return true;
    api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

void api_report(struct queued_request *request, const struct health *h)
{
    const struct evaluation *e = h->evaluation;
    struct strbuf counts = STRBUF_INIT(COUNTS_MAX_BYTES);
    unsigned fail_on = e->options.fail_on;
    struct check_result check_result;
    struct form form;
    size_t len;

    if (!form_read(request, &form) || !read_fail_on(request, &fail_on))
        return;
    check_result_make(&check_result, e);
    finding_counts_write(&check_result.counts, &counts);
    request->header =
        (struct queued_request_header){FINDING_COUNTS_HEADER, strbuf_take(&counts, &len)};
    if (form.text) {
        struct output o = form_begin(request, &form);

        check_result_print(&check_result, fail_on, &o);
        form_end(request, &o);
    } else {
        evaluation_report(e, &request->body);
    }
    check_result_release(&check_result);
}

enum { OBJECTS_MAX = 1000, WORK_MAX_MS = 2000 };

/* How long it may take. */
struct term {
    int64_t end_ms;                              /* Steady. */
    const struct request_worker *request_worker; /* NULL for a plan without a clerk. */
};

static bool is_over(void *context)
{
    const struct term *term = context;

    return platform_steady_ms() >= term->end_ms ||
           (term->request_worker && request_worker_is_ending(term->request_worker));
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

static void refuse_late(struct queued_request *request)
{
    api_refuse(request, MHD_HTTP_GATEWAY_TIMEOUT,
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
static bool apply_all(struct plan *p, struct queued_request *request, const struct evaluation *e,
                      struct term *term)
{
    const char *ns = request->query.values[PARAMETER_NAMESPACE];
    const struct manifest_limits limits = limits_until(term);
    struct manifests *m = manifests_new(NULL, NULL, 0, ns ? ns : e->options.namespace, &limits);
    struct change change = {.plan = p};
    struct error err;
    bool fine;

    manifests_know(m, e->manifests);
    manifests_hand_out(m, apply, &change);
    fine = manifests_read_text(m, request->content_is_json ? "body.json" : "body.yaml",
                               request->content.data, request->content.len, &err);
    manifests_free(m);
    if (!fine && is_over(term))
        refuse_late(request);
    else if (change.count > OBJECTS_MAX)
        api_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
                   "more than 1000 objects: plan them in parts");
    else if (!fine)
        api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    else if (change.count == 0)
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "there is no object in the body: POST manifests");
    return request->status == MHD_HTTP_OK;
}

/* As the verb plans with --output json. */
void api_plan(struct queued_request *request, const struct health *h)
{
    struct term term = {platform_steady_ms() + WORK_MAX_MS, request->request_worker};
    const struct evaluation *e = h->evaluation;
    struct plan *p = plan_new(e->engine);
    const struct plan_result *result;

    plan_set_limit(p, (struct overlay_limit){is_over, &term});
    /* At an API server everything has been applied. */
    if (!e->session)
        plan_admit_manifests(p);
    if (apply_all(p, request, e, &term)) {
        result = plan_finish(p);
        if (plan_limit_reached(p))
            refuse_late(request);
        else
            report_plan(p, result, e->engine, NULL, &request->body);
    }
    plan_free(p);
}
