/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/delivery_index.h"
#include "metrics/rules/overrides.h"
#include "metrics/rules/placement_match.h"
#include "metrics/rules/template_state.h"

/*
 * Stage of a template, from the match of a policy to health in the member clusters, and risks. The
 * stages from EVICTING on depend only on the facts that delivery_gather() and
 * delivery_set_placement() collect: about binding, targets, Works, Events, clusters and template.
 */

/* Facts about one target of a binding, beside those in the status of the binding. */
struct target_facts {
    const struct work *work; /* NULL if no Work is known. */
    const char *failure;     /* Message about an override policy that fails now; else NULL. */
    enum member_state member;
};

/* Array of target facts, which keeps its memory between evaluations. */
struct target_list {
    struct target_facts *items;
    size_t capacity;
};
void target_list_release(struct target_list *list);

struct delivery_facts {
    const struct binding *binding;
    const struct target_facts *targets; /* Facts about each target of the binding, in order. */
    uint32_t generation;                /* Generation of the template; 0 if it has none. */
    bool works_known;                   /* Result of works_known(). */
    bool purge_blocked;                 /* A copy that purgeMode Directly evicts may exist. */
    bool evicts_ready;                  /* An eviction removes the copy from a ready cluster. */
    bool override_fails;                /* An override policy fails for a target. */
    bool deleted_override_listed;       /* A Work lists an override policy that does not exist. */
    bool divides;                       /* The placement divides replicas among clusters. */
    bool off_placement;                 /* The placement forbids a cluster in spec.clusters. */
};

/* Sources of struct delivery_facts; all borrowed. */
struct delivery_sources {
    const struct members *members;
    const struct works *works;
    const struct override_events *override_events;
    struct store *store;
    const struct incomplete *incomplete;
};

/*
 * Returns the facts about a binding, which must not be left over, and its template; `list` owns the
 * targets. Appends the override policies that the facts depend on to `reads`. `divides` and
 * `off_placement` are false before delivery_set_placement().
 */
struct delivery_facts delivery_gather(const struct entry *binding, const struct entry *template,
                                      const struct delivery_sources *from, struct target_list *list,
                                      struct entry_list *reads);

/* Sets `divides` and, if `has_clusters`, `off_placement`, from the placement of the binding. */
void delivery_set_placement(struct delivery_facts *f, struct placements *placements,
                            const struct resolved_placement *resolved);

/*
 * Returns the time at which a binding entered its delivery stage, in seconds since the epoch; 0 if
 * unknown. `changed_ms` is the time of the template's last user change.
 */
uint32_t delivery_stage_start_s(const struct binding *b, enum stage stage, int64_t changed_ms);

/*
 * Returns Karmada's message about a target, an index in decision_targets(): the message about a
 * failing override policy if the target's reason is WHY_OVERRIDE_FAILED, else the message in the
 * binding's status; "" without a message. Valid until the store changes.
 */
const char *delivery_target_message(const struct delivery_sources *from,
                                    const struct entry *template, uint32_t target);
/*
 * Returns Karmada's message about the delivery stage of a template with a binding, or "". For
 * EVICTING and UNSCHEDULED: the message of the condition Scheduled. For other stages: the message
 * about the first target, by cluster name, with the stage and reason of the binding.
 */
const char *delivery_message(const struct delivery_sources *from, const struct entry *template);

/* Returns true if the eviction task ends without a change by a user (no suppressDeletion). */
static inline bool eviction_ends_by_itself(const struct eviction *e)
{
    return !e->suppresses;
}

/*
 * Sets the stages and risks of a decision whose state is set. In the states CURRENT and ATTACHED
 * the stage is that of the delivery, or STAGE_UNBOUND without one; in others the state determines
 * it. With a delivery, also sets the stages of the targets, and adds flags. `delivery` is NULL
 * without a binding, or with one left over. Returns the time in milliseconds at which the result
 * changes without a change of objects; INT64_MAX for never.
 */
int64_t template_stages_decide(const struct template_state_input *s,
                               const struct delivery_facts *delivery,
                               struct template_decision *out);

/*
 * Risks: outages that the next step of Karmada or a user can cause. A set has a bit for each row. A
 * row has the enumerator, the word for programs and a sentence for people, without initial capital
 * and full stop. A new risk is a row here, and code in risks_of().
 */
#define RISKS(ROW)                                                                                 \
    ROW(LAST_COPY, "last_copy",                                                                    \
        "Karmada deletes the only copy when the eviction times out, and no other member cluster "  \
        "fits")                                                                                    \
    ROW(READY_EVICTED, "ready_cluster_evicted", "the copy leaves a member cluster that is Ready")  \
    ROW(EMPTIED, "placement_emptied",                                                              \
        "no member cluster fits any more, so Karmada deletes the copies")                          \
    ROW(FROZEN, "frozen_by_priority_class",                                                        \
        "Karmada does not update the binding until the PriorityClass in the policy exists")        \
    ROW(OVERRIDE_FAILED, "override_failed",                                                        \
        "an override policy fails for a member cluster, so changes do not reach it")               \
    /* Karmada never removes names from the annotations applied-(cluster-)overrides. */            \
    ROW(OVERRIDE_LISTED, "override_still_listed",                                                  \
        "a Work lists an applied override policy that no longer exists")                           \
    ROW(MAY_TRAVEL, "change_may_travel",                                                           \
        "the template changed after its policy was deleted; a restart of Karmada's controllers, "  \
        "or a change of clusters, delivers the change")

#define RISK_ENUMERATOR(id, word, text) RISK_##id,
enum risk { RISKS(RISK_ENUMERATOR) RISK_COUNT };
extern const char *const risk_names[RISK_COUNT];
extern const char *const risk_texts[RISK_COUNT];

/*
 * Returns true if the governing policy's PriorityClass is missing: Karmada then writes no
 * ResourceBinding. Bindings of cluster-scoped templates have no priority. `d` is the template's
 * decision, at least its state.
 */
bool lacks_priority_class(const struct entry *template, const struct template_decision *d);

/* Returns the risks of a template, bits by risk; 0 for other and undecided entries. */
unsigned entry_risks(const struct entry *e);
