/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/gates.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/incomplete.h"

/*
 * The number that Karmada copies into bindings for a policy's schedulePriority (Karmada: behind
 * the gate PriorityBasedScheduling, ApplyPolicy reads the PriorityClass that it names). A store
 * without any PriorityClass is one that could not read them: every API server has some.
 */

/* Append what was looked at to `reads`. */
struct priority priority_of(struct store *store, gate_set gates, const struct policy *policy,
                            struct entry_list *reads);

/* True if PriorityClasses have not been read: one that is missing may exist. */
bool priority_classes_incomplete(const struct incomplete *i);

/*
 * A template or a setting has changed: mark the policies that name it, if it is a PriorityClass;
 * all of them if it is the first one, or was the last.
 */
void priority_changed(const struct store *store, struct graph *graph, const struct entry *entry,
                      const void *old);

/* True if a binding has the number, none counting as 0. `text` is its schedulePriority. */
bool priority_is(const char *text, int32_t value);
