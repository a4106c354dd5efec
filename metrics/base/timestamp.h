/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Conversion between RFC 3339 timestamps, as in Kubernetes objects, and milliseconds since the
 * epoch, independent of the machine's clock and time zone.
 */

/*
 * Parses "2026-01-31T23:59:59Z", with an optional fraction, which is cut to milliseconds, and "Z"
 * or an offset such as "+02:00". Every field must be in range, "T" and "Z" in upper case; leap
 * seconds and other text are not valid. Leaves `out_ms` unchanged on failure.
 */
bool parse_timestamp(const char *rfc3339, int64_t *out_ms) MUST_USE;

/* Converts milliseconds since the epoch to seconds; 0 (unknown) if negative or above 32 bits. */
uint32_t timestamp_seconds(int64_t ms);

/* Formats a time in UTC, rounded down to seconds: "2026-01-31T23:59:59Z". */
void format_timestamp(int64_t ms, char out[static 32]);
