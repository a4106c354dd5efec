/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/json.h"

/*
 * Lists of objects. As for kubectl, an object with an array `items` is a list,
 * whatever its kind. Items of a typed list ("DeploymentList") that have neither
 * apiVersion nor kind inherit the list's.
 */

/* The kind that such items inherit, or "". Points into `list_kind`'s first `*len` bytes. */
const char *list_item_kind(const char *list_kind, size_t *len);

/* True for an object with neither apiVersion nor kind. */
bool list_item_inherits(const cJSON *item);

/* Give it those of its list. Nothing happens for other items, or if the list has none to give. */
void list_item_complete(cJSON *item, const char *list_api_version, const char *list_kind);

/*
 * Call `each` for the document, or if it is a list for each of its items, lists
 * in lists included. An item's line is its own if it has one (yaml_line), else
 * `line`.
 */
typedef void list_each_fn(void *context, cJSON *object, size_t line);
void list_each(cJSON *document, size_t line, list_each_fn *each, void *context);
