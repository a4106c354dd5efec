/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/explain/explanation.h"
#include "metrics/rules/engine.h"

/*
 * Explanation of one object for users. Of a template, policy or binding: its problems, its state,
 * and the reasons for it. Of override policies, member clusters and namespaces: their facts.
 */

/* Classes of objects that can be explained; bits by enum object_class. */
enum {
    EXPLAIN_CLASSES = 1U << CLASS_TEMPLATE | 1U << CLASS_POLICY | 1U << CLASS_BINDING |
                      1U << CLASS_OVERRIDE | 1U << CLASS_CLUSTER
};

/*
 * Adds the explanation of an object of a class in EXPLAIN_CLASSES to `x`, after a heading with its
 * name. The caller calls explanation_init() before and explanation_finish() after. The engine must
 * have no evaluation left to do: a user's next change of a template, or of a binding's template, is
 * simulated and undone, which invalidates pointers to decisions. `now_ms` is the time in
 * milliseconds since the epoch.
 */
void explain_object(struct engine *e, const struct entry *entry, int64_t now_ms,
                    struct explanation *x);

/*
 * Adds the explanation of a namespace, like explain_object(): the problems of its objects, its
 * templates by state, and the policies that govern them; then the decision about the Namespace
 * itself, if it is a template. Returns false if nothing of the namespace is known.
 */
bool explain_namespace(struct engine *e, const char *ns, int64_t now_ms, struct explanation *x);
