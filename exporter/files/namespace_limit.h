/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/api_resources.h"
#include "metrics/base/json.h"

/*
 * Returns true if an exporter with this filter would read the object from an API server: objects of
 * other namespaces, and cluster-scoped templates of other shards, are not read; kinds that concern
 * every namespace are (`unfiltered` in metrics/model/kind.h). An object outside the filter that is
 * read for its settings alone gets the API version of these settings, as from an API server.
 */
bool namespace_limit_reads(const struct namespace_filter *filter, cJSON *object);
