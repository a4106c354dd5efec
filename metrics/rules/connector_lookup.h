/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/connector.h"

/* Where a store has what Config Connector goes by, and its leases (seed 004). All is borrowed. */

/*
 * The ids of namespaces, from the ConfigMap cnrm-system/namespace-id; NULL if it does not exist
 * or lists none (a source may read metadata alone): then no holder of a lease counts as unknown.
 */
const struct namespace_ids *connector_known_ids(const struct store *s);

/* What the annotations of a template's Namespace set for all its resources; NULL if nothing. */
const struct connector_defaults *connector_defaults_of(const struct store *s,
                                                       const struct entry *template);

/* What becomes of the lease when the template's own namespace next tries to manage the resource. */
enum lease_verdict connector_lease_verdict(const struct store *s, const struct entry *template,
                                           const struct entry *lease, struct lease_clock clock);
