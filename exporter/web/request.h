/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/base.h"
#include "metrics/base/strbuf.h"

/*
 * What a request must be before its path counts. libmicrohttpd accepts headers
 * that a proxy in front of it may read otherwise; that is how one request is
 * smuggled inside another, so they are refused here.
 */
enum request_verdict {
    REQUEST_VALID,
    REQUEST_MALFORMED,     /* 400 */
    REQUEST_BAD_METHOD,    /* 405: none of those that are allowed. */
    REQUEST_UNWANTED_BODY, /* 413: it carries a body, and none is read. */
    REQUEST_TOO_LARGE,     /* 413: its body is above the ceiling. */
    REQUEST_BAD_MEDIA_TYPE /* 415: its body is of no type that is read. */
};

/* What may be asked of a path. */
struct request_rule {
    const char *methods;  /* As the header Allow has them. */
    uint64_t content_max; /* Bytes of a body; 0: there must be none. */
};

/* To read, to have something done, and to have manifests looked at. */
extern const struct request_rule request_rule_read, request_rule_action, request_rule_manifests;

enum request_verdict request_rule_check(struct MHD_Connection *connection, const char *method,
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

/*
 * Checks of a request's head that libmicrohttpd 0.9.75 leaves out. The library accepts NUL, folded
 * lines and bare LF, and reads another length than a proxy in front of it: a client can then hide a
 * second request behind the first. And it neither answers nor completes a request whose arguments
 * do not fit in the memory of the connection.
 *
 * The library parses a head in place. Its method, target, version and headers point into the bytes
 * that were received, with NUL in place of each separator. A head is whole if these parts follow
 * each other without a gap: a gap holds bytes that the library has skipped or joined.
 */

enum {
    /* Bytes of a head with the library's records of its headers, cookies and arguments. */
    REQUEST_HEAD_MAX = 14 * 1024,
    /* The library's memory for a connection: a head, and the head of its answer. */
    CONNECTION_MEMORY_BYTES = 16 * 1024,
};

/* The target of a request line, in the library's buffer. */
struct request_target {
    const char *start;
    size_t len;           /* Bytes up to the version, or up to a NUL. */
    char *query;          /* Begins behind the '?'; NULL without a '?'. */
    char query_first;     /* First byte of the query, which the library finds empty. */
    char overtaken_first; /* First byte at `overtaken`. */
    char *overtaken;      /* Behind the first name of a query that follows a NUL; else NULL. */
    bool is_bad;          /* The target has a blank, a control character, or an escaped NUL. */
};

/*
 * Returns the target that the library passes to its MHD_OPTION_URI_LOG_CALLBACK. Hides the query
 * from the library, which would parse it: request_head_check() does.
 */
struct request_target request_target_split(const char *uri) MUST_USE;

/*
 * Replaces the escapes in a text; for MHD_OPTION_UNESCAPE_CALLBACK. Returns its new length. A text
 * other than the path belongs to a query behind a NUL, which request_target_split() has not found:
 * hides all of it but the first argument from the library. request_head_check() refuses such a
 * head.
 */
size_t request_target_unescape(struct request_target *target, char *text);

/*
 * Checks the head of a request, when it is complete, and adds the arguments of its query to the
 * connection's values. Returns 0, or the status to refuse the request with: 400 for a head that is
 * not whole, 414 for too many arguments, 431 for too many or too long headers. `*malformed` is true
 * if the head is whole, yet wrong: a name that is no token, a control character, no Host.
 */
unsigned request_head_check(struct MHD_Connection *connection, const char *method,
                            const char *version, struct request_target *target,
                            bool *malformed) MUST_USE;

/*
 * Refuses a request without the library, which may lack memory for an answer. The caller closes the
 * connection, by answering MHD_NO to the library.
 */
void request_head_refuse(struct MHD_Connection *connection, unsigned status);

/*
 * Returns the path of a target, which may be a whole URL (RFC 9112, 3.2.2). The host in it is not
 * compared.
 */
const char *request_target_path(const char *target);
