/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"

/*
 * Two settled engines held against each other: what a change of the objects
 * does to templates, to what runs in member clusters, and to conflicts. Both
 * engines outlive the comparison.
 */

enum template_change {
    CHANGE_ADDED,   /* The template is new. */
    CHANGE_REMOVED, /* The template is gone. */
    CHANGE_GAINED,  /* A policy governs it that did not before. */
    CHANGE_LOST,    /* No policy governs it any more. */
    CHANGE_MOVED,   /* Another policy governs it. */
    CHANGE_STALED,  /* The same policy, but its binding is out of date now. */
    CHANGE_STATE,   /* Another state or reason. */
    TEMPLATE_CHANGE_COUNT,
};
extern const char *const template_change_names[TEMPLATE_CHANGE_COUNT];

struct template_comparison {
    enum template_change change;
    const struct entry *before; /* NULL if added. */
    const struct entry *after;  /* NULL if removed. */
};

struct conflict_comparison {
    const struct entry *dependency; /* Of the engine in which it is in conflict. */
    enum dependency_field field;
    bool appears; /* Else it vanishes. */
};

/* What member clusters have now, and what they would have under the policies after the change. */
struct cluster_comparison {
    const char *name;
    int64_t replicas[2]; /* Before, after. */
    double cores[2];
    double memory_bytes[2];
};

struct comparison {
    struct template_comparison *templates; /* In the order of entry_compare. */
    size_t template_count;
    struct conflict_comparison *conflicts;
    size_t conflict_count;
    struct cluster_comparison *clusters; /* By name; those with the same before and after too. */
    size_t cluster_count;
    size_t undetermined; /* Templates whose place after the change only the scheduler knows. */
};

void comparison_make(const struct engine *before, const struct engine *after,
                     struct comparison *out);
void comparison_release(struct comparison *c);
