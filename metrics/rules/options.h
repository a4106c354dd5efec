/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* The rules by which a template goes over to another policy (product contract 3.2). */
enum takeover { TAKEOVER_PREEMPTION, TAKEOVER_STATIC };

/* How Karmada is run, as far as the rules depend on it. Texts are borrowed. */
struct rules_options {
    enum takeover takeover;
    int64_t grace_ms;      /* Differences younger than this are not overdue yet. */
    size_t versions;       /* Kept of a policy, beside those that templates run. */
    int64_t lease_skew_ms; /* By how much clocks may differ before an expiry is past (lease.h). */
    /* Comma-separated regular expressions, each for a whole namespace; "" skips none. */
    const char *skipped_namespaces;
    /* As karmada-controller-manager's --skipped-propagating-apis; "" adds none. */
    const char *skipped_apis;
    /* As --feature-gates of Karmada's components (gates.h); NULL or "" for its defaults. */
    const char *feature_gates;
    /* The release of Karmada (release.h); NULL or "" for the newest. */
    const char *karmada_version;
};
