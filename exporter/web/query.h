/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/error.h"

/*
 * What comes behind the '?' of a URL of the API: each parameter at most once, and none that the
 * endpoint does not know.
 */

/* THE table of parameters: the enumerator, its name, and what it is for (openapi.json). */
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
    PARAMETER(SEARCH, "search", "a part of the name, in any case")                                 \
    PARAMETER(LIMIT, "limit", "the most rows of a page; 0, and without it: all")                   \
    PARAMETER(CONTINUE, "continue", "where the page before ended, as it said")                     \
    PARAMETER(FORMAT, "format", "json, ndjson or csv; without it whichever Accept prefers")        \
    /* The same name where another choice is to be had: no endpoint knows both. */                 \
    PARAMETER(FORM, "format", "json, or text as the verb prints it; json without it")              \
    PARAMETER(WIDTH, "width", "of text: the columns that a line has at most, 0: any; 80 without")  \
    PARAMETER(FAIL_ON, "fail-on", "of text: the classes that count, as --fail-on of check")        \
    PARAMETER(HISTORY, "history", "true or false: what is remembered of a template; true without") \
    PARAMETER(DEFAULT_NAMESPACE, "default-namespace",                                              \
              "where no namespace is given: that of the object, unless it is cluster-scoped")

#define PARAMETER_ENUMERATOR(id, name, text) PARAMETER_##id,
enum parameter { PARAMETERS(PARAMETER_ENUMERATOR) PARAMETER_COUNT };

/* The bit of a parameter in what an endpoint knows. */
#define PARAMETER_BIT(id) (1U << PARAMETER_##id)

/* By enum parameter. */
extern const char *const parameter_names[PARAMETER_COUNT];
extern const char *const parameter_texts[PARAMETER_COUNT];

struct query {
    char *values[PARAMETER_COUNT]; /* Owned; NULL: not given. */
};

/*
 * Read the query of a request: `known` and `required` have the bits of what the endpoint takes and
 * needs. False with what is wrong, for a 400. Release the query in either case.
 */
bool query_parse(struct MHD_Connection *connection, unsigned known, unsigned required,
                 struct query *out, struct error *err) MUST_USE;
/* Take an empty value for none: a form sends all of its fields. */
void query_drop_empty(struct query *q);
/* All zero is released. */
void query_release(struct query *q);

/* THE table of the formats of lists: the enumerator, its name for `format`, and its media type. */
#define LIST_FORMATS(FORMAT)                                                                       \
    FORMAT(JSON, "json", "application/json")                                                       \
    FORMAT(NDJSON, "ndjson", "application/x-ndjson")                                               \
    FORMAT(CSV, "csv", "text/csv; charset=utf-8; header=present")

#define LIST_FORMAT_ENUMERATOR(id, name, type) LIST_##id,
enum list_format { LIST_FORMATS(LIST_FORMAT_ENUMERATOR) LIST_FORMAT_COUNT };

extern const char *const list_format_types[LIST_FORMAT_COUNT];

/* The format of this name, LIST_FORMAT_COUNT if there is none; JSON for NULL. */
enum list_format list_format_named(const char *name);

/*
 * Where `format` was not given: set it to the one that the client's Accept prefers; JSON where that
 * names none of them.
 */
void list_format_negotiate(struct MHD_Connection *connection, struct query *query);
