/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"
#include "metrics/model/template.h"
#include "metrics/rules/decision.h"
#include "metrics/rules/delivery_index.h"
#include "metrics/rules/drift.h"
#include "metrics/rules/overrides.h"
#include "metrics/rules/placement_match.h"

/*
 * Stage of a template, from its match to health in the member clusters (product contract 3.8), and
 * the risks of its present condition. The stages from EVICTING on follow from the binding, its
 * targets, their Works and the clusters. Deciding is pure: delivery_gather() collects the facts.
 */

/* Facts about one target of a binding that the binding's status does not have. */
struct target_facts {
    const struct work *work; /* NULL if no Work is known. */
    const char *failure;     /* Karmada's message about a failing override policy, or NULL. */
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
    uint32_t generation;                /* Generation of the template; 0 for kinds without it. */
    bool works_known;                   /* All Works have been read. */
    bool purge_blocked;                 /* An eviction with purgeMode Directly is not complete. */
    bool evicts_ready;                  /* An eviction task concerns a cluster that is ready. */
    bool override_fails;                /* An override policy fails for a target. */
    bool lists_deleted_override;        /* A Work lists an override policy that does not exist. */
    bool divides;                       /* The placement divides replicas among clusters. */
    bool off_placement;                 /* The placement does not allow one of the clusters. */
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
 * targets. Appends the entries that were read to `reads`. `divides` and `off_placement` need
 * delivery_set_placement().
 */
struct delivery_facts delivery_gather(const struct entry *binding, const struct entry *template,
                                      const struct delivery_sources *from, struct target_list *list,
                                      struct entry_list *reads);

/* Sets `divides` and `off_placement` from the resolved placement of the binding. */
void delivery_set_placement(struct delivery_facts *f, struct placements *placements,
                            const struct resolved_placement *resolved);

/*
 * Returns the time at which a binding entered a stage, in seconds since the epoch; 0 if unknown.
 * `changed_ms` is the last user change of the template.
 */
uint32_t delivery_stage_start_s(const struct binding *b, enum stage stage, int64_t changed_ms);

/*
 * Returns Karmada's message about a target, an index in the template's decision: the message about
 * the failing override policy, if that is the reason, else the message in the binding's status; ""
 * without a message. Valid until the store changes.
 */
const char *delivery_target_message(const struct delivery_sources *from,
                                    const struct entry *template, uint32_t target);
/*
 * Returns Karmada's message about the delivery stage of a template with a binding: about the
 * binding or, for stages of targets, about the first target by name in that stage.
 */
const char *delivery_message(const struct delivery_sources *from, const struct entry *template);

/* Returns true if the eviction task ends with the deletion of the evicted copy. */
static inline bool eviction_counts(const struct eviction *e)
{
    return !e->suppresses;
}

/*
 * Sets out->stages, the risks and, with a binding, flags, after drift_decide(). The stage follows
 * from the state or, if the binding is up to date, from the delivery. `delivery` is NULL without a
 * binding that a policy made or others require. Returns the time in milliseconds at which the
 * result changes without a change of objects; INT64_MAX for never.
 */
int64_t template_stages_decide(const struct drift_input *s, const struct delivery_facts *delivery,
                               struct template_decision *out);

/*
 * Risks: outages that the next step of Karmada or a user can cause. A set has a bit for each row. A
 * row has the enumerator, the word for programs and a sentence for people, without capital and full
 * stop. A new risk is a row here, and a line in risks_of().
 */
#define RISKS(ROW)                                                                                 \
    ROW(LAST_COPY, "last_copy",                                                                    \
        "its only copy is deleted when its eviction times out, and no other cluster takes it")     \
    ROW(READY_EVICTED, "ready_cluster_evicted",                                                    \
        "the cluster that it is moved off is ready, and loses its copy all the same")              \
    ROW(EMPTIED, "placement_emptied",                                                              \
        "it was placed, no cluster fits any more, and so its copies are deleted")                  \
    ROW(FROZEN, "frozen_by_priority_class",                                                        \
        "its binding takes no change, of its policy or its own, before the PriorityClass that "    \
        "its policy names exists")                                                                 \
    ROW(OVERRIDE_FAILED, "override_failed",                                                        \
        "an override policy fails for a member cluster, so that no change reaches it")             \
    /* Karmada never removes names from the annotations applied-(cluster-)overrides. */            \
    ROW(OVERRIDE_LISTED, "override_still_listed",                                                  \
        "a Work lists an override policy as applied that does not exist any more")                 \
    ROW(MAY_TRAVEL, "change_may_travel",                                                           \
        "it was changed after its policy went, and a restart of Karmada's controllers, or a move " \
        "of a cluster, delivers that")

#define RISK_ENUMERATOR(id, word, text) RISK_##id,
enum risk { RISKS(RISK_ENUMERATOR) RISK_COUNT };
extern const char *const risk_names[RISK_COUNT];
extern const char *const risk_texts[RISK_COUNT];

/* Returns the risks of a template, bits by risk; 0 for other entries. */
unsigned entry_risks(const struct entry *e);
