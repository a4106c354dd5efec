/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/engine.h"
#include "metrics/rules/projection.h"
#include "metrics/rules/rule.h"

/*
 * The store of an engine while Karmada is played on it: what is replaced is kept, so that all of
 * it can be put back, and templates that Karmada has yet to look at wait in a queue. It costs what
 * is changed, however large the store is.
 */
struct overlay;

/* What was assumed because no object shows it; bits. A row is an enumerator and a sentence. */
#define ASSUMPTIONS(ROW)                                                                           \
    ROW(PREEMPTION_OFF,                                                                            \
        "PropagationPolicyPreemption is off, as it is by default: a policy with preemption "       \
        "Always takes no template from another. --karmada.feature-gates says otherwise.")          \
    ROW(PREEMPTION_ON, "PropagationPolicyPreemption is on, as --karmada.feature-gates says.")      \
    ROW(DEPENDENCIES_ON,                                                                           \
        "PropagateDeps is on, which it is not where Karmada's Helm chart has installed it.")       \
    ROW(DEPENDENCIES_OFF, "PropagateDeps is off: no binding is made for dependencies.")            \
    ROW(REFERENCES_UNKNOWN,                                                                        \
        "Of some templates only the metadata is known: their dependencies are left as they are.")  \
    ROW(REPLICAS_UNKNOWN,                                                                          \
        "Of some templates only the metadata is known: how many replicas they want is not.")       \
    ROW(CLUSTERS_NAMED,                                                                            \
        "There are no Cluster objects: placements use all clusters that they name.")               \
    ROW(SCHEDULED_ONLY, "Member clusters take what is scheduled to them: this ends there.")        \
    ROW(NOT_PLAYED,                                                                                \
        "Of the change only policies, templates and what policies depend on are played: "          \
        "override policies, quotas, rebalancers and clusters act on what runs, not on bindings.")

#define ASSUMPTION_ENUMERATOR(id, text) ASSUMED_##id,
enum assumption { ASSUMPTIONS(ASSUMPTION_ENUMERATOR) ASSUMPTION_COUNT };
extern const char *const assumption_texts[ASSUMPTION_COUNT];

/* Karmada is to look at a template. */
struct queue_item {
    struct entry *template;
    /* Because of Karmada or of a Lazy policy, not of its user: no Lazy policy is applied. */
    bool by_karmada;
};

/*
 * Play on this engine, in which nothing is left to evaluate. While it lasts nobody but the play may
 * change the store. It is the time of the engine's last run: what falls due later is for the
 * engine's own observer to see, which hears nothing of a play.
 */
struct overlay *overlay_new(struct engine *e) MUST_USE;
/* Put everything back; the engine has evaluated it again then. Takes NULL. */
void overlay_free(struct overlay *overlay);

/* Asked while it is played whether it has gone on for too long; NULL: it never has. */
struct overlay_limit {
    bool (*reached)(void *context);
    void *context;
};
void overlay_set_limit(struct overlay *overlay, struct overlay_limit limit);
/* True from the first time that the limit was reached: what has been played is not complete. */
bool overlay_is_cut(struct overlay *overlay);

struct rule_context *overlay_context(const struct overlay *overlay);
bool overlay_gate(const struct overlay *overlay, enum gate gate);
void overlay_assume(struct overlay *overlay, enum assumption assumption);
/* Bits by enum assumption; they are forgotten by it. */
unsigned overlay_take_assumptions(struct overlay *overlay);

/* ---- objects ---- */

/*
 * Put `object`, NULL for none, in the place of the entry's. It stays the caller's, who frees it by
 * overlay_keep() or otherwise after the play; what the store had goes back in the end.
 */
void overlay_replace(struct overlay *overlay, struct entry *entry, void *object);
/* `memory` is freed with the play. Returns it. */
void *overlay_keep(struct overlay *overlay, void *memory);
/* `object`, of this kind, is released with the play. Returns it. */
void *overlay_own(struct overlay *overlay, const struct kind_def *def, void *object);
/* The shared text, kept until the play ends. */
const char *overlay_text(struct overlay *overlay, const char *text);

/* The placement, resolved; valid until another is asked for: a policy has one for all. */
const struct resolved_placement *overlay_placement(struct overlay *overlay, const char *text);

/* Evaluate what has been marked. */
void overlay_evaluate(struct overlay *overlay);
/* Whether an evaluation of the entry is due: its decision may be out of date. */
static inline bool overlay_is_due(const struct entry *entry)
{
    return entry->dirty;
}

/* A state to come back to: objects, not assumptions. The queue has to be empty. */
size_t overlay_mark(const struct overlay *overlay);
void overlay_rollback(struct overlay *overlay, size_t mark);

/*
 * Called before a change of the entry's object and before each evaluation of an entry: what it was
 * can be read for the last time. NULL: nobody asks.
 */
struct overlay_observer {
    void (*touched)(void *context, struct entry *entry);
    void *context;
};
void overlay_observe(struct overlay *overlay, struct overlay_observer observer);

/* ---- the queue ---- */

void overlay_enqueue(struct overlay *overlay, struct queue_item item);
/* The next item, first come first served. False if there is none. */
bool overlay_next(struct overlay *overlay, struct queue_item *out);

/* Notes that the play gives up a template of the queue. */
void overlay_note_unsettled(struct overlay *overlay, struct entry *template);
/* Returns the templates that it gave up, once each, in the order of entry_compare(). Borrowed. */
const struct entry_list *overlay_unsettled(const struct overlay *overlay);

/* ---- readers ---- */

/* The entries of a class that read this one, as they are now. Release it with entry_list_release().
 */
struct entry_list overlay_readers(const struct entry *entry, enum object_class class);

/*
 * Bindings as the simulated Karmada writes them: copies that borrow all that they do not change,
 * and that the play keeps.
 */

/* The entry of a template's binding, existing or not. */
struct entry *bindings_entry(struct overlay *overlay, const struct entry *template);
/* True if the binding is this very template's, not a namesake's. */
bool bindings_is_of(const struct binding *b, const struct entry *template);

/* A copy to be changed. */
struct binding *bindings_copy(struct overlay *overlay, const struct binding *old) MUST_USE;
/* A new binding of the template, without placement, claim or referrers. */
struct binding *bindings_make(struct overlay *overlay, const struct entry *template) MUST_USE;

/* Only the scheduler knows the clusters of a copy, for this reason. */
void bindings_set_undetermined(struct binding *b, enum undetermined_reason reason);

/* The binding is made from the template's present version. */
void bindings_follow(struct binding *b, const struct template *t);

/* What stands about a template at one moment: as far as people ask before a change. */
struct outcome {
    bool exists; /* All else is zero if not. */
    enum template_state state;
    unsigned reason;
    /* The policy that holds it (its claim), else the one that would; NULL if none. Pinned: one that
     * does not exist is there for who refers to it alone. */
    struct entry *policy;
    struct target_cluster *clusters; /* Of its own binding, by name. Shared texts, borrowed. */
    uint32_t cluster_count;
    enum undetermined_reason undetermined; /* UNDETERMINED_REASON_COUNT: the clusters are known. */
    const struct binding *binding;         /* Its own; NULL if there is none. Borrowed. */
};

/* Read it from a template's decision. What it borrows lives as long as those objects do. */
void outcome_read(const struct entry *template, struct outcome *out);
void outcome_release(struct outcome *o, struct store *store);

/* True if both have the same clusters with the same replicas, as far as those are known. */
bool outcome_same_clusters(const struct outcome *a, const struct outcome *b);
/* Bits by enum drift_field: in what their bindings differ of what policies say. */
unsigned outcome_fields(const struct outcome *a, const struct outcome *b);
/* True if nothing differs that people see. */
bool outcome_equal(const struct outcome *a, const struct outcome *b);
