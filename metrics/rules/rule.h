/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/handle_map.h"
#include "metrics/rules/api_versions.h"
#include "metrics/rules/cloud_index.h"
#include "metrics/rules/connector_conflicts.h"
#include "metrics/rules/control_plane.h"
#include "metrics/rules/delivery.h"
#include "metrics/rules/delivery_index.h"
#include "metrics/rules/dependency.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/ignored_templates.h"
#include "metrics/rules/name_collisions.h"
#include "metrics/rules/object_index.h"
#include "metrics/rules/overrides.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/policy_versions.h"
#include "metrics/rules/refusals.h"
#include "metrics/rules/selector.h"
#include "metrics/rules/selector_index.h"
#include "metrics/rules/template_state.h"
#include "metrics/rules/transitions.h"

/*
 * Interface between the engine and the rule of one class of objects: `gather` collects all inputs
 * of a decision, `decide` makes the decision from these and decisions of lower ranks. To add a
 * class, write a file rule_<class>.c that defines its struct rule, and add a line to the table in
 * engine.c.
 *
 * After a change of an object the engine evaluates the object itself and the entries that `changed`
 * marks. If the new decision about an entry differs from the last one, the engine also marks the
 * entries that read this decision (`mark_readers`). If the decision or its reads differ, it marks
 * entries that the decision reads (`mark_read`).
 */

/*
 * Kinds that the policies of other shards select, in the selector index: templates of a kind exist
 * for the rules if any policy selects the kind. Policies with equal hashes count as one.
 */
struct other_policies {
    struct map policies;
    uint64_t seed; /* Of the hashes of names. */
};

/* State that the rules of all classes share. */
struct rule_context {
    struct store *store;
    struct graph *graph;
    struct rules_options options;
    gate_set gates;
    struct release_range release;
    struct ignored *ignored;
    struct selector_index *index;
    struct type_counts bound;    /* References of bindings to templates, by apiVersion and kind. */
    struct type_counts planned;  /* Kinds of engine_select_type(). */
    bool plans_priority_classes; /* engine_select_priority_classes() was called. */
    struct bound_observer bound_observer;
    struct placements *placements;
    struct name_collisions *binding_names;
    struct name_collisions *cloud_resources; /* Cloud resources of Config Connector. */
    struct cloud_index *cloud_names;         /* Names of cloud resources and leases. */
    struct handle_map on_clusters;           /* Templates of which depends_on_clusters() is true. */
    int64_t now_ms;                          /* Latest time that engine_run() was called with. */
    struct observed_times seen;
    struct members members;
    struct api_version_source api_versions;
    struct policy_versions policy_versions;
    struct entry_list first_run; /* Templates for rule_template_end_first_run(), pinned. */
    size_t priority_policies;    /* Number of policies with a schedulePriority. */
    struct incomplete incomplete;
    struct works works;
    struct override_events override_events;
    struct conflict_events conflict_events;
    struct refusals refusals;
    struct autoscalers *autoscalers;     /* problems/replica_contest.h. */
    struct delivery_sources deliveries;  /* Pointers to other members. */
    struct transitions *transitions;     /* NULL if the limit is 0. */
    struct flapping_past *flapping_past; /* decision_flapping.h; NULL without a reload. */
    struct problems *problems;           /* NULL unless engine_judge_problems() was called. */
    struct problem_tallies *tallies;     /* Sums for the conditions of problems. */
    /* Judges Karmada's components; NULL with problems of a snapshot, and without problems. */
    struct controller_progress *progress;
    int64_t progress_due_ms;               /* Next call of controller_progress_evaluate(). */
    struct other_bindings *other_bindings; /* Writes of bindings of other shards. */
    struct other_policies other_policies;
    struct quota_totals *quota_totals; /* Usage in a simulation; NULL without one. */
};

struct policy_facts {
    const struct entry *policy;
    const struct resolved_placement *placement; /* The decision takes over this reference. */
    bool override_missing;
    bool refused;          /* All releases that Karmada may have refuse the policy. */
    bool pruned;           /* All releases that Karmada may have drop a field. */
    bool unwatched;        /* A selector has an API version that Karmada does not watch. */
    bool kinds_incomplete; /* Not all objects of a selected kind have been read. */
    bool kind_absent;      /* api_version_is_absent() for a selected kind. */
    struct priority priority;
    bool keeps_targets; /* Result of placements_keep_targets(). */
};

struct lease_facts {
    const struct lease *lease;       /* For a template: the lease on its resource, or NULL. */
    const struct namespace_ids *ids; /* Ids of namespaces; NULL if unknown. */
    struct lease_clock clock;
};

struct template_facts {
    struct template_state_input template_state_input; /* Without the winner, which `decide` adds. */
    const struct connector_defaults
        *connector_defaults;        /* For Config Connector's resources; NULL without defaults. */
    struct lease_facts lease;       /* Only for Config Connector's resources. */
    struct delivery_facts delivery; /* All zero without a binding, or with one left over. */
    struct intern *strings;
    struct placements *placements;
    bool is_ignored;
    enum ignored_reason ignored_reason;
    bool follows;               /* Karmada obeys propagateDeps of the template's policy. */
    bool namespaces_incomplete; /* Config Connector's defaults in Namespaces are unknown. */
};

struct binding_facts {
    const struct binding *binding;
    struct entry *template;      /* NULL if spec.resource names no existing template. */
    const struct entry *claimed; /* The claim's policy, existing or not; NULL without a claim. */
    /* A selector names the template's kind, and all objects of the kind have been read. */
    bool kind_read;
};

/* Inputs of the decision about one entry. The lists keep their memory between evaluations. */
struct gathered {
    union {
        struct policy_facts policy;
        struct template_facts template;
        struct binding_facts binding;
        struct lease_facts lease;
    };
    struct release_range release;          /* Releases that Karmada may run. */
    struct pool *memory;                   /* Pool of decisions. */
    struct dependency_referrers referrers; /* Referrers of the entry. */
    struct target_list targets;            /* Facts about targets of the binding. */
    struct candidate_list candidates;      /* Policies that select the template, best first. */
    struct entry_list reads;               /* Entries that the decision depends on. */
};

/* Order of evaluation: a rule reads decisions of lower ranks; that of templates also of its own. */
enum rule_rank {
    RULE_RANK_POLICY,
    RULE_RANK_TEMPLATE,
    RULE_RANK_BINDING,
    RULE_RANK_LAST,
    RULE_RANK_COUNT
};
_Static_assert((unsigned)RULE_RANK_COUNT == GRAPH_RANKS, "the graph has a queue for each");

/* Rule of one class of objects. A function that would do nothing is NULL. */
struct rule {
    enum rule_rank rank;

    /*
     * Handles an object that was added (`old` is NULL), replaced or deleted: updates indexes, and
     * marks the entries with decisions that depend on the object, except the entry itself, which
     * has been marked already.
     */
    void (*changed)(struct rule_context *c, struct entry *entry, const void *old);

    /*
     * Fills in the facts of the class, and appends to the lists, which are empty. The entry has an
     * object. Must be set if `decide` is.
     */
    void (*gather)(const struct rule_context *c, struct entry *entry, struct gathered *out);
    /*
     * Returns a new decision, made from the gathered facts and decisions of lower ranks, from the
     * pool `memory` of the facts. Stores in
     * `due_ms`, INT64_MAX before, the time at which the decision changes without a change of
     * objects. This member is NULL for classes without decisions.
     */
    void *(*decide)(const struct gathered *g, int64_t *due_ms);
    /* Appends the entries that the finished decision depends on beside those of `gather`. */
    void (*add_reads)(const struct rule_context *c, const struct entry *entry, const void *decision,
                      struct entry_list *reads);

    /* Returns true if the decisions are equal for all readers; NULL: any two decisions are. */
    bool (*equal)(const void *old, const void *fresh);
    /* Marks the readers of a decision that was added or removed, or differs from the last one. */
    void (*mark_readers)(struct graph *g, const struct entry *entry);
    /*
     * Marks the entries in `entry->reads` with decisions that depend on their readers. Called with
     * the old reads and with the new ones, if the reads or the decision differ.
     */
    void (*mark_read)(const struct rule_context *c, const struct entry *entry);

    /*
     * `leave` is called before `next` replaces the old decision: it removes the entry from indexes
     * and counts of the old decision. `enter` is called after the new decision has replaced `last`:
     * it adds the entry to indexes and counts, and completes the decision from them. Both may skip
     * the parts that are equal in the old and the new decision. `next` is NULL without a new
     * decision, `last` without an old one.
     */
    void (*leave)(struct rule_context *c, struct entry *entry, const void *next);
    void (*enter)(struct rule_context *c, struct entry *entry, const void *last);

    /* Frees a decision; NULL is allowed. */
    void (*release)(const struct rule_context *c, void *decision);
};

/* Adds or removes a template; marks others whose name_collisions_has_collision() changes. */
void rule_collisions_add(struct graph *g, struct name_collisions *c, struct entry *entry);
void rule_collisions_remove(struct graph *g, struct name_collisions *c, struct entry *entry);

/* Marks placements as outdated; marks policies, `on_clusters` and Config Connector's resources. */
void rule_mark_cluster_dependents(struct rule_context *c);

/*
 * Marks the templates whose problems override policies may predict: after a change of such a
 * policy, or of a Cluster. Before problems are judged there are none.
 */
void rule_mark_overridden_templates(struct rule_context *c);

/*
 * Handle a policy of another shard: a version that was read in a pass of a source, a deletion, and
 * the end of a complete pass, which removes the policies of the source that were not in it. Mark
 * the templates of kinds with a first or without any selector.
 */
void rule_put_other_policy(struct rule_context *c, const cJSON *policy, struct origin origin);
void rule_remove_other_policy(struct rule_context *c, const cJSON *policy);
void rule_sweep_other_policies(struct rule_context *c, struct origin origin);
void other_policies_init(struct other_policies *o, uint64_t seed);
/* Frees the policies. Their texts stay in the string pool; do not use the selector index again. */
void other_policies_release(struct other_policies *o);

/* Updates works_known(). If it changes, marks the templates of all bindings. */
void rule_update_works_known(struct rule_context *c);

/*
 * Resets `first_run` of up to `budget` decisions, after the engine has decided all entries. Until
 * then the state of a new template may change only because of the order of evaluation. Returns true
 * if no template is left.
 */
bool rule_template_end_first_run(struct rule_context *c, size_t budget);

/*
 * Return the problems of one element of resourceSelectors or of excludedResources, bits by
 * policy_problem, which need no other object. The policy must have an object.
 */
unsigned policy_selector_problems(const struct entry *policy, uint32_t at);
unsigned policy_exclusion_problems(const struct entry *policy, uint32_t at);

/* All rules; engine.c has the table by class. */
extern const struct rule rule_policy;
extern const struct rule rule_override;
extern const struct rule rule_template;
extern const struct rule rule_setting;
extern const struct rule rule_other;
extern const struct rule rule_binding;
extern const struct rule rule_cluster;
extern const struct rule rule_lease;
extern const struct rule rule_work;
extern const struct rule rule_event;
