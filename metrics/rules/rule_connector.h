/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/rule.h"

/* What a template is to Config Connector: the part of rule_template.c that is about seed 004. */

/* Of templates that stand for one cloud resource only one should exist. */
extern const struct collision_rule collision_cloud_resource;

/* Look again at every resource of Config Connector. */
void connectors_mark(struct rule_context *c);

/* rule.changed: others may have their defaults or their namespace's id from the template. */
void template_connector_changed(struct rule_context *c, struct entry *entry, const void *old);

/*
 * The part of a fresh decision, but for the duplicates; `placement` is that of the policy which
 * governs, NULL if none does. NULL if the template is no resource of Config Connector, or is
 * ignored. The caller releases it.
 */
struct connector_decision *template_connector_decide(const struct template_facts *f,
                                                     const struct template_decision *d,
                                                     const struct resolved_placement *placement);
/* Takes NULL. */
void template_connector_release(struct intern *strings, struct connector_decision *d);

/* rule.leave and rule.enter of the decision's part. */
void template_connector_leave(struct rule_context *c, struct entry *entry,
                              const struct template_decision *next);
void template_connector_enter(struct rule_context *c, struct entry *entry,
                              const struct template_decision *last);
