/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"

/*
 * References between objects by name: bindings and their templates, claims and their policies,
 * referrers, dependencies; and an index of entries by the object that they are about.
 */

/* ---- bindings and claims ---- */

/*
 * Stores the object in a binding's spec.resource; the texts belong to `b`. Returns false if its
 * kind is not one of templates.
 */
bool binding_get_resource(const struct binding *b, struct identity *out);

/* Returns true if a binding has neither a placement nor referrers: it counts as absent. */
static inline bool binding_is_left_over(const struct binding *b)
{
    return !b->has_placement && b->referrer_count == 0;
}

/* Returns the template of a binding, existing or not; NULL if the store has no entry for it. */
struct entry *binding_template(const struct store *s, const struct binding *b);

/*
 * Observer of references: `changed` is called after a binding began or ceased to refer to a
 * template. It must not change the store.
 */
struct bound_observer {
    void (*changed)(void *context, const struct identity *template);
    void *context;
};

/* Returns the identity of the binding in an element of spec.requiredBy; the texts belong to `r`. */
struct identity referrer_identity(const struct referrer *r);

/*
 * Returns the binding that refers to a template, existing or not: the binding with the name that
 * Karmada derives from the template's name, if its spec.resource is the template and it is not left
 * over. The binding may be in deletion, or belong to an object of this name that was deleted since.
 * Returns NULL if there is no such binding.
 */
struct entry *binding_referring_to(const struct store *s, const struct identity *template);

/* Returns the policy of a claim; NULL if the store has no entry for it. */
struct entry *find_claim_policy(const struct store *s, const struct claim *claim);
/* Returns the policy of a claim; adds an entry to the store if it has none (store_find_or_add). */
struct entry *find_or_add_claim_policy(struct store *s, const struct claim *claim);

/*
 * Returns the identity of the override policy in element `at` of a policy's dependentOverrides; the
 * texts belong to `policy`.
 */
struct identity override_identity(const struct entry *policy, uint32_t at);

/* Returns true if the claim has the policy's kind, namespace and name; ignores the policy id. */
bool claim_names_policy(const struct claim *claim, const struct entry *policy);

/*
 * Returns true if the claim has the name and the id of this existing policy. `claim` may be NULL.
 */
bool claim_is_of_policy(const struct claim *claim, const struct entry *policy);

/* Returns true if the policy selects the template and does not exclude it. */
bool policy_selects_template(const struct entry *policy, const struct entry *template);

/*
 * Returns the identity of a template's binding; writes the binding's name to `name`. The texts
 * belong to `template` and `name`.
 */
struct identity identity_of_template_binding(const struct identity *template, struct strbuf *name);

/* Returns true if a claim's policy (`claimed`, may be NULL) exists and has the claim's id. */
bool claim_policy_exists(const struct claim *claim, const struct entry *claimed);

/*
 * Returns the binding of a template: the binding with the name that Karmada gives it
 * (binding_name), if its spec.resource is this template, compared by uid too if both uids are
 * known. Returns NULL otherwise, and if the binding is being deleted. If the bindings of two
 * templates have the same name, only one of the templates has it.
 */
struct entry *template_binding(const struct store *s, const struct entry *template);

/*
 * Returns true if another binding blocks the name of the template's binding: a binding in deletion,
 * or the binding of an object of the template's name that was deleted since (another uid). Karmada
 * creates no binding until the other one is gone.
 */
bool is_binding_name_blocked(const struct store *s, const struct entry *template);

/*
 * Appends the dependencies of a template, existing or not: the objects that its spec refers to. If
 * these are unknown (only metadata was read, or the kind is unknown), appends the dependencies that
 * Karmada has recorded on the binding `b`, which may be NULL. Adds missing entries to the store
 * (store_find_or_add). Returns false if the dependencies are unknown.
 *
 * Karmada creates attached bindings for existing dependencies, one level deep. References by label
 * (the EndpointSlices of a ServiceImport) are omitted: they have no name. Duplicates in Karmada's
 * record stay duplicates.
 */
bool list_template_dependencies(struct store *s, const struct entry *template,
                                const struct binding *b, struct entry_list *out);

/* ---- entries by subject ---- */

/* The object, existing or not, that an entry is about: a Work's binding, an Event's template. */
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
 * Adds an entry that is not in the index, or removes one that was added with this subject. The
 * texts of the subject must be interned and belong to the entry until it is removed.
 */
void subject_index_add(struct subject_index *index, const struct subject *subject,
                       struct entry *entry);
void subject_index_remove(struct subject_index *index, const struct subject *subject,
                          struct entry *entry);

/*
 * Returns the entries about a subject, borrowed until the index changes; NULL if there are none.
 * The texts of the subject need not be interned.
 */
const struct subject_group *subject_index_find(const struct subject_index *index,
                                               const struct subject *subject);
