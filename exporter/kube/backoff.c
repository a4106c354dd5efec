/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/backoff.h"

enum {
    DELAY_FIRST_MS = 800,
    DELAY_LAST_MS = 30 * 1000,
    DELAY_SHIFTS = 6,
    FORGIVEN_SPREAD_MS = 400,
    POLL_MS = 25 * 1000,
    POLL_SPREAD_MS = 10 * 1000,
};

int64_t backoff_ms(unsigned retries, uint32_t random)
{
    unsigned shifts = retries < DELAY_SHIFTS ? retries : DELAY_SHIFTS;
    uint32_t delay = (uint32_t)DELAY_FIRST_MS << shifts;

    if (delay > DELAY_LAST_MS)
        delay = DELAY_LAST_MS;
    return (int64_t)delay + random % delay;
}

int64_t backoff_poll_ms(uint32_t random)
{
    return POLL_MS + random % POLL_SPREAD_MS;
}

int64_t backoff_forgiven_ms(uint32_t random)
{
    return DELAY_FIRST_MS + random % FORGIVEN_SPREAD_MS;
}
