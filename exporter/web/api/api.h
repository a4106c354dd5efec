/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/desk.h"

/*
 * The JSON API: what programs ask of the live store. The loop answers, one call after the other.
 */
struct health;

/*
 * THE table of endpoints. A row is its enumerator, what http_requests_total{handler} calls it, its
 * path, what it answers (openapi.json), the parameters that it knows, those of them that it needs,
 * and the function that answers. A new endpoint is one row here and one file in this folder.
 */
#define ENDPOINTS(ENDPOINT)                                                                        \
    ENDPOINT(EXPLAIN, "api_explain", "/api/v1/explain",                                            \
             "the decision about one template, policy or binding, step by step",                   \
             PARAMETER_BIT(KIND) | PARAMETER_BIT(GROUP) | PARAMETER_BIT(NAMESPACE) |               \
                 PARAMETER_BIT(NAME),                                                              \
             PARAMETER_BIT(KIND) | PARAMETER_BIT(NAME), api_explain)                               \
    ENDPOINT(OPENAPI, "api_openapi", "/api/v1/openapi.json", "this description of the API", 0, 0,  \
             api_openapi)

/* Write the answer to `call`; the evaluation, if there is one, has nothing left to evaluate. */
typedef void endpoint_fn(struct call *call, const struct health *h);

struct endpoint {
    const char *handler;
    const char *path;
    const char *summary;
    unsigned known;
    unsigned required;
    endpoint_fn *answer;
};

#define ENDPOINT_ENUMERATOR(id, ...) ENDPOINT_##id,
enum endpoint_id { ENDPOINTS(ENDPOINT_ENUMERATOR) ENDPOINT_COUNT };

#define ENDPOINT_FUNCTION(id, handler, path, summary, known, required, answer) endpoint_fn answer;
ENDPOINTS(ENDPOINT_FUNCTION)

/* The rows as data, by enum endpoint_id. */
extern const struct endpoint endpoints[ENDPOINT_COUNT];

/* Answer with this status, and an object that has the text as its "error". */
void api_refuse(struct call *call, unsigned status, const char *text);

/* Append what api_refuse() answers with. */
void api_error_write(struct strbuf *out, const char *text);

/*
 * Answer what waits at the desk, for about `slice_ms`. An evaluation that is not `settled` is
 * waited for. True if calls are left.
 */
bool api_turn(struct desk *desk, const struct health *h, bool settled, unsigned slice_ms);
