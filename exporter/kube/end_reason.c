/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/end_reason.h"

static const char *const reason_names[END_REASON_COUNT] = {
    [END_REGULAR] = "ended",       [END_SHORT] = "short",   [END_LOST] = "lost",
    [END_QUIET] = "quiet",         [END_BUSY] = "busy",     [END_UNAVAILABLE] = "unavailable",
    [END_GONE] = "gone",           [END_AHEAD] = "ahead",   [END_UNAUTHORIZED] = "unauthorized",
    [END_FORBIDDEN] = "forbidden", [END_ABSENT] = "absent", [END_UNACCEPTABLE] = "unacceptable",
    [END_REFUSED] = "refused",     [END_FAILED] = "failed", [END_MALFORMED] = "malformed",
    [END_RESTORED] = "restored",
};

const char *end_reason_name(enum end_reason reason)
{
    return reason_names[reason];
}
