/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/yaml_events.h"

/* How much of a file is read into memory. */
struct manifest_limits {
    size_t
        file_max_bytes; /* Of one YAML file; JSON is read object by object and has no such limit. */
    size_t object_max_bytes; /* Of one object. */
    size_t nodes_max;        /* Of one YAML document, anchors expanded. */
    struct yaml_term term;
};
