/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/* Change of one object by the overriders of one rule of an override policy. */

/* Reader and writer of YAML texts in fields, which the caller provides; see fieldOverrider. */
struct yaml_converter {
    /* Returns the first document of the text, owned by the caller; NULL with the reason. */
    cJSON *(*read)(const char *text, struct error *err);
    /* Returns a YAML text, owned by the caller. */
    char *(*write)(const cJSON *value);
};

enum overriders_result {
    OVERRIDERS_APPLIED,
    OVERRIDERS_FAILED,
    OVERRIDERS_PANICKED, /* Karmada's controller panics. */
};

/*
 * Applies spec.overrideRules[].overriders to the object `*object` (Karmada: applyPolicyOverriders):
 * images, command, args, labels, annotations, fields, then plaintext. May replace the root of the
 * tree. After a failure, `err` has the reason and the object may be changed partly. `yaml` may be
 * NULL: overriders of YAML fields then fail.
 */
enum overriders_result overriders_apply(const cJSON *overriders, cJSON **object,
                                        const struct yaml_converter *yaml, struct error *err);

/*
 * Returns the overriders as Karmada writes them into annotations of a Work: without unknown fields
 * and empty lists, with the value null where a patch has none. Owned by the caller.
 */
cJSON *overriders_normalize(const cJSON *overriders) MUST_USE;
