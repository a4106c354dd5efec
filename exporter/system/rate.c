/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/rate.h"

bool rate_allow(struct rate *r, int64_t now_ns)
{
    int64_t from_ns = r->full_ns > now_ns ? r->full_ns : now_ns;

    if (r->interval_ns == 0)
        return true;
    /* Each token that was taken puts the time off by an interval, and `burst` of them is all. */
    if ((from_ns - now_ns + r->interval_ns - 1) / r->interval_ns >= r->burst)
        return false;
    r->full_ns = from_ns + r->interval_ns;
    return true;
}
