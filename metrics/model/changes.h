/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * When a user last changed an object, from metadata.managedFields, in milliseconds since the
 * epoch; 0 if unknown. An object that only Karmada has changed, or whose generation is 1, was
 * last changed when it was created. Without managedFields the time of a later change is unknown:
 * the time of creation would be too old.
 *
 * An element for the status subresource, or one that owns nothing but status and keys of labels
 * or annotations that contain ".karmada.io", is Karmada's and does not count (Karmada:
 * ResourceChangeByKarmada). The label namespace.karmada.io/skip-auto-propagation is a user's.
 */
int64_t user_changed_ms(struct decode *d, const cJSON *metadata);
