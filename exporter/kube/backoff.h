/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* How long to wait after a failure, in milliseconds, spread by a random number. */

/* An exponential delay, from one to two times as much, after so many in a row. */
int64_t backoff_ms(unsigned retries, uint32_t random);

/* Between two lists of a resource for whose stream there is no room. */
int64_t backoff_poll_ms(uint32_t random);

/* What it is at most once the server has answered somebody else. */
int64_t backoff_forgiven_ms(uint32_t random);
