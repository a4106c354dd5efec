/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* Which rules give a template to another policy (product contract 3.2). */
enum takeover { TAKEOVER_PREEMPTION, TAKEOVER_STATIC };

/* What the people who run Karmada decide about the rules. */
struct rules_options {
    enum takeover takeover;
    int64_t grace_ms;      /* Differences younger than this are not overdue yet. */
    int64_t lease_skew_ms; /* By how much clocks may differ before an expiry is past (lease.h). */
    /* Comma-separated regular expressions, each for a whole namespace; "" skips none. */
    const char *skipped_namespaces;
    /* As karmada-controller-manager's --skipped-propagating-apis; "" adds none. */
    const char *skipped_apis;
};
