/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * What needs people's attention, out of all that an engine decided: for `check`, and for the page,
 * whose turns are short.
 */

/*
 * THE table of classes of findings: the enumerator, the word for --fail-on, and what one and many
 * are called. A new class is a row here, and what gathers it in findings.c.
 */
#define FINDINGS(FINDING)                                                                          \
    /* Dependencies whose referrers disagree. */                                                   \
    FINDING(CONFLICT, "conflict", "conflict", "conflicts")                                         \
    /* Those that will, once their policies have their way. */                                     \
    FINDING(PREDICTED, "predicted", "predicted conflict", "predicted conflicts")                   \
    /* Templates that nothing propagates, of kinds that policies select. */                        \
    FINDING(PENDING, "pending", "pending template", "pending templates")                           \
    /* Templates that are not on what governs them now. */                                         \
    FINDING(STALE, "stale", "stale template", "stale templates")                                   \
    /* Those among them that Karmada should have seen to. */                                       \
    FINDING(OVERDUE, "overdue", "overdue template", "overdue templates")                           \
    FINDING(ORPHANED, "orphaned", "orphaned template", "orphaned templates")                       \
    /* Printed only if --fail-on names it: in manifests, all governed templates are unbound. */    \
    FINDING(UNBOUND, "unbound", "unbound template", "unbound templates")                           \
    /* Templates by their stage; from evicting on by that of their binding, whatever is before. */ \
    FINDING(UNMATCHED, "unmatched", "unmatched template", "unmatched templates")                   \
    FINDING(OUTDATED, "outdated", "outdated template", "outdated templates")                       \
    FINDING(EVICTING, "evicting", "evicting template", "evicting templates")                       \
    FINDING(UNSCHEDULED, "unscheduled", "unscheduled template", "unscheduled templates")           \
    FINDING(PLACED_NOWHERE, "placed_nowhere", "template placed nowhere",                           \
            "templates placed nowhere")                                                            \
    FINDING(UNDISPATCHED, "undispatched", "undispatched template", "undispatched templates")       \
    FINDING(UNAPPLIED, "unapplied", "unapplied template", "unapplied templates")                   \
    FINDING(UNDELIVERED, "undelivered", "undelivered template", "undelivered templates")           \
    FINDING(UNHEALTHY, "unhealthy", "unhealthy template", "unhealthy templates")                   \
    FINDING(UNREACHABLE, "unreachable", "unreachable template", "unreachable templates")           \
    /* Templates that what is to come will hurt, wherever they are. */                             \
    FINDING(RISK, "risk", "template at risk", "templates at risk")                                 \
    /* Policies that do not say what they seem to. */                                              \
    FINDING(INVALID, "invalid", "invalid policy", "invalid policies")                              \
    /* Templates and bindings with a defect, whatever their state. */                              \
    FINDING(BROKEN, "broken", "broken object", "broken objects")                                   \
    /* Config Connector's resources and leases that somebody fights over. */                       \
    FINDING(CONNECTOR, "connector", "cloud resource in dispute", "cloud resources in dispute")     \
    /* Objects that the manifests name twice; counted by the caller. */                            \
    FINDING(DUPLICATE, "duplicate", "duplicate object", "duplicate objects")

#define FINDING_ENUMERATOR(id, word, one, many) FINDING_##id,
enum finding_class { FINDINGS(FINDING_ENUMERATOR) FINDING_CLASSES };

/* What else a change can do, for --fail-on of `plan`: the enumerator and the word. */
#define CONSEQUENCES(ROW)                                                                          \
    /* A template leaves or reaches a cluster, or has other replicas there. */                     \
    ROW(MOVE, "move")                                                                              \
    /* No policy has it any more. */                                                               \
    ROW(LOST, "lost")                                                                              \
    /* It takes the template's next change to have an effect. */                                   \
    ROW(WAIT, "wait")                                                                              \
    /* More arrives at a cluster than it has free. */                                              \
    ROW(OVERFLOW, "overflow")                                                                      \
    /* Only the scheduler knows where a template goes. */                                          \
    ROW(UNDETERMINED, "undetermined")                                                              \
    /* Karmada does not come to rest. */                                                           \
    ROW(UNSETTLED, "unsettled")

#define CONSEQUENCE_ENUMERATOR(id, word) CONSEQUENCE_##id,
enum consequence {
    CONSEQUENCE_FIRST = FINDING_CLASSES - 1,
    CONSEQUENCES(CONSEQUENCE_ENUMERATOR) CONSEQUENCE_END,
};

/* The words of both, ending with NULL: their places are the enumerators. */
extern const char *const fail_on_names[CONSEQUENCE_END + 1];
/* Those that `plan` can tell; `check` can all findings. Bits. */
enum {
    FAIL_ON_CHECK = (1U << FINDING_CLASSES) - 1,
    FAIL_ON_PLAN = ((1U << CONSEQUENCE_END) - (1U << FINDING_CLASSES)) | 1U << FINDING_CONFLICT |
                   1U << FINDING_PENDING | 1U << FINDING_STALE | 1U << FINDING_ORPHANED,
};

/* "pending template", "conflicts": what so many findings of a class are called. */
const char *finding_noun(enum finding_class class, size_t count);

/*
 * The lists: one of each class; of the templates with a binding that is not healthy everywhere; and
 * of the policies of which templates run another version than the present one.
 */
enum { FINDING_HELD = FINDING_CLASSES, FINDING_ROLLOUT, FINDING_LISTS };

/* Objects by kind, namespace and name: the first ones, if there are more than were asked for. */
struct finding_list {
    struct entry **entries;
    size_t count;
    size_t found; /* How many there are in all. */
};

struct findings {
    struct store_walk walk;
    const char *ns; /* Only of what is in this namespace; NULL: of all. Borrowed. */
    size_t shown;   /* So many of each list. */
    size_t templates;
    size_t states[STATE_COUNT];
    size_t not_selected; /* Pending, but of a kind that no policy selects: no finding. */
    size_t policies;
    size_t bindings;
    size_t stages[STAGE_COUNT];
    size_t deliveries[STAGE_NONE + 1];
    size_t conflict_fields[2]; /* In conflict, and predicted to be. */
    /* FINDING_OVERDUE is part of STALE's. Entries are pinned. */
    struct finding_list lists[FINDING_LISTS];
};

/* Begin to collect the findings of the engine over a store, `shown` objects of each list. */
void findings_begin(struct findings *f, struct store *store, size_t shown);
/*
 * Go on with so many objects. True once all were visited: then the engine must have run to its
 * end, and what does not hold any more is off the lists. The numbers are exact if nothing has
 * changed since it began. Valid until the store changes; begin again, or release it.
 */
bool findings_step(struct findings *f, size_t budget);
void findings_release(struct findings *f);

/* All at once. */
void findings_gather(struct store *store, struct findings *out);
/* The same of one namespace, `shown` objects of each list. */
void findings_gather_in(struct store *store, const char *ns, size_t shown, struct findings *out);

/* A class of which one object can have several findings, each with a sentence. */
struct finding_wrongs {
    enum finding_class class;
    const char *title;
    const char *heading;                       /* Of a column with its objects. */
    unsigned (*of)(const struct entry *entry); /* Bits. */
    const char *const *texts;                  /* By bit. */
    const char *actor;                         /* Who must act, behind "Who must act: ". */
};

/* In the order in which they are shown. */
enum { FINDING_WRONGS = 4 };
extern const struct finding_wrongs finding_wrongs[FINDING_WRONGS];

/* How many findings there are of a class: fields in conflict, else objects. */
size_t findings_count(const struct findings *f, enum finding_class class);
