/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/query.h"
#include "exporter/web/request_queue.h"
#include "metrics/base/base.h"

struct evaluation;
struct kube_session;
struct senders;
struct registry;
struct web_service;

/* Input of pages and endpoints: the evaluation, and the state of the exporter itself. Borrowed. */
struct health {
    /* NULL until the first evaluation is complete, and for requests that do not read it. */
    const struct evaluation *evaluation;
    const struct kube_session *session;    /* Set before `evaluation`; NULL without API server. */
    const struct web_service *web_service; /* HTTP server, for its metrics. */
    const struct senders *senders;         /* Senders of alerts and Events; may be NULL. */
    struct registry *registry;             /* Series of the metrics page; NULL for endpoints. */
    const char *telemetry_path;
    const char *external_url; /* --web.external-url without '/' at the end; "" if unknown. */
    bool config_loaded;       /* False from a failed reload until one is prepared or completed. */
    uint64_t rejected;        /* Number of PROBLEM_MALFORMED and PROBLEM_REJECTED that appeared. */
    uint64_t log_dropped;     /* Number of log lines that were not written. */
    int64_t beat_age_ms;      /* Milliseconds since the last turn of the loop. */
    int64_t now_ms;           /* Milliseconds since the epoch. */
    int64_t started_ms;       /* Time of loop_new(); milliseconds since the epoch. */
};

/*
 * Endpoints that read the current evaluation: the JSON API, and pages for people. The loop takes
 * requests from a queue, one at a time; a worker thread writes the response. The loop does not use
 * the evaluation while the worker thread reads it.
 */
struct api;

/* Data that the function of an endpoint reads. */
enum endpoint_needs {
    NEEDS_NOTHING,
    NEEDS_EVALUATION, /* The evaluation, with no object left to evaluate. */
    /*
     * The evaluation, with no object left to evaluate; NULL until the first one is complete. The
     * function then runs on the loop thread, and may read the sources.
     */
    NEEDS_EVALUATION_IF_READ,
    NEEDS_PLAN,  /* Like NEEDS_EVALUATION; posted manifests are simulated on the evaluation. */
    NEEDS_LINES, /* A list: lines stored with an earlier page, else the evaluation. */
    NEEDS_ROWS,  /* A list: a view stored with an earlier page, else made of the evaluation. */
};

#define OBJECT_PARAMETERS                                                                          \
    (PARAMETER_BIT(KIND) | PARAMETER_BIT(GROUP) | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(NAME))
#define TEXT_PARAMETERS            (PARAMETER_BIT(FORM) | PARAMETER_BIT(WIDTH))
#define OBJECT_PARAMETERS_REQUIRED (PARAMETER_BIT(KIND) | PARAMETER_BIT(NAME))
#define LIST_PARAMETERS                                                                            \
    (PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(SEARCH) | PARAMETER_BIT(LIMIT) |                     \
     PARAMETER_BIT(CONTINUE) | PARAMETER_BIT(FORMAT))

/* Parameters of the columns of lists (metrics/expose/list_table.h), and of their order. */
#define COLUMN_PARAMETERS                                                                          \
    (PARAMETER_BIT(SEARCH) | PARAMETER_BIT(SEVERITY) | PARAMETER_BIT(PROBLEM) |                    \
     PARAMETER_BIT(WHERE) | PARAMETER_BIT(SORT))
#define TEMPLATE_COLUMN_PARAMETERS                                                                 \
    (COLUMN_PARAMETERS | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(KIND) | PARAMETER_BIT(GROUP) |   \
     PARAMETER_BIT(REASON) | PARAMETER_BIT(STAGE) | PARAMETER_BIT(ACTOR) | PARAMETER_BIT(POLICY) | \
     PARAMETER_BIT(VERSION) | PARAMETER_BIT(OWNER))
#define POLICY_COLUMN_PARAMETERS                                                                   \
    (COLUMN_PARAMETERS | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(KIND))
#define CONFLICT_COLUMN_PARAMETERS                                                                 \
    (COLUMN_PARAMETERS | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(KIND) | PARAMETER_BIT(FIELD) |   \
     PARAMETER_BIT(ORIGIN) | PARAMETER_BIT(OWNER))
#define CLUSTER_COLUMN_PARAMETERS (COLUMN_PARAMETERS | PARAMETER_BIT(STATUS))
#define NAMESPACE_COLUMN_PARAMETERS                                                                \
    (COLUMN_PARAMETERS | PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(OWNER))

/* Parameters that select a part of a list in the API, and its format. */
#define PART_PARAMETERS (PARAMETER_BIT(LIMIT) | PARAMETER_BIT(CONTINUE) | PARAMETER_BIT(FORMAT))

#define PROBLEM_LIST_PARAMETERS                                                                    \
    (PARAMETER_BIT(PROBLEM) | PARAMETER_BIT(SEVERITY) | PARAMETER_BIT(REASON) |                    \
     PARAMETER_BIT(NAMESPACE) | PARAMETER_BIT(OWNER) | PARAMETER_BIT(POLICY) |                     \
     PARAMETER_BIT(STATUS) | PARAMETER_BIT(CAUSE) | PARAMETER_BIT(SEARCH) | PARAMETER_BIT(SORT) |  \
     PARAMETER_BIT(LIMIT) | PARAMETER_BIT(CONTINUE) | PARAMETER_BIT(FORMAT))

#define PROBLEM_PAGE_PARAMETERS                                                                    \
    (PARAMETER_BIT(PAGE) | PARAMETER_BIT(REFRESH) |                                                \
     (PROBLEM_LIST_PARAMETERS &                                                                    \
      ~(PARAMETER_BIT(LIMIT) | PARAMETER_BIT(CONTINUE) | PARAMETER_BIT(FORMAT))))

/*
 * All endpoints. A row has the enumerator and the members of struct endpoint, except `page`. A new
 * endpoint is a row here, and a function in a file api_*.c or page_*.c.
 */
#define ENDPOINTS(ENDPOINT) API_ENDPOINTS(ENDPOINT) PAGE_ENDPOINTS(ENDPOINT)

#define API_ENDPOINTS(ENDPOINT)                                                                    \
    ENDPOINT(REPORT, "api_report", "/api/v1/report",                                               \
             "all results of the evaluation, as `check` or `check --output json` prints them",     \
             (TEXT_PARAMETERS | PARAMETER_BIT(FAIL_ON) | PARAMETER_BIT(NAMESPACE) |                \
              PARAMETER_BIT(PROBLEM) | PARAMETER_BIT(REASON)),                                     \
             0, NEEDS_EVALUATION, api_report)                                                      \
    ENDPOINT(PROBLEMS, "api_problems", "/api/v1/problems",                                         \
             "problems, worst first, each with its cause and action", PROBLEM_LIST_PARAMETERS, 0,  \
             NEEDS_LINES, api_problems)                                                            \
    ENDPOINT(TEMPLATES, "api_templates", "/api/v1/templates",                                      \
             "templates by kind, namespace and name, each with its state",                         \
             TEMPLATE_COLUMN_PARAMETERS | PARAMETER_BIT(STATE) | PART_PARAMETERS, 0, NEEDS_ROWS,   \
             api_templates)                                                                        \
    ENDPOINT(PENDING, "api_pending", "/api/v1/pending",                                            \
             "templates in the state pending: no policy or template propagates them",              \
             TEMPLATE_COLUMN_PARAMETERS | PART_PARAMETERS, 0, NEEDS_ROWS, api_pending)             \
    ENDPOINT(STALE, "api_stale", "/api/v1/stale",                                                  \
             "templates in the state stale: their binding does not have the present policy or "    \
             "template",                                                                           \
             TEMPLATE_COLUMN_PARAMETERS | PART_PARAMETERS, 0, NEEDS_ROWS, api_stale)               \
    ENDPOINT(POLICIES, "api_policies", "/api/v1/policies",                                         \
             "policies with their versions and how many templates they have",                      \
             POLICY_COLUMN_PARAMETERS | PART_PARAMETERS, 0, NEEDS_LINES, api_policies)             \
    ENDPOINT(CONFLICTS, "api_conflicts", "/api/v1/conflicts",                                      \
             "fields of dependencies for which referrers request different values",                \
             CONFLICT_COLUMN_PARAMETERS | PART_PARAMETERS, 0, NEEDS_LINES, api_conflicts)          \
    ENDPOINT(CLUSTERS, "api_clusters", "/api/v1/clusters",                                         \
             "member clusters with their templates, requests and free capacity",                   \
             CLUSTER_COLUMN_PARAMETERS | PART_PARAMETERS, 0, NEEDS_LINES, api_clusters)            \
    ENDPOINT(NAMESPACES, "api_namespaces", "/api/v1/namespaces",                                   \
             "namespaces with their templates by state, policies and open problems",               \
             NAMESPACE_COLUMN_PARAMETERS | PART_PARAMETERS, 0, NEEDS_LINES, api_namespaces)        \
    ENDPOINT(LEASES, "api_leases", "/api/v1/leases",                                               \
             "leases on cloud resources in the asset export", LIST_PARAMETERS, 0, NEEDS_LINES,     \
             api_leases)                                                                           \
    ENDPOINT(HISTORY, "api_history", "/api/v1/history",                                            \
             "transitions of templates in the history, newest first, each with its cause",         \
             (LIST_PARAMETERS | OBJECT_PARAMETERS | PARAMETER_BIT(STATE) | PARAMETER_BIT(REASON) | \
              PARAMETER_BIT(POLICY)),                                                              \
             0, NEEDS_LINES, api_history)                                                          \
    ENDPOINT(EXPLAIN, "api_explain", "/api/v1/explain",                                            \
             "one object or namespace, with each step of its decisions",                           \
             (OBJECT_PARAMETERS | TEXT_PARAMETERS | PARAMETER_BIT(HISTORY) |                       \
              PARAMETER_BIT(DEFAULT_NAMESPACE)),                                                   \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, api_explain)                            \
    ENDPOINT(PLAN, "api_plan", "/api/v1/plan",                                                     \
             "plan for the posted manifests; no manifest is applied",                              \
             (PARAMETER_BIT(NAMESPACE) | TEXT_PARAMETERS | PARAMETER_BIT(FAIL_ON) |                \
              PARAMETER_BIT(DELETE) | PARAMETER_BIT(LOSE) | PARAMETER_BIT(TO_KARMADA)),            \
             0, NEEDS_PLAN, api_plan)                                                              \
    ENDPOINT(OPENAPI, "api_openapi", "/api/v1/openapi.json",                                       \
             "description of the API in OpenAPI 3.0", 0, 0, NEEDS_NOTHING, api_openapi)

/* Endpoints that return HTML pages; openapi.json omits these endpoints. */
#define PAGE_ENDPOINTS(ENDPOINT)                                                                   \
    ENDPOINT(INDEX_PAGE, "index", "/", NULL, PROBLEM_PAGE_PARAMETERS, 0, NEEDS_EVALUATION_IF_READ, \
             index_page)                                                                           \
    ENDPOINT(RUNBOOK_PAGE, "runbook", "/runbook", NULL, PARAMETER_BIT(PROBLEM),                    \
             PARAMETER_BIT(PROBLEM), NEEDS_NOTHING, runbook_page)                                  \
    ENDPOINT(TEMPLATES_PAGE, "templates", "/templates", NULL,                                      \
             TEMPLATE_COLUMN_PARAMETERS | PARAMETER_BIT(STATE) | PARAMETER_BIT(PAGE), 0,           \
             NEEDS_ROWS, templates_page)                                                           \
    ENDPOINT(POLICIES_PAGE, "policies", "/policies", NULL,                                         \
             POLICY_COLUMN_PARAMETERS | PARAMETER_BIT(PAGE), 0, NEEDS_EVALUATION, policies_page)   \
    ENDPOINT(CONFLICTS_PAGE, "conflicts", "/conflicts", NULL,                                      \
             CONFLICT_COLUMN_PARAMETERS | PARAMETER_BIT(PAGE), 0, NEEDS_EVALUATION,                \
             conflicts_page)                                                                       \
    ENDPOINT(CLUSTERS_PAGE, "clusters", "/clusters", NULL,                                         \
             CLUSTER_COLUMN_PARAMETERS | PARAMETER_BIT(PAGE), 0, NEEDS_EVALUATION, clusters_page)  \
    ENDPOINT(NAMESPACES_PAGE, "namespaces", "/namespaces", NULL,                                   \
             NAMESPACE_COLUMN_PARAMETERS | PARAMETER_BIT(PAGE), 0, NEEDS_EVALUATION,               \
             namespaces_page)                                                                      \
    ENDPOINT(TEMPLATE_PAGE, "template", "/template", NULL, OBJECT_PARAMETERS,                      \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, template_page)                          \
    ENDPOINT(POLICY_PAGE, "policy", "/policy", NULL, OBJECT_PARAMETERS,                            \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, policy_page)                            \
    ENDPOINT(CONFLICT_PAGE, "conflict", "/conflict", NULL, OBJECT_PARAMETERS,                      \
             OBJECT_PARAMETERS_REQUIRED, NEEDS_EVALUATION, conflict_page)                          \
    ENDPOINT(CLUSTER_PAGE, "cluster", "/cluster", NULL, PARAMETER_BIT(NAME), PARAMETER_BIT(NAME),  \
             NEEDS_EVALUATION, cluster_page)                                                       \
    ENDPOINT(NAMESPACE_PAGE, "namespace", "/namespace", NULL, PARAMETER_BIT(NAMESPACE),            \
             PARAMETER_BIT(NAMESPACE), NEEDS_EVALUATION, namespace_page)

/* Writes the response to a request. Runs on the worker thread, if api_new() was given a worker. */
typedef void endpoint_fn(struct queued_request *request, const struct health *h);

struct endpoint {
    const char *handler; /* Label `handler` of http_requests_total; operationId in openapi.json. */
    const char *path;
    const char *summary;    /* Summary and response description in openapi.json; NULL for pages. */
    parameter_set known;    /* Accepted parameters. */
    parameter_set required; /* Required parameters. */
    enum endpoint_needs needs;
    endpoint_fn *answer;
    bool page; /* Responses are HTML pages. */
};

#define ENDPOINT_ENUMERATOR(id, ...) ENDPOINT_##id,
enum endpoint_id { ENDPOINTS(ENDPOINT_ENUMERATOR) ENDPOINT_COUNT };
/* Counts the endpoints of the API, which precede the pages. */
#define API_ENDPOINT_ENUMERATOR(id, ...) API_ENDPOINT_##id,
enum { API_ENDPOINTS(API_ENDPOINT_ENUMERATOR) API_ENDPOINT_COUNT };

#define ENDPOINT_FUNCTION(id, handler, path, summary, known, required, needs, answer)              \
    endpoint_fn answer;
ENDPOINTS(ENDPOINT_FUNCTION)

/* Rows of ENDPOINTS by enum endpoint_id. */
extern const struct endpoint endpoints[ENDPOINT_COUNT];

/* Replaces the response to a request by an error with this status and text. */
void api_refuse(struct queued_request *request, unsigned status, const char *text);

/*
 * Appends an error as the endpoint returns it: an HTML page, or a JSON object with the member
 * "error". Returns the content type.
 */
const char *api_error_write(const struct endpoint *endpoint, struct strbuf *out, const char *text);

/*
 * Returns an API that handles the requests in a queue. Queue and worker are borrowed. Without a
 * worker (NULL), api_turn() itself writes the responses. Values of the parameter `continue` contain
 * `seed`, so that values from an earlier start of the exporter are refused.
 */
struct api *api_new(struct request_queue *request_queue, struct request_worker *request_worker,
                    uint64_t seed) MUST_USE;
/* Frees the API. The worker must be idle. Accepts NULL. */
void api_free(struct api *a);

/* Sends the response of the request that is handled, if the worker has finished it. */
void api_collect(struct api *a);

/*
 * Calls api_collect(), drops lists and rows that were not requested for some time or keep too many
 * outdated rows, and starts to handle the next requests in the queue. `e` is the evaluation of `h`,
 * or NULL. `settled` is false while objects are left to evaluate: the oldest request then stays in
 * the queue, with all requests behind it, unless its endpoint has NEEDS_NOTHING, or has NEEDS_ROWS
 * and the evaluation has rows.
 */
void api_turn(struct api *a, const struct health *h, struct evaluation *e, bool settled);

/* Returns true while the worker reads the evaluation: the caller must not use the evaluation. */
bool api_uses_evaluation(const struct api *a);
/*
 * Returns true while a request is handled: the evaluation and its rows must not be freed. The next
 * call of api_collect() or api_turn() ends the request if the worker has finished it.
 */
bool api_has_request(const struct api *a);
/* Drops all stored lists. Call this function before the evaluation is freed. */
void api_forget_lists(struct api *a);
