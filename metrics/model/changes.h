/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/decode.h"

/*
 * When a user last changed an object, from metadata.managedFields, in
 * milliseconds since the epoch; without usable entries the creation time, and 0
 * where even that is unknown.
 *
 * An entry of the status subresource, or one that owns nothing but status and
 * label or annotation keys containing ".karmada.io", is Karmada's own and does
 * not count (Karmada: ResourceChangeByKarmada). The label
 * namespace.karmada.io/skip-auto-propagation is a user's.
 */
int64_t user_changed_ms(struct decode *d, const cJSON *metadata);
