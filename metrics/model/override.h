/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * An OverridePolicy or a ClusterOverridePolicy. Policies depend on whether the ones that they
 * name in dependentOverrides exist; that one failed counts until it is changed. Nothing else of
 * them is looked at.
 */
struct override {
    int64_t created_ms; /* 0 if unknown, as is the next. */
    int64_t changed_ms; /* Last change of the spec. */
};

/* As struct kind_def wants them. */
void *override_decode(struct decode *d, const cJSON *json);
void override_release(struct intern *strings, void *object);
