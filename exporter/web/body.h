/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <microhttpd.h>

#include "exporter/web/segment.h"

/*
 * What answers carry: segments one after another, plain or gzipped. Each encoding is made when
 * somebody asks for it first and is kept. Large segments are sent, and were compressed, where they
 * are, for whatever body they are in; short ones in a row become one piece of the body's own, since
 * each by itself would compress badly.
 */
struct body;

/* Of these segments, which it holds from here on. One holder. */
struct body *body_new(struct segment *const *segments, size_t count) MUST_USE;

/* One holder more, or less: the last one frees it. Any thread may call them. NULL is fine. */
struct body *body_hold(struct body *b);
void body_drop(struct body *b);

/*
 * A response of the body, which holds it, with its Content-Encoding: gzipped if that is wanted and
 * smaller. Any thread may call it.
 */
struct MHD_Response *body_response(struct body *b, bool gzip, const char *content_type) MUST_USE;
