/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/api.h"

/* Reference of the API from the tables of endpoints and parameters: openapi.json and api.md. */

/* Response of an endpoint to a request. */
struct endpoint_response {
    unsigned status;
    const char *text; /* NULL for the summary of the endpoint. */
};

/*
 * Returns the next response of the endpoint, by status, and advances `at`, which is 0 at first;
 * NULL at the end.
 */
const struct endpoint_response *endpoint_next_response(const struct endpoint *endpoint, size_t *at);

/* Returns the media type of a response without error; NULL after the last. `at`: from 0. */
const char *endpoint_media_type(const struct endpoint *endpoint, unsigned at);

/* Returns the methods of an endpoint: "GET, HEAD". */
const char *endpoint_methods(const struct endpoint *endpoint);

/* Appends openapi.json. `external_url`: URL of the exporter; "" if unknown. */
void openapi_write(struct strbuf *out, const char *external_url);

/* Appends exporter/docs/api.md. */
void api_reference_add_markdown(struct strbuf *out);
