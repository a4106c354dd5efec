/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <cjson/cJSON.h>

#include "metrics/base/base.h"

/*
 * Calls `each` with every parsed line of a gzipped file of JSON lines. Returns the number of lines.
 */
size_t lines_each(const char *path, void (*each)(const cJSON *line, void *context), void *context);
