/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/cluster.h"
#include "metrics/rules/collisions.h"
#include "metrics/rules/connector.h"
#include "metrics/rules/dependency.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/edges.h"
#include "metrics/rules/ignored.h"
#include "metrics/rules/placements.h"
#include "metrics/rules/selector_index.h"

/*
 * The inside of the engine, shared by the files that make it up: engine.c
 * (what changed, what to look at again), engine_policy.c, engine_template.c and
 * engine_binding.c (gathering what a decision depends on), engine_capacity.c (what
 * the member clusters matter to). Nobody else includes this.
 */

/* In the order in which they are looked at: the later read the earlier ones' decisions. */
enum queue { QUEUE_POLICY, QUEUE_TEMPLATE, QUEUE_BINDING, QUEUE_OTHER, QUEUE_COUNT };

struct dirty_queue {
    struct entry *first;
    struct entry *last;
};

/* A template or a lease whose decision changes by time alone. */
struct waiting {
    struct entry *entry;
    int64_t due_ms;
};

/* Names are at most 253 bytes, kinds 63. */
enum { BINDING_NAME_MAX = 1024 };

struct engine {
    struct store *store;
    struct rules_options options;
    struct ignored *ignored;
    struct selector_index *index;
    struct placements *placements;
    struct collisions *collisions;
    struct collisions *duplicates; /* Of Config Connector's resources. */
    struct engine_observer observer;
    struct dirty_queue queues[QUEUE_COUNT];
    struct waiting *waiting;
    size_t waiting_count;
    size_t waiting_capacity;
    struct entry **placed; /* The templates with a capacity: what clusters are matters to them. */
    size_t placed_count;
    size_t placed_capacity;
    int64_t deadline_ms; /* Not later than the earliest of them. */
    int64_t now_ms;
    uint64_t evaluations;
    bool derives;
    /* Scratch of one look, kept to spare allocations. */
    struct entry_list reads;
    struct entry_list shaken; /* By a template that came into a collision or left it. */
    struct candidate *candidates;
    size_t candidate_capacity;
    struct strbuf name;
};

/* Look at this entry again before settling ends. */
void engine_mark(struct engine *e, struct entry *entry);
/* And at all who read it. */
void engine_mark_dependents(struct engine *e, const struct entry *entry);

/* The template that a binding names, NULL if nobody knows it. */
struct entry *engine_template_of(const struct engine *e, const struct binding *b);

/* The policy of a claim, made as an entry where it does not exist. */
struct entry *engine_policy_of(struct engine *e, const struct claim *claim);

/* Look again at all entries of a type; of those that do not exist, at who refers to them. */
void engine_mark_type(struct engine *e, const struct type *type);

void engine_decide_policy(struct engine *e, struct entry *entry);
void engine_policy_forget(struct engine *e, struct entry *entry);
void engine_decide_template(struct engine *e, struct entry *entry);
void engine_decide_binding(struct engine *e, struct entry *entry);

/* The dependencies that this template votes on (derived) have to be counted again. */
void engine_mark_dependencies(struct engine *e, const struct entry *entry);

/*
 * From now on the entry waits for `due_ms` (INT64_MAX: for nothing), or no longer. `place` is its
 * decision's, 0 while it does not wait.
 */
void engine_wait(struct engine *e, struct entry *entry, uint32_t *place, int64_t due_ms);
void engine_wait_no_more(struct engine *e, uint32_t *place);
/* Look again at those whose time has come. */
void engine_wake(struct engine *e);

/* engine_connector.c: leases, and what a template is to Config Connector. */
void engine_decide_lease(struct engine *e, struct entry *entry);
void engine_lease_forget(struct engine *e, struct entry *entry);
/* Hang it on a template's fresh decision, which follows `old`: NULL if there was none. */
void engine_add_connector(struct engine *e, struct entry *entry, struct template_decision *old,
                          struct template_decision *fresh);
/* The fresh decision is the entry's now: hold it against the others. */
void engine_compare_connector(struct engine *e, struct entry *entry);
/* Free it again; `entry` still has this decision. */
void engine_drop_connector(struct engine *e, struct entry *entry, struct template_decision *d);
/* Look again at every resource of Config Connector. */
void engine_mark_connectors(struct engine *e);
/* A template or setting changed that others may have their defaults or their namespace's id from.
 */
void engine_connector_changed(struct engine *e, const struct entry *entry,
                              const struct template *old);
extern const struct collision_rule collision_cloud_resource;

/* Free a template's decision and its place among the waiting. */
void engine_template_forget(struct engine *e, struct entry *entry);

/* Hang its capacity on a template's fresh decision, if it is to have one. */
void engine_add_capacity(struct engine *e, struct entry *entry, struct template_decision *d);
/* Free it again. */
void engine_drop_capacity(struct engine *e, struct template_decision *d);
/* A Cluster changed: policies and stale templates are held against the clusters again. */
void engine_cluster_changed(struct engine *e, const struct cluster *old,
                            const struct cluster *fresh);
