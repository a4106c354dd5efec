/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/request_queue.h"
#include "metrics/base/base.h"

struct evaluation;
struct findings;
struct kube_session;
struct senders;
struct registry;
struct web;

/* What pages and answers are written from: all that the exporter knows about objects and itself. */
struct health {
    const struct evaluation *evaluation; /* NULL while the first one is not complete. */
    const struct findings *findings;     /* Of that; pages of metrics do not need them. */
    const struct kube_session *session;  /* Its own, or that of the first one; NULL without. */
    const struct web *web;               /* Whom it serves, and how. */
    const struct senders *senders;       /* What it sends; NULL: nothing. */
    struct registry *registry; /* Of the evaluation; before the first one without any object. */
    const char *telemetry_path;
    const char *external_url; /* Where people reach the site; "" if that is not known. */
    bool config_loaded;       /* The last reload succeeded. */
    uint64_t rejected;        /* Manifests that could not be read, so far. */
    uint64_t log_dropped;     /* Lines of the log. */
    int64_t beat_age_ms;      /* How long ago the loop last turned. */
    int64_t now_ms;
    int64_t started_ms; /* When the process was; 0 if unknown. */
};

/*
 * What is asked of the live store: by programs, in JSON, and by people, who get pages. The loop
 * takes calls from the desk, one after the other; a clerk (clerk.h) answers them from what the loop
 * lends it.
 */
struct api;

/* What an endpoint's function may look at. */
enum endpoint_needs {
    NEEDS_NOTHING,
    NEEDS_EVALUATION, /* The evaluation, which has nothing left to evaluate. */
    NEEDS_PLAN,       /* The same, to play on it what becomes of the manifests that are posted. */
    /* The same for the first page of a list, which makes lines of it; then those. If it does not,
     * for each page. */
    NEEDS_LINES,
    NEEDS_ROWS, /* A view of the rows of templates alone: nothing is lent. */
};

#define OBJECT_PARAMETERS                                                                          \
    (PARAMETER_BIT(KIND) | PARAMETER_BIT(GROUP) | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(NAME))
#define TEXT_PARAMETERS            (PARAMETER_BIT(FORM) | PARAMETER_BIT(WIDTH))
#define OBJECT_PARAMETERS_REQUIRED (PARAMETER_BIT(KIND) | PARAMETER_BIT(NAME))
#define LIST_PARAMETERS                                                                            \
    (PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(SEARCH) | PARAMETER_BIT(LIMIT) |                     \
     PARAMETER_BIT(CONTINUE) | PARAMETER_BIT(FORMAT))
#define TEMPLATE_LIST_PARAMETERS                                                                   \
    (LIST_PARAMETERS | PARAMETER_BIT(KIND) | PARAMETER_BIT(GROUP) | PARAMETER_BIT(REASON) |        \
     PARAMETER_BIT(STAGE) | PARAMETER_BIT(ACTOR) | PARAMETER_BIT(POLICY) |                         \
     PARAMETER_BIT(VERSION) | PARAMETER_BIT(OWNER))

/* A page of a list is for people: it has one format. */
#define WITHOUT_FORMAT(known) ((known) & ~(unsigned)PARAMETER_BIT(FORMAT))

/*
 * THE table of endpoints. A row is its enumerator, what http_requests_total{handler} calls it, its
 * path, what it answers (openapi.json), the parameters that it knows, those of them that it needs,
 * what it looks at, and the function that answers. A new endpoint is one row here and a function in
 * this folder, or for a page in exporter/web/pages.
 */
#define ENDPOINTS(ENDPOINT) API_ENDPOINTS(ENDPOINT) PAGE_ENDPOINTS(ENDPOINT)

#define API_ENDPOINTS(ENDPOINT)                                                                    \
    ENDPOINT(REPORT, "api_report", "/api/v1/report",                                               \
             "all that the rules concluded, as `check` prints it, or `check --output json`",       \
             TEXT_PARAMETERS | PARAMETER_BIT(FAIL_ON), 0, NEEDS_EVALUATION, api_report)            \
    ENDPOINT(TEMPLATES, "api_templates", "/api/v1/templates",                                      \
             "templates by kind, namespace and name, each with its state",                         \
             TEMPLATE_LIST_PARAMETERS | PARAMETER_BIT(STATE), 0, NEEDS_ROWS, api_templates)        \
    ENDPOINT(PENDING, "api_pending", "/api/v1/pending", "the templates that nothing propagates",   \
             TEMPLATE_LIST_PARAMETERS, 0, NEEDS_ROWS, api_pending)                                 \
    ENDPOINT(STALE, "api_stale", "/api/v1/stale",                                                  \
             "the templates that are not on what governs them now", TEMPLATE_LIST_PARAMETERS, 0,   \
             NEEDS_ROWS, api_stale)                                                                \
    ENDPOINT(POLICIES, "api_policies", "/api/v1/policies",                                         \
             "policies with their versions and how many templates they have",                      \
             LIST_PARAMETERS | PARAMETER_BIT(KIND), 0, NEEDS_LINES, api_policies)                  \
    ENDPOINT(CONFLICTS, "api_conflicts", "/api/v1/conflicts",                                      \
             "fields of dependencies about which those that refer to them disagree",               \
             LIST_PARAMETERS | PARAMETER_BIT(KIND), 0, NEEDS_LINES, api_conflicts)                 \
    ENDPOINT(LEASES, "api_leases", "/api/v1/leases",                                               \
             "the leases on cloud resources that the inventory has", LIST_PARAMETERS, 0,           \
             NEEDS_LINES, api_leases)                                                              \
    ENDPOINT(                                                                                      \
        HISTORY, "api_history", "/api/v1/history",                                                 \
        "the transitions of templates that are remembered, newest first, each with its cause",     \
        (LIST_PARAMETERS | OBJECT_PARAMETERS | PARAMETER_BIT(STATE) | PARAMETER_BIT(REASON) |      \
         PARAMETER_BIT(POLICY)),                                                                   \
        0, NEEDS_LINES, api_history)                                                               \
    ENDPOINT(EXPLAIN, "api_explain", "/api/v1/explain",                                            \
             "the decision about one template, policy or binding, step by step",                   \
             (OBJECT_PARAMETERS | TEXT_PARAMETERS | PARAMETER_BIT(HISTORY) |                       \
              PARAMETER_BIT(DEFAULT_NAMESPACE)),                                                   \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, api_explain)                            \
    ENDPOINT(PLAN, "api_plan", "/api/v1/plan",                                                     \
             "what Karmada would make of the manifests that are posted, of which none is applied", \
             PARAMETER_BIT(NAMESPACE), 0, NEEDS_PLAN, api_plan)                                    \
    ENDPOINT(OPENAPI, "api_openapi", "/api/v1/openapi.json", "this description of the API", 0, 0,  \
             NEEDS_NOTHING, api_openapi)

/* They answer with pages, and are no part of openapi.json. */
#define PAGE_ENDPOINTS(ENDPOINT)                                                                   \
    ENDPOINT(TEMPLATES_PAGE, "templates", "/templates", "templates, as many as are asked for",     \
             WITHOUT_FORMAT(TEMPLATE_LIST_PARAMETERS | PARAMETER_BIT(STATE)), 0, NEEDS_ROWS,       \
             templates_page)                                                                       \
    ENDPOINT(POLICIES_PAGE, "policies", "/policies", "policies",                                   \
             LIST_PARAMETERS | PARAMETER_BIT(KIND), 0, NEEDS_LINES, policies_page)                 \
    ENDPOINT(CONFLICTS_PAGE, "conflicts", "/conflicts", "conflicts, with all that take part",      \
             WITHOUT_FORMAT(LIST_PARAMETERS | PARAMETER_BIT(KIND)), 0, NEEDS_LINES,                \
             conflicts_page)                                                                       \
    ENDPOINT(TEMPLATE_PAGE, "template", "/template", "one template", OBJECT_PARAMETERS,            \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, template_page)                          \
    ENDPOINT(POLICY_PAGE, "policy", "/policy", "one policy", OBJECT_PARAMETERS,                    \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, policy_page)                            \
    ENDPOINT(CONFLICT_PAGE, "conflict", "/conflict", "one dependency", OBJECT_PARAMETERS,          \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, conflict_page)                          \
    ENDPOINT(NAMESPACE_PAGE, "namespace", "/namespace", "what is wrong in one namespace",          \
             PARAMETER_BIT(NAMESPACE), PARAMETER_BIT(NAMESPACE), NEEDS_EVALUATION, namespace_page)

/* Write the answer to `request`. The clerk's thread calls it. */
typedef void endpoint_fn(struct queued_request *request, const struct health *h);

struct endpoint {
    const char *handler;
    const char *path;
    const char *summary;
    unsigned known;
    unsigned required;
    enum endpoint_needs needs;
    endpoint_fn *answer;
    bool page; /* It answers with a page. */
};

#define ENDPOINT_ENUMERATOR(id, ...) ENDPOINT_##id,
enum endpoint_id { ENDPOINTS(ENDPOINT_ENUMERATOR) ENDPOINT_COUNT };

#define ENDPOINT_FUNCTION(id, handler, path, summary, known, required, needs, answer)              \
    endpoint_fn answer;
ENDPOINTS(ENDPOINT_FUNCTION)

/* The rows as data, by enum endpoint_id. */
extern const struct endpoint endpoints[ENDPOINT_COUNT];

/* Answer with this status, and what is wrong. */
void api_refuse(struct queued_request *request, unsigned status, const char *text);

/*
 * Append what the endpoint refuses with: a page, or an object that has the text as its "error".
 * Answers the content type of that.
 */
const char *api_error_write(const struct endpoint *endpoint, struct strbuf *out, const char *text);

/*
 * Answers what comes to the desk, which is borrowed, as is the clerk. Without a clerk (NULL) the
 * caller of api_turn() does the work. `seed` tells its lists from those of another start.
 */
struct api *api_new(struct request_queue *request_queue, struct request_worker *request_worker,
                    uint64_t seed) MUST_USE;
/* The clerk is at no work any more. NULL is fine. */
void api_free(struct api *a);

/*
 * Hand on what is answered, and begin with what waits. `e` is the evaluation of `h`; while it is
 * not `settled`, what needs it waits, but for lists of rows that are there.
 */
void api_turn(struct api *a, const struct health *h, struct evaluation *e, bool settled);

/* The evaluation is lent: neither it nor anything of it may be touched before the next turn. */
bool api_uses_evaluation(const struct api *a);
/* A call is being answered: the evaluation must not be freed, nor its rows. */
bool api_has_request(const struct api *a);
/* Forget the lists that can be gone on with: their evaluation is about to be freed. */
void api_forget_lists(struct api *a);
