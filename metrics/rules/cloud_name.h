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
