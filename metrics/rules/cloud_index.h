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

/* Adds a lease that is not in the index, or removes one that is. */
void cloud_index_add_lease(struct cloud_index *x, struct entry *lease);
void cloud_index_remove_lease(struct cloud_index *x, struct entry *lease);

/* Adds or removes a template with a clear identity. The index keeps no pointer to `identity`. */
void cloud_index_add_resource(struct cloud_index *x, struct entry *template,
                              const struct connector_identity *identity);
void cloud_index_remove_resource(struct cloud_index *x, struct entry *template,
                                 const struct connector_identity *identity);

/* Returns the first lease by name on the cloud resource of this identity, or NULL. */
struct entry *cloud_index_lease(const struct cloud_index *x, const struct entry *template,
                                const struct connector_identity *identity);

/* Appends all templates that the lease concerns, and possibly others with the same hash. */
void cloud_index_resources(const struct cloud_index *x, const struct entry *lease,
                           struct entry_list *out);

/* For tests. */

/*
 * Returns true if the asset "//service/path" of a type such as "pubsub.googleapis.com/Topic" is the
 * resource that the template stands for. Compares locations if the asset name has one. Returns
 * false if the identity is unclear.
 */
bool cloud_name_is(const char *asset, const char *asset_type, const struct entry *template,
                   const struct connector_identity *identity);

/* Hashes of an asset name and of an identity; equal if the asset may be this resource. */
uint64_t cloud_name_hash(const char *asset, uint64_t seed);
uint64_t cloud_name_hash_of(const struct connector_identity *identity, uint64_t seed);
