/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * An OverridePolicy or a ClusterOverridePolicy. Policies wait for the overrides
 * that they name, be they in force or being deleted: existence is all that counts.
 */
struct override {
    int64_t created_ms; /* 0 if unknown. */
};

void *override_decode(struct decode *d, const cJSON *json);
void override_release(struct intern *strings, void *object);
