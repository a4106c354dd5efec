/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/yaml_events.h"

/* How much of a file is read into memory, and for how long. */
struct manifest_limits {
    /* Compressed text of one YAML file. JSON is handed out object by object, without a limit. */
    size_t yaml_max_bytes;
    size_t object_max_bytes; /* One object as JSON. */
    size_t nodes_max; /* One YAML object, or a list without its items; anchors are expanded. */
    struct yaml_term term;
};
