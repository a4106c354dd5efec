/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/rules/engine.h"

/*
 * Explanation of one template, policy or binding for users: its problems, its state, and the
 * reasons for it.
 */

/* Classes of objects that can be explained; bits by enum object_class. */
enum { EXPLAIN_CLASSES = 1U << CLASS_TEMPLATE | 1U << CLASS_POLICY | 1U << CLASS_BINDING };

/*
 * Adds the explanation of an object of a class in EXPLAIN_CLASSES to `x`, after a heading with its
 * name. The caller calls explanation_init() before and explanation_finish() after. The engine must
 * have no evaluation left to do: a user's next change of a template, or of a binding's template, is
 * simulated and undone, which invalidates pointers to decisions. `now_ms` is the time in
 * milliseconds since the epoch.
 */
void explain_object(struct engine *e, const struct entry *entry, int64_t now_ms,
                    struct explanation *x);
