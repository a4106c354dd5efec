/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/kube_source.h"
#include "metrics/expose/registry.h"

/* "deployment.apps": how resources are named in labels, from their kind and group. */
void resource_name(struct strbuf *out, const char *kind, const char *group);

/* The same of what a reflector reads, and of a kind that is missing. */
void reflector_name(struct strbuf *out, const struct reflector *f);
void missing_kind_name(struct strbuf *out, const struct missing_kind *k);

/* Set the health of an API server's watches: series for each resource. */
void watch_health_fill(const struct kube_source *source, struct registry *registry);
