/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/admission.h"

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
struct MHD_Response *response_borrowed(char *bytes, size_t len, const char *content_type,
                                       void (*release)(void *context), void *context) MUST_USE;

/* The same of pieces, whose list is copied. */
struct MHD_Response *response_of_pieces(const struct MHD_IoVec *pieces, unsigned count,
                                        const char *content_type, void (*release)(void *context),
                                        void *context) MUST_USE;

/* Returns a copy of a plain text, each line made safe for a terminal (output_safe()). */
struct MHD_Response *response_text(const char *text) MUST_USE;

void response_header(struct MHD_Response *response, const char *name, const char *value);

/*
 * Answer a request with it, with the headers that the admission adds, and where something is
 * unavailable (503) with when to ask again; it is released.
 */
enum MHD_Result response_send(struct admission *admission, struct MHD_Connection *connection,
                              unsigned status, struct MHD_Response *response);
