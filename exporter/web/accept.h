/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * May, and should, the answer be sent as gzip? `header` is the value of
 * Accept-Encoding, several of them joined by commas, or NULL. Names have no
 * case, "*" stands for what is not named, q=0 forbids, an entry with a malformed
 * weight is ignored, and where the client weighs "identity" higher it gets that.
 */
bool accept_gzip(const char *header);

/* The formats of metrics, and how their content types begin. */
enum media { MEDIA_TEXT_0, MEDIA_TEXT_1, MEDIA_OPENMETRICS, MEDIA_COUNT };
extern const char *const media_types[MEDIA_COUNT];

enum { MEDIA_TYPE_MAX = 128 };

/*
 * The format that the client prefers, and its content type with the escaping scheme that the client
 * named for it (all names here are the same in each). `header` is the value of Accept, several
 * joined by commas, or NULL. Of equal weights the first wins; what it does not name, and what is
 * asked for by a wildcard, as browsers and curl do, is the oldest format: that is never refused.
 */
enum media accept_media(const char *header, char out_type[MEDIA_TYPE_MAX]);

/*
 * Which of these media types, whose parameters do not count, the client weighs most; 0 where it
 * names none of them. Of equal weights the first that it names wins.
 */
size_t accept_type(const char *header, const char *const *types, size_t count);
