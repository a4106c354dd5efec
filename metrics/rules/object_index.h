/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/map.h"
#include "metrics/model/binding.h"
#include "metrics/model/store.h"

/* Which entry an object means when it refers to another one by name. */

/* What spec.resource of a binding names, with the binding's texts. False if it is no template. */
bool binding_resource(const struct binding *b, struct identity *out);

/* True if no policy has made it, and nobody requires it any more: it counts as none. */
static inline bool is_left_over(const struct binding *b)
{
    return !b->has_placement && b->referrer_count == 0;
}

/* The template of a binding, existing or not; NULL if the store has no entry of it. */
struct entry *binding_template(const struct store *s, const struct binding *b);

/*
 * `changed` is called after a binding began to refer to a template, or ceased to; from a change
 * of the store, so that it must not change anything there.
 */
struct bound_observer {
    void (*changed)(void *context, const struct identity *template);
    void *context;
};

/* The binding that an element of spec.requiredBy names, with the referrer's texts. */
struct identity referrer_identity(const struct referrer *r);

/*
 * The binding that refers to a template, existing or not: it has the name that Karmada makes of
 * the template's, names it in spec.resource and is not left over; that it may be a namesake's or
 * is being deleted is not asked. NULL if none.
 */
struct entry *binding_referring_to(const struct store *s, const struct identity *template);

/* The policy of a claim; NULL if the store has no entry of it. */
struct entry *find_claim_policy(const struct store *s, const struct claim *claim);
/* The policy of a claim; the entry is made if the store has none (store_refer). */
struct entry *claim_policy(struct store *s, const struct claim *claim);

/* What the element `at` of a policy's dependentOverrides names, with the policy's texts. */
struct identity override_identity(const struct entry *policy, uint32_t at);

/* True if the claim names this policy, whatever its id. */
bool claim_names(const struct claim *claim, const struct entry *policy);

/* True if it is the claim of this policy, which exists: its name, and its id. Takes NULL. */
bool claim_is_of(const struct claim *claim, const struct entry *policy);

/* True if the policy has the template among those that it selects, and does not exclude it. */
bool policy_selects(const struct entry *policy, const struct entry *template);

/*
 * The identity of the binding that Karmada makes for a template (binding_name), with the texts of
 * `template` and of `name`.
 */
struct identity binding_identity(const struct identity *template, struct strbuf *name);

/*
 * True if the policy of a claim exists and has the id of the claim. `claimed` is what
 * claim_policy() answered, or NULL.
 */
bool claim_holds(const struct claim *claim, const struct entry *claimed);

/*
 * The binding of a template: the one that has the name which Karmada makes (binding_name), if it
 * exists and its spec.resource is this very template, by its uid where both are known; else NULL.
 * Of two templates whose bindings would have the same name only one has it. A binding that is
 * being deleted is none.
 */
struct entry *template_binding(const struct store *s, const struct entry *template);

/*
 * True if the template has no binding because one keeps its name: that of a deleted object of the
 * template's name, or one that is being deleted. Karmada makes none before that is gone.
 */
bool binding_in_the_way(const struct store *s, const struct entry *template);

/*
 * Append the objects that a template needs to run, existing or not: what its spec refers to or, of
 * a template whose references are unknown (only its metadata was read, or nobody here knows its
 * kind), what Karmada has noted on its binding `b`, NULL if it has none. Entries are made where the
 * store has none (store_refer). False if neither is known.
 *
 * Karmada makes attached bindings of these where they exist, one level deep. What is referred to
 * by label (the EndpointSlices of a ServiceImport) is left out: it has no name. What Karmada noted
 * twice comes twice.
 */
bool template_dependencies(struct store *s, const struct entry *template, const struct binding *b,
                           struct entry_list *out);

/*
 * Finds the entries that are about an object by that object's name, be it in the store or not: the
 * Works of a binding, the events about a template.
 */
struct subject {
    const char *kind;
    const char *ns; /* "" for what is cluster-scoped. */
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
 * Put an entry in that is not in it, or remove one that was put in with this subject. The texts
 * are shared, and what the entry keeps for as long as it is in: equal ones are one pointer.
 */
void subject_index_add(struct subject_index *index, const struct subject *subject,
                       struct entry *entry);
void subject_index_remove(struct subject_index *index, const struct subject *subject,
                          struct entry *entry);

/* NULL if there is none. Any texts; the answer is valid until the index changes. */
const struct subject_group *subject_index_find(const struct subject_index *index,
                                               const struct subject *subject);
