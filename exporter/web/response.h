/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/access_control.h"
#include "metrics/base/base.h"

/*
 * Makes libmicrohttpd's responses, with the headers that all of them carry, and sends them.
 * Each is for one request.
 */

/* The content type of plain text. */
#define RESPONSE_TEXT "text/plain; charset=utf-8"
#define RESPONSE_JSON "application/json"
/* Of pages for people; such a response also says that they have no script and no foreign part. */
#define RESPONSE_HTML "text/html; charset=utf-8"

/* A response of these bytes, which it owns from here on. */
struct MHD_Response *response_new(char *bytes, size_t len, const char *content_type) MUST_USE;

/* A response of bytes that stay until `release` is called with the context, by any thread. */
struct MHD_Response *response_new_borrowed(char *bytes, size_t len, const char *content_type,
                                           void (*release)(void *context), void *context) MUST_USE;

/* The same of pieces, whose list is copied. */
struct MHD_Response *response_new_pieces(const struct MHD_IoVec *pieces, unsigned count,
                                         const char *content_type, void (*release)(void *context),
                                         void *context) MUST_USE;

/* Returns a copy of a plain text, each line made safe for a terminal (output_safe()). */
struct MHD_Response *response_text(const char *text) MUST_USE;

void response_add_header(struct MHD_Response *response, const char *name, const char *value);

/*
 * Answer a request with it, with the headers that the admission adds, and where something is
 * unavailable (503) with when to ask again; it is released.
 */
enum MHD_Result response_send(struct access_control *access_control,
                              struct MHD_Connection *connection, unsigned status,
                              struct MHD_Response *response);

/*
 * May, and should, the answer be sent as gzip? `header` is the value of
 * Accept-Encoding, several of them joined by commas, or NULL. Names have no
 * case, "*" stands for what is not named, q=0 forbids, an entry with a malformed
 * weight is ignored, and where the client weighs "identity" higher it gets that.
 */
bool negotiate_gzip(const char *header);

/* The formats of metrics, and how their content types begin. */
enum metrics_format {
    METRICS_FORMAT_TEXT_0,
    METRICS_FORMAT_TEXT_1,
    METRICS_FORMAT_OPENMETRICS,
    METRICS_FORMAT_COUNT
};
extern const char *const metrics_format_types[METRICS_FORMAT_COUNT];

enum { METRICS_FORMAT_TYPE_MAX = 128 };

/*
 * The format that the client prefers, and its content type with the escaping scheme that the client
 * named for it (all names here are the same in each). `header` is the value of Accept, several
 * joined by commas, or NULL. Of equal weights the first wins; what it does not name, and what is
 * asked for by a wildcard, as browsers and curl do, is the oldest format: that is never refused.
 */
enum metrics_format negotiate_metrics_format(const char *header,
                                             char out_type[METRICS_FORMAT_TYPE_MAX]);

/*
 * Which of these media types, whose parameters do not count, the client weighs most; 0 where it
 * names none of them. Of equal weights the first that it names wins.
 */
size_t negotiate_media_type(const char *header, const char *const *types, size_t count);
