/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/connector_conflicts.h"

/*
 * Finds the lease of a resource of Config Connector, and the resources that a lease may be about,
 * by what their names in the cloud have in common (cloud_name.h): no search goes over all leases.
 */
struct cloud_index;

struct cloud_index *cloud_index_new(uint64_t seed) MUST_USE;
/* Takes NULL. */
void cloud_index_free(struct cloud_index *x);

/* Put a lease in that is not in the index, or remove one that is. */
void cloud_index_add_lease(struct cloud_index *x, struct entry *lease);
void cloud_index_remove_lease(struct cloud_index *x, struct entry *lease);

/* The same for a template, whose identity is not unclear. The identity is not kept. */
void cloud_index_add_resource(struct cloud_index *x, struct entry *template,
                              const struct connector_identity *identity);
void cloud_index_remove_resource(struct cloud_index *x, struct entry *template,
                                 const struct connector_identity *identity);

/* The first lease by name on the cloud resource of this identity; NULL if there is none. */
struct entry *cloud_index_lease(const struct cloud_index *x, const struct entry *template,
                                const struct connector_identity *identity);

/* Append the templates that the lease may be about: all that it is about, and a few more. */
void cloud_index_resources(const struct cloud_index *x, const struct entry *lease,
                           struct entry_list *out);

/*
 * Compares the name that an inventory of the cloud has for a resource with the identity of an
 * object of Config Connector.
 */

/*
 * True if the asset "//service/path" of a type such as "pubsub.googleapis.com/Topic" is the
 * resource that the template stands for. Locations are compared if the name has one. False if
 * the identity is unclear.
 */
bool cloud_name_is(const char *asset, const char *asset_type, const struct entry *template,
                   const struct connector_identity *identity);

/* The same of an asset's name and of an identity if that asset may be this resource. */
uint64_t cloud_name_hash(const char *asset, uint64_t seed);
uint64_t cloud_name_hash_of(const struct connector_identity *identity, uint64_t seed);
