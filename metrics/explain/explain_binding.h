/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/parts.h"

/* All sections about a binding, into the open object. */
void explain_binding(struct explaining *x, const struct entry *binding);
