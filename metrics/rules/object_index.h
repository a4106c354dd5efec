/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/rules/control_plane.h"

/*
 * References between objects by name: bindings and their templates, claims and their policies,
 * referrers, dependencies; and an index of entries by the object that they are about.
 */

/* ---- bindings and claims ---- */

/*
 * Stores the identity in a binding's spec.resource; the texts belong to `b`. Returns false if the
 * identity is incomplete, or its kind is not one of templates.
 */
bool binding_get_resource(const struct binding *b, struct identity *out);

/* Returns true if a binding has neither a placement nor referrers, so that it counts as absent. */
static inline bool binding_is_left_over(const struct binding *b)
{
    return !b->has_placement && binding_rare(b)->referrer_count == 0;
}

/*
 * Returns the entry of a binding's template, existing or not; NULL if the store has no entry, or
 * binding_get_resource() fails.
 */
struct entry *binding_template(const struct store *s, const struct binding *b);

/*
 * Observer of references: `changed` is called after a binding began or ceased to refer to
 * `template`. The callback must not change the store.
 */
struct bound_observer {
    void (*changed)(void *context, const struct identity *template);
    void *context;
};

/* Returns the identity of the binding in an element of spec.requiredBy; the texts belong to `r`. */
struct identity referrer_identity(const struct referrer *r);

/*
 * Returns the binding that refers to this template, which need not exist; NULL without one.
 * The binding has the name that Karmada derives (binding_name), its spec.resource is the template,
 * and it is not left over (binding_is_left_over). In contrast to template_binding(), the binding
 * may be in deletion, or belong to a deleted object of the same name.
 */
struct entry *binding_referring_to(const struct store *s, const struct identity *template);

/* Returns the entry of a claim's policy, existing or not; NULL if the store has no entry. */
struct entry *find_claim_policy(const struct store *s, const struct claim *claim);
/* Returns the entry of a claim's policy; adds it if the store has no entry (store_find_or_add). */
struct entry *find_or_add_claim_policy(struct store *s, const struct claim *claim);

/*
 * Returns the identity of the override policy in element `at` of dependentOverrides of a policy
 * that exists; the texts belong to `policy`.
 */
struct identity dependent_override_identity(const struct entry *policy, uint32_t at);

/* Returns true if the claim has the policy's kind, namespace and name; ignores the policy id. */
bool claim_names_policy(const struct claim *claim, const struct entry *policy);

/*
 * Returns true if claim_names_policy() and claim_policy_exists() hold for the claim and the policy.
 * `claim` may be NULL.
 */
bool claim_is_of_policy(const struct claim *claim, const struct entry *policy);

/*
 * Returns true if the policy selects the template and does not exclude it, or if the template was
 * not read (`unread`). Both must have an object.
 */
bool policy_selects_template(const struct entry *policy, const struct entry *template,
                             struct release_range release);

/*
 * Returns the identity of a template's binding; writes the binding's name to `name`. The texts
 * belong to `template` and `name`.
 */
struct identity identity_of_template_binding(const struct identity *template, struct strbuf *name);

/*
 * Returns true if the claim's policy `claimed`, which may be NULL, exists and has the claim's id. A
 * policy without an id, as in manifests, matches every id.
 */
bool claim_policy_exists(const struct claim *claim, const struct entry *claimed);

/*
 * Returns the binding of a template; NULL without a binding, or if it is in deletion. The binding
 * has the name that Karmada derives (binding_name), and its spec.resource is this template, also by
 * uid if both uids are known. If Karmada derives the same name for two templates, at most one of
 * them has a binding.
 */
struct entry *template_binding(const struct store *s, const struct entry *template);

/*
 * Returns true if an earlier binding of this template blocks the name of the template's binding.
 * The earlier binding is in deletion, or belongs to a deleted object of the same name (another
 * uid). Karmada creates no binding until the earlier one is gone.
 */
bool is_binding_name_blocked(const struct store *s, const struct entry *template);

/*
 * Appends the dependencies of a template, existing or not: the templates that its spec refers to by
 * name. If these are unknown (no object, only metadata, or an unknown kind), appends those that
 * Karmada has recorded on the binding `b`, which may be NULL. Returns false if both are unknown.
 * Adds missing entries to the store (store_find_or_add).
 *
 * References by label (the EndpointSlices of a ServiceImport) are omitted. Duplicates in Karmada's
 * record stay duplicates.
 */
bool list_template_dependencies(struct store *s, const struct entry *template,
                                const struct binding *b, struct entry_list *out);

/* ---- entries by subject ---- */

/*
 * The object, existing or not, that an entry is about: a Work's binding, an Event's template or
 * binding.
 */
struct subject {
    const char *kind;
    const char *ns; /* "" for a cluster-scoped object. */
    const char *name;
};

/* The entries about one object, in the order of entry_compare(). */
struct subject_group {
    struct subject subject;
    uint32_t count;
    uint32_t capacity;
    struct entry *entries[];
};

struct subject_index {
    struct map groups;
    uint64_t seed;
};

void subject_index_init(struct subject_index *index, uint64_t seed);
void subject_index_release(struct subject_index *index);

/*
 * Adds an entry that is not in the index, or removes an entry that was added with this subject. The
 * texts of the subject must be interned, and held by the entry until it is removed.
 */
void subject_index_add(struct subject_index *index, const struct subject *subject,
                       struct entry *entry);
void subject_index_remove(struct subject_index *index, const struct subject *subject,
                          struct entry *entry);

/*
 * Returns the entries about a subject, borrowed until the index changes; NULL without entries.
 * The texts of the subject need not be interned.
 */
const struct subject_group *subject_index_find(const struct subject_index *index,
                                               const struct subject *subject);
