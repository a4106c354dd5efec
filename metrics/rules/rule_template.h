/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/rule.h"

/* The part of the rule of templates that is about Config Connector (seed 004). */

/* Templates that stand for the same cloud resource collide. */
extern const struct collision_rule collision_cloud_resource;

/* Mark every template that is a resource of Config Connector. */
void connectors_mark(struct rule_context *c);
