/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/connector.h"

/*
 * The cloud's own name of a resource, as an inventory writes it, held against what an
 * object of Config Connector says that it stands for.
 */

/*
 * True if the asset "//service/path" of a type such as "pubsub.googleapis.com/Topic" is the
 * resource. A location counts where the name has one. False where the identity is unclear.
 */
bool cloud_name_is(const char *asset, const char *asset_type, const struct entry *template,
                   const struct connector_identity *identity);
