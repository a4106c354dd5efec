/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "metrics/base/base.h"
#include "metrics/base/strbuf.h"

/*
 * Checks of the method, the framing and the body of a request. libmicrohttpd accepts headers that a
 * proxy in front of it may read differently, which allows request smuggling: they are refused here.
 */
enum request_verdict {
    REQUEST_VALID,
    REQUEST_MALFORMED,     /* 400: Transfer-Encoding, or more than one Content-Length. */
    REQUEST_BAD_METHOD,    /* 405: a method that the rule does not allow. */
    REQUEST_UNWANTED_BODY, /* 413: a body, which the rule does not allow. */
    REQUEST_TOO_LARGE,     /* 413: a body that is longer than the rule allows. */
    REQUEST_BAD_MEDIA_TYPE /* 415: a body that is neither JSON nor YAML. */
};

/* Requests that a path allows. */
struct request_rule {
    const char *methods;  /* In the syntax of the header Allow. */
    uint64_t content_max; /* Maximum bytes of the body; 0: no body. */
};

/* Rules for reading, for actions such as a reload, and for manifests to be evaluated. */
extern const struct request_rule request_rule_read, request_rule_action, request_rule_manifests;

/* Checks the complete headers of a request against the rule. */
enum request_verdict request_rule_check(struct MHD_Connection *connection, const char *method,
                                        const struct request_rule *rule);

/* Returns true if Content-Type is JSON. Other bodies that request_rule_check() accepts are YAML. */
bool request_is_json(struct MHD_Connection *connection);

/* Returns the value of Content-Length; 0 without the header, UINT64_MAX for other than a number. */
uint64_t request_content_len(struct MHD_Connection *connection);

/*
 * Returns the values of all headers of this name, joined by commas; "" without the header and for
 * more than 1,024 bytes. The caller releases the result.
 */
struct strbuf request_header_values(struct MHD_Connection *connection, const char *name) MUST_USE;

/*
 * Checks of the head of a request (request line and headers) that libmicrohttpd 0.9.75 leaves out.
 * The library accepts NUL, folded lines and bare LF. A proxy in front of it may then find another
 * end of the request, and a client can hide a second request behind the first. In addition, the
 * library neither answers nor completes a request with arguments that exceed the memory of the
 * connection.
 *
 * The library parses a head in place: the method, target, version and headers that it reports point
 * into the received bytes, with NUL in place of each separator. A head is contiguous if these parts
 * follow each other without a gap. A gap contains bytes that the library has skipped or joined.
 */

enum {
    /* Bytes of a head, including the library's records of headers, cookies and arguments. */
    REQUEST_HEAD_MAX = 14 * 1024,
    /* The library's memory for a connection: the heads of a request and of its response. */
    CONNECTION_MEMORY_BYTES = 16 * 1024,
};

/* Target of a request line. All pointers point into the library's buffer. */
struct request_target {
    const char *start;
    size_t len;        /* Bytes up to the version, or up to a NUL. */
    char *query;       /* Text after the first '?'; NULL without a '?'. */
    char query_first;  /* First byte of the query, replaced by NUL in the buffer. */
    char hidden_first; /* Byte at `hidden`, replaced by NUL in the buffer. */
    char *hidden; /* If a query follows a NUL: address behind its first name. Otherwise NULL. */
    bool is_bad;  /* The target has a blank, a control character, or an escaped NUL. */
};

/*
 * Returns the target that the library passes to its MHD_OPTION_URI_LOG_CALLBACK. Hides the query
 * from the library; request_head_check() parses it.
 */
struct request_target request_target_split(const char *uri) MUST_USE;

/*
 * Replaces the escapes in a text, for MHD_OPTION_UNESCAPE_CALLBACK. Returns the new length. A text
 * other than the path belongs to a query behind a NUL, which request_target_split() has not found.
 * Then this function hides all arguments but the first from the library, and request_head_check()
 * refuses the head.
 */
size_t request_target_unescape(struct request_target *target, char *text);

/*
 * Checks a complete head, and adds the arguments of its query to the values of the connection,
 * unless the target `is_bad`. Returns 0, or the status to refuse the request with: 400 for a head
 * that is not contiguous, 431 for one above REQUEST_HEAD_MAX, 414 for arguments that do not fit.
 * With 0, `*malformed` is true if a header name is no token, a value has a control character, or
 * the head has several Host headers or (except in HTTP/1.0) no Host header.
 */
unsigned request_head_check(struct MHD_Connection *connection, const char *method,
                            const char *version, struct request_target *target,
                            bool *malformed) MUST_USE;

/*
 * Sends a response with this status directly to the socket, because the library may lack memory for
 * it. The caller then returns MHD_NO to the library, which closes the connection.
 */
void request_head_refuse(struct MHD_Connection *connection, unsigned status);

/*
 * Returns the path of a target, which may be an http or https URL (RFC 9112, 3.2.2): "/" for a URL
 * without a path. The host in the URL is ignored.
 */
const char *request_target_path(const char *target);
