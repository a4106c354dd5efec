/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"

/*
 * Index of the leases in an inventory of the cloud, and of the Config Connector resources that they
 * may concern (seed 004). The key is a hash of the cloud resource's name and its container: a
 * project, folder or organization.
 */
struct cloud_index;

/* Returns an empty index. `seed` is the seed of its hashes. */
struct cloud_index *cloud_index_new(uint64_t seed) MUST_USE;
/* Frees the index; NULL is allowed. */
void cloud_index_free(struct cloud_index *x);

/* Adds a lease, which must not be in the index yet, or removes a lease, which must be in it. */
void cloud_index_add_lease(struct cloud_index *x, struct entry *lease);
void cloud_index_remove_lease(struct cloud_index *x, struct entry *lease);

/*
 * Adds a template that is a resource of Config Connector, or removes it with the identity with
 * which it was added. The identity must not be `unclear`. The index keeps no pointer to `identity`.
 */
void cloud_index_add_resource(struct cloud_index *x, struct entry *template,
                              const struct connector_identity *identity);
void cloud_index_remove_resource(struct cloud_index *x, struct entry *template,
                                 const struct connector_identity *identity);

/*
 * Returns the lease on the cloud resource of the template: the first by asset name if several
 * match, NULL if no lease matches. The identity must not be `unclear`.
 */
struct entry *cloud_index_find_lease(const struct cloud_index *x, const struct entry *template,
                                     const struct connector_identity *identity);

/* Appends the templates of the leased resource, and other templates that have the same hash. */
void cloud_index_list_resources(const struct cloud_index *x, const struct entry *lease,
                                struct entry_list *out);

/* ---- comparison of names; used only by cloud_index.c and tests ---- */

/*
 * Returns true if the asset "//service/path" of a type such as "pubsub.googleapis.com/Topic" is the
 * resource that the template stands for. Compares type, name, container and, if the asset name has
 * one, the location. Returns false if the type is NULL or the identity unclear.
 */
bool cloud_asset_is_resource(const char *asset, const char *asset_type,
                             const struct entry *template,
                             const struct connector_identity *identity);

/*
 * Return the hash of the name and container in an asset name or an identity. Both hashes are equal
 * if asset and identity are the same resource.
 */
uint64_t cloud_asset_hash(const char *asset, uint64_t seed);
uint64_t cloud_identity_hash(const struct connector_identity *identity, uint64_t seed);
