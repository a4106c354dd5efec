/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/base.h"

/* Call `each` with every line of a gzipped file of JSON lines, parsed. How many lines there were.
 */
size_t lines_each(const char *path, void (*each)(const cJSON *line, void *context), void *context);
