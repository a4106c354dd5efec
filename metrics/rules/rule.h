/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/cloud_index.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/delivery.h"
#include "metrics/rules/delivery_index.h"
#include "metrics/rules/dependency.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/ignored_templates.h"
#include "metrics/rules/name_collisions.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/overrides.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/policy_versions.h"
#include "metrics/rules/selector.h"
#include "metrics/rules/selector_index.h"
#include "metrics/rules/transitions.h"

/*
 * How the engine decides about one class of objects: `gather` collects everything that the
 * decision depends on, `decide` makes the decision from that and nothing else. To add a class:
 * a file rule_<class>.c that defines its struct rule, and one line in the table of engine.c.
 */

/* What the rules of all classes share: `gather` reads it, the other functions may change it. */
struct rule_context {
    struct store *store;
    struct graph *graph;
    struct rules_options options;
    gate_set gates;
    struct release release;
    struct ignored *ignored;
    struct selector_index *index;
    struct type_counts bound; /* By the kinds that bindings refer to. */
    struct bound_observer bound_observer;
    struct placements *placements;
    struct name_collisions *binding_names;
    struct name_collisions *cloud_resources; /* Of Config Connector. */
    struct cloud_index *cloud_names;         /* Of these, and of leases. */
    struct map on_clusters; /* Templates with a capacity: it depends on clusters. */
    int64_t now_ms;         /* Of the evaluation that is running. */
    struct observed_times seen;
    struct members members;
    struct api_version_judge api_versions;
    struct policy_versions policy_versions;
    struct entry_list newborn; /* Templates, pinned: see rule_template_settle(). */
    size_t priority_policies;  /* With a schedulePriority. */
    struct incomplete incomplete;
    struct works works;
    struct override_events override_events;
    struct conflict_events conflict_events;
    struct delivery_sources deliveries; /* These three. */
};

struct policy_facts {
    const struct entry *policy;
    const struct resolved_placement *placement; /* The decision takes over this reference. */
    bool override_missing;
    bool unwatched;        /* One of its selectors names a version that Karmada does not look at. */
    bool kinds_incomplete; /* One names a kind that has not been read yet. */
    struct priority priority;
};

struct lease_facts {
    const struct lease *lease;       /* Of a template: NULL if none is known. */
    const struct namespace_ids *ids; /* NULL if they are unknown. */
    struct lease_clock clock;
};

struct template_facts {
    struct drift_input drift_input;     /* Without winner and candidates: those `decide` adds. */
    const struct selection *selections; /* In no order; borrowed. */
    size_t selection_count;
    const struct connector_defaults *connector_defaults; /* NULL without any. */
    struct lease_facts lease;                            /* Of Config Connector's resources. */
    struct delivery_facts delivery; /* `binding` is NULL if none was made or is required. */
    struct intern *strings;
    struct placements *placements;
    bool is_ignored;
    enum ignored_reason ignored_reason;
    bool follows;               /* Karmada propagates dependencies, if the policy asks for it. */
    bool namespaces_incomplete; /* So that nobody knows the defaults of Config Connector. */
};

struct binding_facts {
    const struct binding *binding;
    struct entry *template;      /* NULL if it does not exist. */
    const struct entry *claimed; /* The claim's policy, existing or not; NULL without a claim. */
    bool kind_read; /* Some policy selects the kind of the template, and all of it has been read. */
    bool resolves;  /* As engine_resolves_dependencies(). */
};

/*
 * All that the decision about one entry depends on. The lists keep their memory from one
 * evaluation to the next.
 */
struct gathered {
    union {
        struct policy_facts policy;
        struct template_facts template;
        struct binding_facts binding;
        struct lease_facts lease;
    };
    struct dependency_referrers referrers; /* Of the referrers of the entry. */
    struct target_list targets;            /* Of the template's binding. */
    struct entry_list reads;               /* The entries that the decision depends on. */
};

/* In the order of evaluation (graph.h): each reads the decisions of those before it. */
enum rule_rank {
    RULE_RANK_POLICY,
    RULE_RANK_TEMPLATE,
    RULE_RANK_BINDING,
    RULE_RANK_LAST,
    RULE_RANK_COUNT
};
_Static_assert((unsigned)RULE_RANK_COUNT == GRAPH_RANKS, "the graph has a queue for each");

/* The rule of one class of objects. A function that has nothing to do is NULL. */
struct rule {
    enum rule_rank rank;

    /*
     * The object is new (`old` is NULL), was replaced, or is gone: mark the entries whose
     * decisions that affects. The entry itself is marked already.
     */
    void (*changed)(struct rule_context *c, struct entry *entry, const void *old);

    /*
     * Fill in the class's facts, and append to the lists, which come empty. The entry has an
     * object. Not NULL where `decide` is not.
     */
    void (*gather)(const struct rule_context *c, struct entry *entry, struct gathered *out);
    /*
     * A new decision, made from the gathered facts alone. `due_ms` is INT64_MAX before: set it
     * to the time at which the decision changes without any change of an object. NULL: the
     * class has no decisions.
     */
    void *(*decide)(const struct gathered *g, int64_t *due_ms);
    /* Append the entries that are read because of what was decided. */
    void (*add_reads)(const struct rule_context *c, const struct entry *entry, const void *decision,
                      struct entry_list *reads);

    /* True if the two decisions are the same to their readers. NULL: always. */
    bool (*equal)(const void *old, const void *fresh);
    /* Mark the readers of a decision that came, went, or is not equal to the last one. */
    void (*mark_readers)(struct graph *g, const struct entry *entry);
    /*
     * Mark the entries it reads whose decisions depend on who reads them. Called with the old
     * reads and with the new ones, where they or the decision differ.
     */
    void (*mark_read)(const struct rule_context *c, const struct entry *entry);

    /*
     * Take the entry out of the registers (struct name_collisions, on_clusters) that its decision
     * put it in and the next one, NULL for none, does not; `enter` puts it in those that its new
     * decision needs and the last one, NULL for none, did not.
     */
    void (*leave)(struct rule_context *c, struct entry *entry, const void *next);
    void (*enter)(struct rule_context *c, struct entry *entry, const void *last);

    /* Free a decision. Takes NULL. */
    void (*release)(const struct rule_context *c, void *decision);
};

/* name_collisions_add() and name_collisions_remove(); the other entries that it affects are marked.
 */
void rule_enter(struct graph *g, struct name_collisions *c, struct entry *entry);
void rule_leave(struct graph *g, struct name_collisions *c, struct entry *entry);

/* The set of clusters, or what placements choose by, has changed: mark whatever depends on it. */
void rule_clusters_changed(struct rule_context *c);

/* Whether Works are known may have changed (works_known): mark whatever depends on it. */
void rule_works_changed(struct rule_context *c);

/*
 * Up to `budget` of the templates that were decided for the first time are newborn no longer: all
 * has been decided since. What they went through before was the order of evaluation, and counts as
 * no transition. True if none is left.
 */
bool rule_template_settle(struct rule_context *c, size_t budget);

/* The rules there are; engine.c has the table by class. */
extern const struct rule rule_policy;
extern const struct rule rule_override;
extern const struct rule rule_template;
extern const struct rule rule_setting;
extern const struct rule rule_binding;
extern const struct rule rule_cluster;
extern const struct rule rule_lease;
extern const struct rule rule_work;
extern const struct rule rule_event;
