/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/yaml/yaml_events.h"

/* How much of a file is read into memory, and for how long. */
struct manifest_limits {
    /* Of the text of one YAML file, compressed. JSON is handed out object by object, unlimited. */
    size_t yaml_max_bytes;
    size_t object_max_bytes; /* Of one object, as JSON. */
    size_t nodes_max; /* Of one object of YAML, or of a list without its items, anchors expanded. */
    struct yaml_term term;
};
