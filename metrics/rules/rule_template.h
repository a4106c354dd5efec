/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/rule.h"

/* Parts of the rule of templates that other rules use: resources of Config Connector (seed 004). */

/* Rule with the cloud resource that a template declares as key. */
extern const struct collision_rule collision_cloud_resource;

/* Marks every template that is a resource of Config Connector. */
void mark_connector_resources(struct rule_context *c);
