/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * Which object a JSON text is about, where it cannot be parsed: it is cut off, too large, or not
 * valid. Looks at nothing but the names on the way to the metadata, and no further than their end.
 *
 * `event` says that the text is an event of a watch, and the object its member "object". Answers
 * {"metadata":{"name":...,"namespace":...,"resourceVersion":...}} with what there is, for the
 * caller to delete; NULL if the name cannot be told, or whether there is a namespace.
 */
cJSON *object_name_read(const char *json, size_t len, bool event) MUST_USE;
