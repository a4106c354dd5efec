/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/rule.h"

/* The rule of templates: what other rules need of its Config Connector part (seed 004). */

/* Two templates collide if they declare the same cloud resource. */
extern const struct collision_rule collision_cloud_resource;

/* Marks every template that is a resource of Config Connector. */
void connectors_mark(struct rule_context *c);
