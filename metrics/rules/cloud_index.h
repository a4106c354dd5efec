/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"

/*
 * Matches resources of Config Connector with leases from an inventory of the cloud (seed 004), and
 * compares their names. The index finds the lease of a resource, and the resources that a lease may
 * concern, by a hash of name and container (project, folder or organization), without a search over
 * all leases.
 */
struct cloud_index;

struct cloud_index *cloud_index_new(uint64_t seed) MUST_USE;
/* Frees the index; NULL is allowed. */
void cloud_index_free(struct cloud_index *x);

/* Adds a lease, which must not be in the index yet, or removes a lease, which must be in it. */
void cloud_index_add_lease(struct cloud_index *x, struct entry *lease);
void cloud_index_remove_lease(struct cloud_index *x, struct entry *lease);

/*
 * Adds or removes a template of Config Connector with an identity that is not `unclear`. The index
 * keeps no pointer to `identity`.
 */
void cloud_index_add_resource(struct cloud_index *x, struct entry *template,
                              const struct connector_identity *identity);
void cloud_index_remove_resource(struct cloud_index *x, struct entry *template,
                                 const struct connector_identity *identity);

/* Returns the lease, the first by asset name, on the cloud resource of the template, or NULL. */
struct entry *cloud_index_lease(const struct cloud_index *x, const struct entry *template,
                                const struct connector_identity *identity);

/* Appends the templates of the leased resource, and possibly unrelated ones with an equal hash. */
void cloud_index_resources(const struct cloud_index *x, const struct entry *lease,
                           struct entry_list *out);

/* ---- comparison of names; exported for unit tests ---- */

/*
 * Returns true if the asset "//service/path" of a type such as "pubsub.googleapis.com/Topic" is the
 * resource that the template stands for. Compares locations if the asset name has a location.
 * Returns false if the identity is unclear.
 */
bool cloud_name_is(const char *asset, const char *asset_type, const struct entry *template,
                   const struct connector_identity *identity);

/* Return the hash of an asset name and of an identity; equal if both name the same resource. */
uint64_t cloud_name_hash(const char *asset, uint64_t seed);
uint64_t cloud_name_hash_of(const struct connector_identity *identity, uint64_t seed);
