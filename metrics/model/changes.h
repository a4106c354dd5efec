/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * When a user last changed an object, from metadata.managedFields, in
 * milliseconds since the epoch; 0 where that is unknown. An object that nobody
 * but Karmada changed since, or whose generation is still 1, was last changed
 * when it was created. Without managedFields a later change leaves no time behind:
 * then nothing is said rather than something older than the truth.
 *
 * An entry of the status subresource, or one that owns nothing but status and
 * label or annotation keys containing ".karmada.io", is Karmada's own and does
 * not count (Karmada: ResourceChangeByKarmada). The label
 * namespace.karmada.io/skip-auto-propagation is a user's.
 */
int64_t user_changed_ms(struct decode *d, const cJSON *metadata);
