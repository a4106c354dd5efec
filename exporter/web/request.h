/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/strbuf.h"

/*
 * What a request must be before its path counts. libmicrohttpd accepts headers
 * that a proxy in front of it may read otherwise; that is how one request is
 * smuggled inside another, so they are refused here.
 */
enum request_verdict {
    REQUEST_FINE,
    REQUEST_MALFORMED,   /* 400 */
    REQUEST_METHOD,      /* 405: none of those that are allowed. */
    REQUEST_WITH_CONTENT /* 413: it carries a body, and we read none. */
};

/* Methods, as the header Allow has them. */
#define REQUEST_READS  "GET, HEAD"
#define REQUEST_ORDERS "POST, PUT"

/* `allowed` is one of these lists. */
enum request_verdict request_check(struct MHD_Connection *connection, const char *method,
                                   const char *allowed);

/* Does the URI, as it was sent, decode to one with a NUL inside? It would end the path early. */
bool request_uri_has_nul(const char *uri);

/*
 * The values of the headers of a name, joined by commas; "" for none, and where they are longer
 * than any client's. Release it.
 */
struct strbuf request_header(struct MHD_Connection *connection, const char *name) MUST_USE;
