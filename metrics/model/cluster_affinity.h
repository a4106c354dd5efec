/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/labels.h"

/* Which member clusters are meant (Karmada: ClusterAffinity). All that is set must hold. */
struct cluster_affinity {
    struct label_selector *labels; /* NULL if absent; so are the next two. */
    struct label_selector *fields; /* The requirements of fieldSelector but for those on zones, */
    struct label_selector *zones;  /* which are apart because a cluster has several zones. */
    const char **names;
    const char **exclude;
    uint32_t name_count;
    uint32_t exclude_count;
    bool never; /* An operator on zones is unknown: no cluster is meant. */
};

/*
 * Read an affinity, which `json` is and which stands at `path`; NULL is an empty one, which means
 * all clusters. Release it also after a failure.
 */
void cluster_affinity_decode(struct decode *d, const cJSON *json, const char *path,
                             struct cluster_affinity *out);
void cluster_affinity_release(struct intern *strings, struct cluster_affinity *affinity);
