/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/policy_versions.h"

/* Who runs a version of a policy, and with how much of the member clusters. */
struct version_use {
    const struct policy_version *version;
    uint32_t templates;
    int64_t replicas;
    double cores;          /* What the replicas request. */
    double memory;         /* In bytes. */
    const char **clusters; /* By name, in byte order. */
    size_t cluster_count;
};

struct version_uses {
    struct version_use *items; /* Newest first; the unknown version last, if templates run it. */
    size_t count;
};

/* All known versions of a policy, of which the first is that of now; none without a history. */
struct version_uses version_uses_of(const struct entry *policy) MUST_USE;
void version_uses_release(struct version_uses *uses);
