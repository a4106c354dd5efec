/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/connector.h"

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
