/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/error.h"

/*
 * Query of a request to the API: each parameter at most once, and only those that the endpoint
 * accepts.
 */

/* Table of parameters: enumerator, name, description in openapi.json. */
#define PARAMETERS(PARAMETER)                                                                      \
    PARAMETER(KIND, "kind", "kind of the object, as in kubectl: Deployment, deploy, pp")           \
    PARAMETER(GROUP, "group",                                                                      \
              "API group of the kind, if several groups have the kind; empty for the core group")  \
    PARAMETER(NAMESPACE, "namespace", "namespace of the object; empty for cluster-scoped objects") \
    PARAMETER(NAME, "name", "name of the object")                                                  \
    PARAMETER(STATE, "state", "state of templates: current, stale, pending ...")                   \
    PARAMETER(REASON, "reason",                                                                    \
              "reason of the state or of the problem: policy_updated, no_match ...")               \
    PARAMETER(STAGE, "stage", "stage of templates: unmatched, unapplied, healthy ...")             \
    PARAMETER(ACTOR, "actor", "role that must act, such as user, policy_owner or platform")        \
    PARAMETER(POLICY, "policy",                                                                    \
              "NAME or NAMESPACE/NAME of the policy that has the claim or ranks first")            \
    PARAMETER(VERSION, "version", "number of the policy version that a template runs")             \
    PARAMETER(OWNER, "owner",                                                                      \
              "owner of the template: value of the label or annotation --owner-key")               \
    PARAMETER(                                                                                     \
        PROBLEM, "problem",                                                                        \
        "name of the problem, or of the worst open problem of a row, such as not_propagated")      \
    PARAMETER(SEVERITY, "severity",                                                                \
              "critical, warning or info: severity of the problem, or of the worst open problem "  \
              "of a row")                                                                          \
    PARAMETER(                                                                                     \
        STATUS, "status",                                                                          \
        "of problems: list of open, resolving, pending and hidden, or resolved alone; default "    \
        "open,resolving. Of member clusters: ready, not_ready or missing")                         \
    PARAMETER(CAUSE, "cause",                                                                      \
              "PROBLEM, PROBLEM/NAME or PROBLEM/NAMESPACE/NAME of the problem that hides others")  \
    PARAMETER(FIELD, "field", "field in conflict: ConflictResolution ...")                         \
    PARAMETER(ORIGIN, "origin",                                                                    \
              "origin of a conflict: observed in the bindings, derived from references of a "      \
              "template without a binding, or predicted once Karmada has applied the policies")    \
    PARAMETER(WHERE, "where", "conditions on columns, such as stale>0,since>7d; all must hold")    \
    PARAMETER(SEARCH, "search", "part of the name, regardless of case")                            \
    PARAMETER(LIMIT, "limit", "maximum number of rows of a page; 0, the default, for all")         \
    PARAMETER(CONTINUE, "continue",                                                                \
              "position of the next page, from metadata.continue of the page before")              \
    PARAMETER(PAGE, "page", "number of the page, from 1; default 1")                               \
    PARAMETER(SORT, "sort", "column that orders the rows; with '-' before it: in reverse")         \
    PARAMETER(REFRESH, "refresh", "interval at which a browser reads the page again, such as 30s") \
    PARAMETER(FORMAT, "format", "json, ndjson or csv; default by the header Accept")               \
    /* Same name with other values; no endpoint accepts both. */                                   \
    PARAMETER(FORM, "format",                                                                      \
              "json (default), or text, wide or details as the command prints them")               \
    PARAMETER(WIDTH, "width",                                                                      \
              "for text: maximum number of columns of a line, 0 for no limit; default 80")         \
    PARAMETER(FAIL_ON, "fail-on", "for text: problems that fail the check, as --fail-on")          \
    PARAMETER(                                                                                     \
        DELETE, "delete",                                                                          \
        "objects to delete before the change, as KIND[.GROUP]/[NAMESPACE/]NAME, with commas")      \
    PARAMETER(LOSE, "lose", "member clusters to lose after the change, separated by commas")       \
    PARAMETER(TO_KARMADA, "to-karmada",                                                            \
              "release of Karmada to upgrade to before the change, such as 1.19")                  \
    PARAMETER(HISTORY, "history",                                                                  \
              "true or false: include the history of a template; default true")                    \
    PARAMETER(DEFAULT_NAMESPACE, "default-namespace",                                              \
              "namespace of a namespaced object if `namespace` is not given")

#define PARAMETER_ENUMERATOR(id, name, text) PARAMETER_##id,
enum parameter { PARAMETERS(PARAMETER_ENUMERATOR) PARAMETER_COUNT };

/* Set of parameters: bits by enum parameter. */
typedef uint64_t parameter_set;
#define PARAMETER_BIT(id) (UINT64_C(1) << PARAMETER_##id)

/* Names and descriptions, by enum parameter. */
extern const char *const parameter_names[PARAMETER_COUNT];
extern const char *const parameter_texts[PARAMETER_COUNT];

struct query {
    char *values[PARAMETER_COUNT]; /* Owned; NULL if not given. */
};

/*
 * Reads the query of a request. `known` and `required`: sets of the parameters that the endpoint
 * accepts and requires. Returns false with the reason, for status 400, if a parameter is unknown,
 * repeated, without value, above 1,024 bytes, or required and missing or empty; the caller releases
 * the query even then.
 */
bool query_parse(struct MHD_Connection *connection, parameter_set known, parameter_set required,
                 struct query *out, struct error *err) MUST_USE;
/* Removes parameters with an empty value, because HTML forms send all of their fields. */
void query_drop_empty(struct query *q);
/* Frees the values; a zeroed struct is allowed. */
void query_release(struct query *q);

/* Table of list formats: enumerator, value of the parameter `format`, media type. */
#define LIST_FORMATS(FORMAT)                                                                       \
    FORMAT(JSON, "json", "application/json")                                                       \
    FORMAT(NDJSON, "ndjson", "application/x-ndjson")                                               \
    FORMAT(CSV, "csv", "text/csv; charset=utf-8; header=present")

#define LIST_FORMAT_ENUMERATOR(id, name, type) LIST_##id,
enum list_format { LIST_FORMATS(LIST_FORMAT_ENUMERATOR) LIST_FORMAT_COUNT };

/* Media types, by enum list_format. */
extern const char *const list_format_types[LIST_FORMAT_COUNT];

/* Returns the format of this name; LIST_JSON for NULL, LIST_FORMAT_COUNT if unknown. */
enum list_format list_format_named(const char *name);

/*
 * Sets the parameter `format`, unless given, to the format that the header Accept prefers, or to
 * JSON if the header names no list format.
 */
void list_format_negotiate(struct MHD_Connection *connection, struct query *query);
