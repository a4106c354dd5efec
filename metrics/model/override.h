/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * An OverridePolicy or a ClusterOverridePolicy. Policies depend on whether the ones that they
 * name in dependentOverrides exist, and on nothing else of them.
 */
struct override {
    int64_t created_ms; /* 0 if unknown. */
};

/* As struct kind_def wants them. */
void *override_decode(struct decode *d, const cJSON *json);
void override_release(struct intern *strings, void *object);
