/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * Objects of benchmarks as a kube-apiserver sends them. tests/bench/shapes has one file for each
 * shape; its README describes the placeholders. The generators in Go (tests/bench/replay) and in
 * Python (tests/bench/shapes.py) read the same files.
 */

/* Values of the placeholders of one object. */
struct shape_values {
    unsigned number;    /* Number of the template in the world. */
    unsigned namespace; /* Number of the namespace. */
    unsigned policy;    /* Number of the policy that governs the template. */
    unsigned group;     /* Value of the label that the policy selects. */
    unsigned spread;    /* Second member cluster of the placement. */
    unsigned generation;
    unsigned version; /* resourceVersion. */
    const char *kind;
    const char *lower_kind;
    const char *api_version;
    const char *cluster; /* First member cluster of the placement. */
    bool bound;          /* Karmada has claimed the template. */
    bool applied;        /* kubectl apply wrote the template. */
    bool evicted;        /* The binding has an eviction task for the first member cluster. */
};

/* Appends the shape with these values. Aborts if there is no such shape or placeholder. */
void shape_expand(struct strbuf *out, const char *shape, const struct shape_values *values);
