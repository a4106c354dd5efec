/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/access_control.h"
#include "metrics/base/base.h"

/*
 * Responses of libmicrohttpd with the headers that all of them have. A response has one reference,
 * which response_send() drops. All functions may be called on any thread.
 */

#define RESPONSE_TEXT "text/plain; charset=utf-8"
#define RESPONSE_JSON "application/json"
/* HTML pages; their Content-Security-Policy allows the style sheet and forms of this server. */
#define RESPONSE_HTML "text/html; charset=utf-8"

/* Returns a response that takes ownership of the bytes. */
struct MHD_Response *response_new(char *bytes, size_t len, const char *content_type) MUST_USE;

/*
 * Returns a response with borrowed bytes. `release` is called with `context`, on any thread, when
 * the bytes are no longer used.
 */
struct MHD_Response *response_new_borrowed(char *bytes, size_t len, const char *content_type,
                                           void (*release)(void *context), void *context) MUST_USE;

/*
 * Returns a response with several pieces of borrowed bytes. The array is copied. `release` is
 * called with `context`, on any thread, when the bytes are no longer used.
 */
struct MHD_Response *response_new_pieces(const struct MHD_IoVec *pieces, unsigned count,
                                         const char *content_type, void (*release)(void *context),
                                         void *context) MUST_USE;

/* Returns a response with a copy of the text, safe for a terminal and cut at 1 MiB. */
struct MHD_Response *response_text(const char *text) MUST_USE;

void response_add_header(struct MHD_Response *response, const char *name, const char *value);

/*
 * Queues the response for the connection and drops the caller's reference. Sets the configured
 * headers of the access control (NULL: no headers), and Retry-After for status 503. Returns the
 * result of MHD_queue_response().
 */
enum MHD_Result response_send(struct access_control *access_control,
                              struct MHD_Connection *connection, unsigned status,
                              struct MHD_Response *response);

/*
 * Content negotiation (RFC 9110, 12.5). `header` holds the values of a header, joined by commas, or
 * is NULL. Case is ignored. Elements with a malformed weight are ignored.
 */

/*
 * Returns true if the client accepts gzip ("gzip", "x-gzip" or "*", with a weight above 0) and does
 * not weigh "identity" higher. `header`: Accept-Encoding.
 */
bool negotiate_gzip(const char *header);

/* Formats of metrics, with their content types. */
enum metrics_format {
    METRICS_FORMAT_TEXT_0,
    METRICS_FORMAT_TEXT_1,
    METRICS_FORMAT_OPENMETRICS,
    METRICS_FORMAT_COUNT
};
extern const char *const metrics_format_types[METRICS_FORMAT_COUNT];

enum { METRICS_FORMAT_TYPE_MAX = 128 };

/*
 * Returns the format with the highest weight, the first one of equal weights. Wildcards count as
 * METRICS_FORMAT_TEXT_0, which is also the default. Writes the content type; for other formats it
 * has the escaping scheme that the client requests, if known, because all schemes leave the names
 * of the metrics as they are. `header`: Accept.
 */
enum metrics_format negotiate_metrics_format(const char *header,
                                             char out_type[METRICS_FORMAT_TYPE_MAX]);

/*
 * Returns the index of the media type with the highest weight, the first one in the header of equal
 * weights; 0 if the header accepts no type of the list by name. Ignores wildcards, and parameters
 * except the weight. `header`: Accept.
 */
size_t negotiate_media_type(const char *header, const char *const *types, size_t count);
