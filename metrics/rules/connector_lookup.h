/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/object.h"
#include "metrics/rules/connector.h"

/* What the objects of a store tell Config Connector, and where its leases are (seed 004). */

/*
 * The ids of namespaces, from the ConfigMap cnrm-system/namespace-id. NULL also where they are
 * not told, as in metadata alone: then nobody is a stranger.
 */
const struct namespace_ids *connector_known_ids(const struct store *s);

/* What the Namespace of a template says for all of its resources; NULL if nothing. */
const struct connector_defaults *connector_defaults_of(const struct store *s,
                                                       const struct entry *template);

/*
 * The lease on the cloud resource that a template of Config Connector stands for; NULL if no
 * inventory tells of one. It looks through all of them: for one object that somebody asks about.
 */
const struct entry *connector_lease_of(const struct store *s, const struct entry *template);

/* What comes of it at the next look of the template's own namespace. */
enum lease_verdict connector_lease_verdict(const struct store *s, const struct entry *template,
                                           const struct entry *lease, struct lease_clock clock);
