/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * RFC 3339 timestamps, as Kubernetes writes them, and milliseconds since the
 * epoch. Arithmetic only: no clock, no time zone of the machine.
 */

/*
 * Read "2026-01-31T23:59:59Z": an optional fraction, cut to milliseconds, and
 * "Z" or an offset such as "+02:00". As strict as the API server: every field
 * in range, "T" and "Z" in upper case, no leap second, nothing around it.
 * `out_ms` is untouched on failure.
 */
bool parse_timestamp(const char *rfc3339, int64_t *out_ms) MUST_USE;

/*
 * Milliseconds since the epoch as whole seconds: 0, as of an unknown time, where that is before it
 * or more than 32 bits of seconds after it, in 2106.
 */
uint32_t timestamp_seconds(int64_t ms);

/* Write UTC to the second, rounded down: "2026-01-31T23:59:59Z". */
void format_timestamp(int64_t ms, char out[static 32]);
