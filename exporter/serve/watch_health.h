/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/source.h"
#include "metrics/expose/registry.h"

/* "deployment.apps": how resources are named in labels, from their kind and group. */
void resource_name(struct strbuf *out, const char *kind, const char *group);

/* Set the health of an API server's watches: series for each resource. */
void watch_health_fill(const struct kube_source *source, struct registry *registry);
