/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/rule.h"

/* The part of the rule of templates that is about Config Connector (seed 004). */

/* Templates that stand for the same cloud resource collide. */
extern const struct collision_rule collision_cloud_resource;

/* Mark every template that is a resource of Config Connector. */
void connectors_mark(struct rule_context *c);

/*
 * `changed` of struct rule for templates and settings: a Namespace's annotations are defaults of
 * its resources, and the ConfigMap with the ids of namespaces says who holds leases.
 */
void template_connector_changed(struct rule_context *c, struct entry *entry, const void *old);

/* `gather` of struct rule for the facts about Config Connector: the rest is filled in already. */
void template_connector_gather(const struct rule_context *c, const struct entry *entry,
                               struct template_facts *facts);

/*
 * That part of a fresh decision, but for duplicate identities, which `enter` finds; `placement`
 * is that of the policy which governs, NULL if none does. NULL if the template is no resource of
 * Config Connector, or is ignored. `due_ms` is lowered to when the lease on it changes by time.
 * Release it with template_connector_release().
 */
struct connector_decision *template_connector_decide(const struct template_facts *f,
                                                     const struct template_decision *d,
                                                     const struct resolved_placement *placement,
                                                     int64_t *due_ms);
/* Takes NULL. */
void template_connector_release(struct intern *strings, struct connector_decision *d);

/* `leave` and `enter` of struct rule for that part of the decision. */
void template_connector_leave(struct rule_context *c, struct entry *entry,
                              const struct template_decision *next);
void template_connector_enter(struct rule_context *c, struct entry *entry,
                              const struct template_decision *last);
