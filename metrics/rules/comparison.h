/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/engine.h"

/*
 * The difference between two engines in which nothing is left to evaluate: what a change of the
 * objects does to templates, to what runs in member clusters, and to conflicts. Both engines
 * must outlive the comparison.
 */

enum template_change {
    CHANGE_ADDED,    /* The template is new. */
    CHANGE_REMOVED,  /* The template is gone. */
    CHANGE_GAINED,   /* A policy governs it that did not before. */
    CHANGE_LOST,     /* No policy governs it any more. */
    CHANGE_MOVED,    /* Another policy governs it. */
    CHANGE_OUTDATED, /* The same policy governs, but the binding is out of date now. */
    CHANGE_STATE,    /* The state or its reason changes. */
    TEMPLATE_CHANGE_COUNT,
};
/* As in JSON. */
extern const char *const template_change_names[TEMPLATE_CHANGE_COUNT];

struct template_comparison {
    enum template_change change;
    const struct entry *before; /* NULL if added. */
    const struct entry *after;  /* NULL if removed. */
};

struct conflict_comparison {
    const struct entry *dependency; /* In the engine in which it is in conflict. */
    enum dependency_field field;
    bool appears; /* The change causes the conflict; false: it resolves it. */
};

/* What a member cluster has now, and what it would have once the policies are applied. */
struct cluster_comparison {
    const char *name;
    int64_t replicas[2]; /* Before, after. */
    double cores[2];
    double memory_bytes[2];
};

struct comparison {
    struct template_comparison *templates; /* Those that differ, in the order of entry_compare. */
    size_t template_count;
    struct conflict_comparison *conflicts;
    size_t conflict_count;
    struct cluster_comparison *clusters; /* All that have or get replicas, by name. */
    size_t cluster_count;
    size_t undetermined; /* Templates whose clusters after the change only the scheduler knows. */
};

/* Release it with comparison_release(). */
void comparison_make(const struct engine *before, const struct engine *after,
                     struct comparison *out);
void comparison_release(struct comparison *c);
