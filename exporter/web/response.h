/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/base.h"

/*
 * Makes libmicrohttpd's responses, with the headers that all of them carry.
 * A response never changes once it was queued and may be queued any number of
 * times, by any thread; MHD_destroy_response() gives up the maker's reference.
 */

/* The content type of plain text. */
#define RESPONSE_TEXT "text/plain; charset=utf-8"

/* A response of these bytes, which it owns from here on. */
struct MHD_Response *response_new(char *bytes, size_t len, const char *content_type) MUST_USE;

/* A plain text that outlives the response. */
struct MHD_Response *response_text(const char *text) MUST_USE;

void response_header(struct MHD_Response *response, const char *name, const char *value);
