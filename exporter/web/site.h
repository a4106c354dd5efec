/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/heartbeat.h"
#include "exporter/web/snapshot.h"
#include "metrics/base/error.h"

/*
 * What the server serves: which path is answered by what. The library's threads
 * call it, several at once; all it changes are atomic counters.
 */
/* What is answered beside the pages; a row is as those of PAGES are. */
#define ANSWERS(ANSWER)                                                                            \
    ANSWER(HEALTHY, "healthy", "/-/healthy")                                                       \
    ANSWER(READY, "ready", "/-/ready")                                                             \
    ANSWER(LIVEZ, "livez", "/livez")                                                               \
    ANSWER(READYZ, "readyz", "/readyz")                                                            \
    ANSWER(HEALTHZ, "healthz", "/healthz")                                                         \
    ANSWER(OTHER, "other", "") /* Any other path. */

/* Who answered, and with what: the labels of the counter of requests. */
#define HANDLER_ENUMERATOR(id, ...) SERVER_##id,
enum server_handler { PAGES(HANDLER_ENUMERATOR) ANSWERS(HANDLER_ENUMERATOR) SERVER_HANDLERS };

enum server_code {
    SERVER_200,
    SERVER_400,
    SERVER_404,
    SERVER_405,
    SERVER_413,
    SERVER_503,
    SERVER_CODES
};

extern const char *const server_handler_names[SERVER_HANDLERS];
extern const char *const server_code_names[SERVER_CODES];

struct site;

/*
 * Every page of the site, with the metrics at this path. NULL if the path cannot be one. It is
 * healthy while this heart beats (NULL: always), and not ready at first.
 */
struct site *site_new(const char *telemetry_path, struct snapshot *snapshot,
                      const struct heartbeat *heartbeat, struct error *err) MUST_USE;

/* NULL is fine. No thread may be answering any more. */
void site_free(struct site *s);

/* What libmicrohttpd keeps for a request of this URI, as it was sent, until it is answered. */
void *site_state(const char *uri);

/* Is this the first call for the request: are its headers complete just now? */
bool site_begins(void *const *state);

/*
 * Answer a request. Called when the headers are complete, which is when requests are
 * refused, then with each piece of a body, which is ignored, then once more.
 */
enum MHD_Result site_answer(struct site *s, struct MHD_Connection *connection, const char *path,
                            const char *method, void **state);

/* See server_set_ready(). */
void site_set_ready(struct site *s, bool ready, const char *text);
uint64_t site_requests(const struct site *s, enum server_handler handler, enum server_code code);
