/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/rule.h"

/* Parts of the rule of templates that other files use: resources of Config Connector. */

/* Templates collide if they declare the same cloud resource. */
extern const struct collision_rule collision_cloud_resource;

/* Marks every template that is a resource of Config Connector. */
void mark_connector_resources(struct rule_context *c);
