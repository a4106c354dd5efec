/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/projection.h"

/* What stands about a template at one moment: as far as people ask before a change. */
struct outcome {
    bool exists; /* All else is zero if not. */
    enum template_state state;
    unsigned reason;
    /* The policy that holds it (its claim), else the one that would; NULL if none. Pinned: one that
     * does not exist is there for who refers to it alone. */
    struct entry *policy;
    struct target_cluster *clusters; /* Of its own binding, by name. Shared texts, borrowed. */
    uint32_t cluster_count;
    enum undetermined_reason undetermined; /* UNDETERMINED_REASON_COUNT: the clusters are known. */
    const struct binding *binding;         /* Its own; NULL if there is none. Borrowed. */
};

/* Read it from a template's decision. What it borrows lives as long as those objects do. */
void outcome_read(const struct entry *template, struct outcome *out);
void outcome_release(struct outcome *o, struct store *store);

/* True if both have the same clusters with the same replicas, as far as those are known. */
bool outcome_same_clusters(const struct outcome *a, const struct outcome *b);
/* Bits by enum drift_field: in what their bindings differ of what policies say. */
unsigned outcome_fields(const struct outcome *a, const struct outcome *b);
/* True if nothing differs that people see. */
bool outcome_equal(const struct outcome *a, const struct outcome *b);
