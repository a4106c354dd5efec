/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/web/config.h"
#include "exporter/yaml/document.h"

/* A walk over the mappings of a web configuration, which reports a fault with its place. */

/* A document whose values are being set in a configuration. */
struct reading {
    const char *path;
    yaml_document_t *document;
    struct web_config *config;
    bool placed; /* The error has its place already: that of what is innermost. */
};

/* Each key of a mapping with its value. */
typedef bool pair_fn(struct reading *r, const char *key, const yaml_node_t *value,
                     const void *context, struct error *err);

/* False, and the error has its place, at the first that is a fault or that `see` refuses. A mapping
 * that is null has no keys; one with more than `most` is a fault. */
bool walk_pairs(struct reading *r, const yaml_node_t *mapping, size_t most, pair_fn *see,
                const void *context, struct error *err) MUST_USE;

/* Is it nothing? A key without a value is as if it were not there. */
bool walk_is_null(const yaml_node_t *node);
