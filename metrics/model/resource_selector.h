/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/labels.h"

/*
 * An element of resourceSelectors or excludedResources, of whatever kind of policy. Shared texts,
 * NULL for what is not set.
 */
struct resource_selector {
    const char *api_version;
    const char *kind;
    const char *ns;
    const char *name;
    struct label_selector *labels;
};

/* The array `spec.key`; NULL if empty. Release it also after a failure. */
struct resource_selector *resource_selectors_decode(struct decode *d, const cJSON *spec,
                                                    const char *key, uint32_t *count);
void resource_selectors_release(struct intern *strings, struct resource_selector *selectors,
                                uint32_t count);

/* True if two lists of `count` selectors say the same in the same order; of one store. */
bool resource_selectors_equal(const struct resource_selector *a, const struct resource_selector *b,
                              uint32_t count);
