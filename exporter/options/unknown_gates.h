/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/* `gate`: the name as messages show it (shown.h). `nearest`: the known gate whose name differs
 * least. */
typedef void unknown_gate_fn(void *context, const char *gate, const char *nearest);

/*
 * Calls `report` once for each name in a value of --karmada.feature-gates (gates_parse()) that is
 * not a feature gate of Karmada.
 */
void unknown_gates_each(const char *gates, unknown_gate_fn *report, void *context);
