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

/* Write UTC to the second, rounded down: "2026-01-31T23:59:59Z". */
void format_timestamp(int64_t ms, char out[static 32]);
