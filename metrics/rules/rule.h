/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/rules/collisions.h"
#include "metrics/rules/connector.h"
#include "metrics/rules/dependency.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/graph.h"
#include "metrics/rules/ignored.h"
#include "metrics/rules/options.h"
#include "metrics/rules/placements.h"
#include "metrics/rules/selector_index.h"

/*
 * How the engine comes to a decision about one class of objects: first everything that the
 * decision depends on is gathered, then it is made of nothing else. To add a class: a file
 * rule_<class>.c with its row, and the row's name in the table of engine.c.
 */

/* What gathering looks into and what a change of an object moves. */
struct rule_context {
    struct store *store;
    struct graph *graph;
    struct rules_options options;
    struct ignored *ignored;
    struct selector_index *index;
    struct placements *placements;
    struct collisions *binding_names;
    struct collisions *cloud_resources; /* Of Config Connector. */
    struct map on_clusters;             /* Templates with a capacity: clusters matter to them. */
    int64_t now_ms;
    bool derives; /* There is no binding at all: what Karmada would make is derived. */
};

struct policy_facts {
    const struct entry *policy;
    const struct resolved_placement *placement; /* The decision keeps this reference. */
    bool override_missing;
};

struct template_facts {
    struct situation situation; /* But for the candidates, which the decision itself keeps. */
    const struct selection *selections; /* In no order; borrowed. */
    size_t selection_count;
    const struct connector_defaults *connector_defaults; /* NULL without any. */
    struct intern *strings;
    struct placements *placements;
    bool is_ignored;
    enum ignored_reason ignored_reason;
    bool derives;
};

struct binding_facts {
    const struct binding *binding;
    struct entry *template;      /* NULL if it does not exist. */
    const struct entry *claimed; /* NULL without a claim. */
    bool kind_selected;          /* Some policy selects the kind of the template. */
};

struct lease_facts {
    const struct lease *lease;
    const struct namespace_ids *ids; /* NULL where they are not known. */
    struct lease_clock clock;
};

/* What one look gathers. The lists are kept from look to look, to spare allocations. */
struct gathered {
    union {
        struct policy_facts policy;
        struct template_facts template;
        struct binding_facts binding;
        struct lease_facts lease;
    };
    struct ballot_list ballots; /* Of those who require the entry. */
    struct entry_list reads;    /* Every entry that was looked at. */
};

/* One class of objects. A function that is NULL has nothing to do. */
struct rule {
    /* Lower ones are looked at first: the higher ones read their decisions. */
    unsigned rank;

    /* The object is another one, came (`old` is NULL) or went: mark whom that concerns. */
    void (*changed)(struct rule_context *c, struct entry *entry, const void *old);

    /* Gather what the decision about an entry with an object depends on. */
    void (*gather)(const struct rule_context *c, struct entry *entry, struct gathered *out);
    /*
     * A new decision, made of nothing but what was gathered. `due_ms`, INT64_MAX before, is
     * when it changes by time alone.
     */
    void *(*decide)(const struct gathered *g, int64_t *due_ms);
    /* Add to `reads` what it reads by what was decided. */
    void (*add_reads)(const struct rule_context *c, const struct entry *entry, const void *decision,
                      struct entry_list *reads);

    /* True if those who read the one decision would find the same in the other. */
    bool (*equal)(const void *old, const void *fresh);
    /* Mark the readers of a decision that is not equal to the one before. */
    void (*mark_readers)(struct graph *g, const struct entry *entry);
    /* Mark those whose decisions count the entry among their readers. */
    void (*mark_read)(struct graph *g, const struct entry *entry);

    /*
     * Leave the registers in which the decision stands, unless the next one (NULL: there is
     * none) stands there too; and, once it is the entry's, enter those where it does not yet.
     */
    void (*leave)(struct rule_context *c, struct entry *entry, const void *next);
    void (*enter)(struct rule_context *c, struct entry *entry, const void *last);

    /* Free a decision. Takes NULL. */
    void (*release)(const struct rule_context *c, void *decision);
};

/*
 * An entry enters or leaves the register of those who want something that only one can have.
 * The others for whom that makes a difference are marked.
 */
void rule_enter(struct graph *g, struct collisions *c, struct entry *entry);
void rule_leave(struct graph *g, struct collisions *c, struct entry *entry);

/* The rows. */
extern const struct rule rule_policy;
extern const struct rule rule_override;
extern const struct rule rule_template;
extern const struct rule rule_setting;
extern const struct rule rule_binding;
extern const struct rule rule_cluster;
extern const struct rule rule_lease;
