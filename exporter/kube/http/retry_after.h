/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * How long a server asks us to wait, in milliseconds: at most five minutes, whatever it
 * says; 0 for nothing, the past and nonsense.
 */
int64_t retry_after_ms(int64_t seconds);

/* The same from a Retry-After header (NULL: none). Dates, which no API server sends, count as 0. */
int64_t retry_after_read(const char *header);
