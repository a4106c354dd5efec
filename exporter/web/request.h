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
    REQUEST_MALFORMED,    /* 400 */
    REQUEST_METHOD,       /* 405: none of those that are allowed. */
    REQUEST_WITH_CONTENT, /* 413: it carries a body, and none is read. */
    REQUEST_TOO_LARGE,    /* 413: its body is above the ceiling. */
    REQUEST_MEDIA_TYPE    /* 415: its body is of no type that is read. */
};

/* What may be asked of a path. */
struct request_rule {
    const char *methods;  /* As the header Allow has them. */
    uint64_t content_max; /* Bytes of a body; 0: there must be none. */
};

/* To read, to have something done, and to have manifests looked at. */
extern const struct request_rule request_reads, request_orders, request_manifests;

enum request_verdict request_check(struct MHD_Connection *connection, const char *method,
                                   const struct request_rule *rule);

/* The body, which has passed the check, is JSON rather than YAML. */
bool request_is_json(struct MHD_Connection *connection);

/* How long the body is that its header announces; 0 without. */
uint64_t request_content_len(struct MHD_Connection *connection);

/*
 * The values of the headers of a name, joined by commas; "" for none, and where they are longer
 * than any client's. Release it.
 */
struct strbuf request_header(struct MHD_Connection *connection, const char *name) MUST_USE;
