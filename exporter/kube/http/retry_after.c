/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/retry_after.h"

#include "metrics/base/number.h"

enum { RETRY_AFTER_MAX_S = 300 };

int64_t retry_after_ms(int64_t seconds)
{
    if (seconds <= 0)
        return 0;
    return (seconds < RETRY_AFTER_MAX_S ? seconds : RETRY_AFTER_MAX_S) * 1000;
}

int64_t retry_after_read(const char *header)
{
    uint64_t seconds;

    /* A number too large for 64 bits is nonsense too. */
    if (!header || !parse_uint(header, UINT32_MAX, &seconds))
        return 0;
    return retry_after_ms((int64_t)seconds);
}
