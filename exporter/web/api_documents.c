/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/api_documents.h"

#include "exporter/evaluation.h"
#include "exporter/files/manifest_source.h"
#include "exporter/system/platform.h"
#include "exporter/text/check_text.h"
#include "exporter/text/object_name.h"
#include "exporter/text/plan_clusters_text.h"
#include "exporter/text/plan_text.h"
#include "exporter/text/plan_upgrade_text.h"
#include "exporter/text/planned_change.h"
#include "exporter/text/text_table.h"
#include "exporter/web/api.h"
#include "exporter/web/response.h"
#include "metrics/base/number.h"
#include "metrics/explain/explain.h"
#include "metrics/expose/report.h"

enum {
    NAME_MAX_BYTES = 4096,
    PLAN_OBJECTS_MAX = 1000, /* Objects in one plan. */
    PLAN_MAX_MS = 2000,      /* Time for one plan. */
};

/* ---- the selected object ---- */

/* Appends the name of the object for object_find_in_namespace(): KIND[.GROUP]/[NAMESPACE/]NAME. */
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

/* Returns true if a value contains a '/', which separates the parts of an object's name. */
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
        api_refuse(request, MHD_HTTP_BAD_REQUEST,
                   "a kind, group, namespace or name must not contain '/'");
        return NULL;
    }
    add_object_name(&name, request->query.values);
    entry = object_find_in_namespace(h->evaluation->store, classes, name.data,
                                     request->query.values[PARAMETER_DEFAULT_NAMESPACE], &err);
    if (!entry && classes >> CLASS_BINDING & 1)
        entry = object_find_binding(h->evaluation->store, name.data,
                                    request->query.values[PARAMETER_DEFAULT_NAMESPACE]);
    if (!entry)
        api_refuse(request, MHD_HTTP_NOT_FOUND, err.text);
    return entry;
}

/* ---- JSON or text ---- */

/* Format of a response that is a JSON document or, as in the command line tool, a text. */
struct document_format {
    bool is_text;
    bool is_wide;    /* The text has all columns, and no limit of the width. */
    bool is_details; /* The text has details of each object. */
    unsigned width;  /* Columns of the text; 0 for no limit. */
};

/*
 * Parses the parameters `format` and `width`. Returns false after an error response, as do the
 * other functions parse_*.
 */
static MUST_USE bool parse_format(struct queued_request *request, struct document_format *out)
{
    const char *name = request->query.values[PARAMETER_FORM];
    const char *width = request->query.values[PARAMETER_WIDTH];
    uint64_t columns = OUTPUT_WIDTH_DEFAULT;

    static const char *const names[] = {"json", "text", "wide", "details"};
    size_t format = 0;

    while (name && format < ARRAY_LEN(names) && strcmp(name, names[format]) != 0)
        format++;
    if (format == ARRAY_LEN(names)) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "'format' takes json, text, wide or details");
        return false;
    }
    if (width && !parse_uint(width, OUTPUT_WIDTH_MAX, &columns)) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST,
                   "'width' takes a number of columns, at most 10000");
        return false;
    }
    if (columns > 0 && columns < OUTPUT_WIDTH_MIN)
        columns = OUTPUT_WIDTH_MIN;
    *out = (struct document_format){.is_text = format > 0,
                                    .is_wide = format == 2,
                                    .is_details = format == 3,
                                    .width = format == 2 ? 0 : (unsigned)columns};
    return true;
}

/* Moves the body of the response into an output for a text; text_end() moves the body back. */
static MUST_USE struct output text_begin(struct queued_request *request,
                                         const struct document_format *format)
{
    struct output o = {.text = request->body, .width = format->width};

    request->content_type = RESPONSE_TEXT;
    return o;
}

static void text_end(struct queued_request *request, const struct output *o)
{
    request->body = o->text;
}

/* ---- /api/v1/explain ---- */

static bool parse_history(struct queued_request *request, bool *out)
{
    const char *value = request->query.values[PARAMETER_HISTORY];

    if (value && strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "'history' takes true or false");
        return false;
    }
    *out = !value || strcmp(value, "true") == 0;
    return true;
}

static void write_explanation_text(struct queued_request *request,
                                   const struct document_format *format,
                                   const struct explanation *x, bool forgets)
{
    struct output o = text_begin(request, format);

    explanation_print(x, &o);
    if (forgets) {
        explanation_print_line(&o, EXPLAIN_HEADING, "History");
        explanation_print_line(&o, EXPLAIN_PARAGRAPH,
                               "The history is disabled: --history.entries is 0.");
    }
    text_end(request, &o);
}

/* Returns false after an error response; else stores in *template whether it is a template. */
static bool explain_requested_object(struct queued_request *request, const struct health *h,
                                     struct explanation *x, bool *template)
{
    CLEANUP(strbuf_release) struct strbuf typed = STRBUF_INIT(NAME_MAX_BYTES);
    const struct entry *entry;
    const char *ns;

    add_object_name(&typed, request->query.values);
    if (!has_slash(request->query.values) && object_name_is_namespace(typed.data, &ns)) {
        if (!explain_namespace(h->evaluation->engine, ns, h->now_ms, x))
            api_refuse(request, MHD_HTTP_NOT_FOUND,
                       "there is no template, policy or problem in this namespace");
        return request->status == MHD_HTTP_OK;
    }
    entry = find_requested_object(request, h, EXPLAIN_CLASSES);
    if (!entry)
        return false;
    *template = entry_class(entry) == CLASS_TEMPLATE;
    explain_object(h->evaluation->engine, entry, h->now_ms, x);
    return true;
}

/* Explains the objects in memory; sends no request to the API server. */
void api_explain(struct queued_request *request, const struct health *h)
{
    struct explanation x;
    struct document_format format;
    bool history;

    if (!parse_format(request, &format) || !parse_history(request, &history))
        return;
    explanation_init(&x);
    x.without_history = !history;
    x.locations = evaluation_locations(h->evaluation);

    bool template = false;
    bool explained = explain_requested_object(request, h, &x, &template);
    bool forgets = history && template && !engine_transitions(h->evaluation->engine);

    explanation_finish(&x);
    if (explained && format.is_text)
        write_explanation_text(request, &format, &x, forgets);
    else if (explained)
        strbuf_add(&request->body, x.json.data, x.json.len);
    explanation_release(&x);
}

/* ---- /api/v1/report ---- */

/* Parses `fail-on`; leaves `out` as it is without that parameter. */
static bool parse_fail_on(struct queued_request *request, struct fail_on *out)
{
    const char *value = request->query.values[PARAMETER_FAIL_ON];
    struct error err;

    if (!value)
        return true;
    if (fail_on_parse(value, out, &err) && fail_on_accepted_by_check(out, &err))
        return true;
    fail_in(&err, "fail-on");
    api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

/* Parses `problem`, `reason` and `namespace`. The filter borrows `problem_and_reason`. */
static bool parse_problem_filter(struct queued_request *request, struct strbuf *problem_and_reason,
                                 struct problem_filter *out)
{
    char *const *values = request->query.values;
    struct error err;

    if (values[PARAMETER_REASON] && !values[PARAMETER_PROBLEM]) {
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "'reason' needs the parameter 'problem'");
        return false;
    }
    if (values[PARAMETER_PROBLEM])
        strbuf_adds(problem_and_reason, values[PARAMETER_PROBLEM]);
    if (values[PARAMETER_REASON])
        strbuf_addf(problem_and_reason, "/%s", values[PARAMETER_REASON]);
    if (problem_filter_parse(problem_and_reason->data, values[PARAMETER_NAMESPACE], out, &err))
        return true;
    fail_in(&err, "problem");
    api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

void api_report(struct queued_request *request, const struct health *h)
{
    const struct evaluation *e = h->evaluation;
    struct strbuf counts = STRBUF_INIT(PROBLEM_COUNTS_MAX_BYTES);
    struct fail_on fail_on = e->options.fail_on;
    CLEANUP(strbuf_release) struct strbuf problem = STRBUF_INIT(NAME_MAX_BYTES);
    struct problem_filter filter;
    struct check_result check_result;
    struct document_format format;
    size_t len;

    if (!parse_format(request, &format) || !parse_fail_on(request, &fail_on) ||
        !parse_problem_filter(request, &problem, &filter))
        return;
    check_result_make(&check_result, e, &filter, NULL);
    problem_counts_write(&check_result.counts, &counts);
    request->header =
        (struct queued_request_header){PROBLEM_COUNTS_HEADER, strbuf_take(&counts, &len)};
    if (format.is_text) {
        struct output o = text_begin(request, &format);

        check_result_print(&check_result, &fail_on, format.is_wide, h->now_ms, &o);
        text_end(request, &o);
    } else {
        evaluation_write_report(e, &filter, &request->body);
    }
    check_result_release(&check_result);
}

/* ---- /api/v1/plan ---- */

/* Time limit of a plan. */
struct plan_deadline {
    int64_t end_ms;                              /* Steady time. */
    const struct request_worker *request_worker; /* Worker that computes the plan, or NULL. */
};

/* Returns true if the plan must end: the time is over, or the worker is to end. */
static bool plan_must_end(void *context)
{
    const struct plan_deadline *deadline = context;

    return platform_steady_ms() >= deadline->end_ms ||
           (deadline->request_worker && request_worker_is_stopping(deadline->request_worker));
}

static void refuse_slow_plan(struct queued_request *request)
{
    api_refuse(request, MHD_HTTP_GATEWAY_TIMEOUT,
               "the plan takes more than 2 s: use the command plan, which has no time limit");
}

/* Objects that are being applied to a plan. */
struct plan_objects {
    struct plan *plan;
    const struct evaluation *evaluation;
    size_t count; /* Number of objects, including refused ones. */
};

static bool apply_object(void *context, const cJSON *object, struct error *err)
{
    struct plan_objects *objects = context;
    CLEANUP(json_cleanup) cJSON *copy = NULL;

    if (objects->count++ >= PLAN_OBJECTS_MAX)
        return fail(err, "more than %d objects", PLAN_OBJECTS_MAX);
    copy = cJSON_Duplicate(object, true);
    planned_object_set_scope(objects->evaluation, copy);
    if (planned_object_needs_kinds(objects->evaluation, copy))
        plan_assume_unread_kinds(objects->plan);
    return plan_apply(objects->plan, copy, err);
}

/* Applies the manifests in the body of the request. Returns false after an error response. */
static bool apply_body(struct plan *p, struct queued_request *request, const struct evaluation *e,
                       struct plan_deadline *deadline)
{
    const char *ns = request->query.values[PARAMETER_NAMESPACE];
    /* No limit for the sum of all objects: the size of the body is limited. */
    const struct manifest_limits limits = {
        .yaml_max_bytes = 1 << 20,
        .object_max_bytes = 1 << 20,
        .nodes_max = 200 * 1000,
        .term = {plan_must_end, deadline},
    };
    struct manifests *m = manifests_new(NULL, NULL, 0, ns ? ns : e->options.namespace, &limits);
    struct plan_objects objects = {.plan = p, .evaluation = e};
    struct error err;
    size_t line;
    bool fine;

    manifests_import_definitions(m, e->manifests);
    manifests_set_server_versions(m, engine_api_version_source(e->engine));
    manifests_set_receiver(m, apply_object, &objects);
    fine = manifests_read_text(m, request->content_is_json ? "body.json" : "body.yaml",
                               request->content.data, request->content.len, &line, &err);
    if (!fine && line > 0)
        fail_in(&err, "line %zu", line);
    manifests_free(m);
    if (!fine && plan_must_end(deadline))
        refuse_slow_plan(request);
    else if (objects.count > PLAN_OBJECTS_MAX)
        api_refuse(request, MHD_HTTP_CONTENT_TOO_LARGE,
                   "more than 1000 objects: plan them in parts");
    else if (!fine)
        api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    else if (objects.count == 0 && !request->query.values[PARAMETER_DELETE] &&
             !request->query.values[PARAMETER_LOSE] && !request->query.values[PARAMETER_TO_KARMADA])
        api_refuse(request, MHD_HTTP_BAD_REQUEST, "the body has no object: POST manifests");
    return request->status == MHD_HTTP_OK;
}

/* Parses `fail-on` of a plan: bits by enum plan_failure; 0 without the parameter. */
static bool parse_plan_failures(struct queued_request *request, unsigned *out)
{
    const char *value = request->query.values[PARAMETER_FAIL_ON];
    struct fail_on fail_on;
    struct error err;

    *out = 0;
    if (!value)
        return true;
    if (fail_on_parse(value, &fail_on, &err) && fail_on_accepted_by_plan(&fail_on, &err)) {
        *out = fail_on_plan_failures(&fail_on);
        return true;
    }
    fail_in(&err, "fail-on");
    api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

/* Upgrades to the release of `to-karmada`, if given. Returns false after an error response. */
static bool upgrade_plan(struct plan *p, struct queued_request *request, const struct evaluation *e)
{
    const char *typed = request->query.values[PARAMETER_TO_KARMADA];
    struct error err;

    if (!typed || plan_upgrade_typed(p, engine_release(e->engine), typed, &err))
        return true;
    fail_in(&err, "to-karmada");
    api_refuse(request, MHD_HTTP_BAD_REQUEST, err.text);
    return false;
}

/* A function of plan_text.h that adds a named object to a plan. */
typedef bool plan_typed_fn(struct plan *p, const struct store *store, const char *typed,
                           struct error *err);

/* Calls `add` for each object of a list with commas. Returns false after an error response. */
static bool add_typed_objects(struct plan *p, struct queued_request *request,
                              const struct evaluation *e, enum parameter list, plan_typed_fn *add)
{
    const char *rest = request->query.values[list];
    struct error err;

    while (rest && *rest) {
        size_t len = strcspn(rest, ",");
        CLEANUP(free_cleanup) char *typed = xmemdup0(rest, len);

        if (!add(p, e->store, typed, &err)) {
            api_refuse(request, MHD_HTTP_NOT_FOUND, err.text);
            return false;
        }
        rest += len + (rest[len] == ',');
    }
    return true;
}

/* Writes the result as the command `plan` prints it: as text, or as JSON. */
static void write_plan(struct queued_request *request, const struct document_format *format,
                       struct plan *p, const struct plan_result *result, unsigned failures,
                       const struct engine *engine)
{
    CLEANUP(strbuf_release) struct strbuf fails = STRBUF_INIT(request->body.max);
    struct strbuf results = STRBUF_INIT(NAME_MAX_BYTES);
    size_t len;

    plan_results_write(plan_failures(result), &results);
    request->header =
        (struct queued_request_header){PLAN_RESULTS_HEADER, strbuf_take(&results, &len)};
    if (format->is_text) {
        struct output o = text_begin(request, format);

        plan_print(result,
                   format->is_details ? PLAN_LAYOUT_DETAILS
                   : format->is_wide  ? PLAN_LAYOUT_WIDE
                                      : PLAN_LAYOUT_GROUPS,
                   failures, &o);
        text_end(request, &o);
        return;
    }
    if (failures)
        plan_write_failing_objects(result, failures, &fails);
    report_plan(p, result, engine, NULL, failures ? fails.data : NULL, &request->body);
}

void api_plan(struct queued_request *request, const struct health *h)
{
    struct plan_deadline deadline = {platform_steady_ms() + PLAN_MAX_MS, request->request_worker};
    const struct evaluation *e = h->evaluation;
    const struct plan_result *result;
    struct document_format format;
    unsigned failures;

    if (!parse_format(request, &format) || !parse_plan_failures(request, &failures))
        return;

    struct plan *p = plan_new(e->engine);

    plan_set_limit(p, (struct overlay_limit){plan_must_end, &deadline});
    /* Without an API server, the store has manifests that Karmada has not processed. */
    if (!e->session)
        plan_admit_manifests(p);
    evaluation_note_unread_sources(e, p);
    if (upgrade_plan(p, request, e) &&
        add_typed_objects(p, request, e, PARAMETER_LOSE, plan_lose_typed) &&
        add_typed_objects(p, request, e, PARAMETER_DELETE, plan_delete_typed) &&
        apply_body(p, request, e, &deadline)) {
        result = plan_finish(p);
        if (plan_limit_reached(p))
            refuse_slow_plan(request);
        else
            write_plan(request, &format, p, result, failures, e->engine);
    }
    plan_free(p);
}
