/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector.h"

/* What is followed beside the templates. To follow another resource, add a row in followed.c. */

/* Followed whatever the policies say. */
struct fixed_kind {
    const char *api_version;
    const char *kind;
    const char *resource;
    const char *field_selector;
    bool namespaced;
    bool required; /* Without it nothing could be said. */
    bool unscoped; /* Concerns every namespace. */
};

enum { FIXED_KIND_COUNT = 8 };
extern const struct fixed_kind fixed_kinds[FIXED_KIND_COUNT];

/* Followed as soon as a policy selects a kind of Config Connector. */
enum { SETTING_COUNT = 2 };
extern const struct reflector_spec setting_specs[SETTING_COUNT];
