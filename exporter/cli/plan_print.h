/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/cli/output.h"
#include "metrics/rules/comparison.h"

/* A comparison as tables for people. */
void plan_print(const struct comparison *c, struct output *o);

/*
 * The same as JSON: {"apiVersion", "templates": [{kind, namespace, name, change,
 * before, after}], "clusters": [{cluster, replicas: [before, after], cpu, memory}],
 * "undetermined": n, "conflicts": [{resource, field, change}]}. CPU is in
 * millicores, memory in bytes.
 */
void plan_write_json(const struct comparison *c, struct strbuf *out);
