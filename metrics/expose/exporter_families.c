/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/exporter_families.h"

#include "metrics/expose/family.h"

/* No bound is a whole number, because OpenMetrics requires "1.0" where the text format has "1". */
static const double duration_buckets[] = {0.00001, 0.0001, 0.0005, 0.001, 0.0025,
                                          0.005,   0.01,   0.025,  0.1,   0.5};

static const double lag_buckets[] = {0.005, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 1.5, 2.5, 7.5};

#define OWN_ROW(own_id, own_type, own_name, words, ...)                                            \
    [own_id] = {.name = (own_name),                                                                \
                .type = (own_type),                                                                \
                .help = (words),                                                                   \
                .aggregation = AGGREGATE_NONE,                                                     \
                __VA_ARGS__},

static const struct family_def families[] = {OWN_FAMILIES(OWN_ROW)};
const struct family_group own_families = {families, ARRAY_LEN(families)};
