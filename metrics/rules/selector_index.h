/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/selector.h"

/*
 * The selectors of all policies, filed under what a template must be for them
 * to match: namespace of the policy, apiVersion and kind, namespace, and then
 * the name, or a label that it must carry, or nothing. A template looks under
 * its own few keys and meets almost only policies that do select it, however
 * many there are.
 */
struct selector_index;

struct selector_index *selector_index_new(const struct store *store, uint64_t seed) MUST_USE;
void selector_index_free(struct selector_index *index);

/* File or take out all selectors of a policy; `policy` is its object now, or its old one. */
void selector_index_add(struct selector_index *index, struct entry *entry,
                        const struct policy *policy);
void selector_index_remove(struct selector_index *index, struct entry *entry,
                           const struct policy *policy);

/* A policy that selects a template by at least one selector. */
struct selection {
    struct entry *policy;
    enum selector_score score;
};

/*
 * The policies that select the template, each once with its best score, in no
 * particular order; exclusions and deletion are not looked at. Borrowed from
 * the index until the next call.
 */
const struct selection *selector_index_select(struct selector_index *index,
                                              const struct entry *template, size_t *out_count);

/* How many selectors, of policies in any namespace, name this apiVersion and kind (shared texts).
 */
size_t selector_index_type_count(const struct selector_index *index, const char *api_version,
                                 const char *kind);

/*
 * Walk over every apiVersion and kind that some selector names, in no order: start
 * with *at = 0; false at the end. Shared texts. The index may not change during the walk.
 */
bool selector_index_next_type(const struct selector_index *index, size_t *at,
                              const char **api_version, const char **kind);

/* Another number whenever that set has changed. */
uint64_t selector_index_types_version(const struct selector_index *index);
