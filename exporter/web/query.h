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
    PARAMETER(KIND, "kind", "the kind of the object, as kubectl takes it: Deployment, deploy, pp") \
    PARAMETER(GROUP, "group", "the API group of the kind, where it is not clear without")          \
    PARAMETER(NAMESPACE, "namespace", "the namespace of the object; none if it is cluster-scoped") \
    PARAMETER(NAME, "name", "the name of the object")                                              \
    PARAMETER(STATE, "state", "of templates: current, stale, pending and so on")                   \
    PARAMETER(REASON, "reason", "why a template is in its state: policy_updated, no_match ...")    \
    PARAMETER(STAGE, "stage", "how far a template has come: unmatched, unapplied, healthy ...")    \
    PARAMETER(ACTOR, "actor", "who must act: user, platform, karmada, cluster or nobody")          \
    PARAMETER(POLICY, "policy", "NAME or NAMESPACE/NAME of a policy that wins or is claimed")      \
    PARAMETER(VERSION, "version", "the number of the policy's version that a template runs")       \
    PARAMETER(OWNER, "owner", "whose a template is, by --owner-key")                               \
    PARAMETER(PROBLEM, "problem",                                                                  \
              "the word of a problem: not_propagated, dependency_conflict ...")                    \
    PARAMETER(SEVERITY, "severity", "critical, warning or info")                                   \
    PARAMETER(STATUS, "status",                                                                    \
              "open, resolving, pending, hidden with commas; open,resolving without it")           \
    PARAMETER(CAUSE, "cause",                                                                      \
              "PROBLEM, PROBLEM/NAME or PROBLEM/NAMESPACE/NAME of the problem that hides others")  \
    PARAMETER(SEARCH, "search", "a part of the name, in any case")                                 \
    PARAMETER(LIMIT, "limit", "the most rows of a page; 0, and without it: all")                   \
    PARAMETER(CONTINUE, "continue", "where the page before ended, as it said")                     \
    PARAMETER(PAGE, "page", "number of the page, from 1; the first without it")                    \
    PARAMETER(SORT, "sort", "column that orders the rows; with '-' before it: in reverse")         \
    PARAMETER(REFRESH, "refresh", "interval at which a browser reads the page again, such as 30s") \
    PARAMETER(FORMAT, "format", "json, ndjson or csv; without it whichever Accept prefers")        \
    /* Same name with other values; no endpoint accepts both. */                                   \
    PARAMETER(FORM, "format", "json, or text as the verb prints it; json without it")              \
    PARAMETER(WIDTH, "width", "of text: the columns that a line has at most, 0: any; 80 without")  \
    PARAMETER(FAIL_ON, "fail-on", "of text: the classes that count, as --fail-on of check")        \
    PARAMETER(HISTORY, "history", "true or false: what is remembered of a template; true without") \
    PARAMETER(DEFAULT_NAMESPACE, "default-namespace",                                              \
              "where no namespace is given: that of the object, unless it is cluster-scoped")

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
