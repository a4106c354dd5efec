/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * Findings: decided objects that need attention, collected in lists by class for `check`, and in
 * steps of limited size for the status page. Also the words of --fail-on.
 */

/*
 * Classes of findings. A row has the enumerator, the word for --fail-on, and the noun for one and
 * for several findings. A new class is a row here, and code in findings.c that collects it.
 */
#define FINDINGS(FINDING)                                                                          \
    /* Attached dependencies with referrers that request different values. */                      \
    FINDING(CONFLICT, "conflict", "conflict", "conflicts")                                         \
    /* Dependencies that get a conflict when Karmada applies the present policies. */              \
    FINDING(PREDICTED, "predicted", "predicted conflict", "predicted conflicts")                   \
    /* Pending templates, except those of kinds that no policy selects. */                         \
    FINDING(PENDING, "pending", "pending template", "pending templates")                           \
    FINDING(STALE, "stale", "stale template", "stale templates")                                   \
    /* Stale templates in the phase OVERDUE. */                                                    \
    FINDING(OVERDUE, "overdue", "overdue template", "overdue templates")                           \
    FINDING(ORPHANED, "orphaned", "orphaned template", "orphaned templates")                       \
    /* Like UNMATCHED, printed only if --fail-on names it: unbound is normal in manifests. */      \
    FINDING(UNBOUND, "unbound", "unbound template", "unbound templates")                           \
    /* Templates by stage, except ignored ones; from EVICTING on, by the stage of the binding. */  \
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
    /* Templates with a risk, in any stage (enum risk). */                                         \
    FINDING(RISK, "risk", "template at risk", "templates at risk")                                 \
    /* Policies with a problem (enum policy_problem). */                                           \
    FINDING(INVALID, "invalid", "invalid policy", "invalid policies")                              \
    /* Templates and bindings with a defect, in any state. */                                      \
    FINDING(BROKEN, "broken", "broken object", "broken objects")                                   \
    /* Config Connector's resources and leases in conflict. */                                     \
    FINDING(CONNECTOR, "connector", "cloud resource in dispute", "cloud resources in dispute")     \
    /* Documents with an object that a later document declares again; the caller counts them. */   \
    FINDING(DUPLICATE, "duplicate", "duplicate object", "duplicate objects")

#define FINDING_ENUMERATOR(id, word, one, many) FINDING_##id,
enum finding_class { FINDINGS(FINDING_ENUMERATOR) FINDING_CLASSES };

/* Consequences of a change, for --fail-on of `plan`: the enumerator and the word. */
#define CONSEQUENCES(ROW)                                                                          \
    /* A template leaves or reaches a cluster, or its replicas there change. */                    \
    ROW(MOVE, "move")                                                                              \
    /* No policy governs the template any more. */                                                 \
    ROW(LOST, "lost")                                                                              \
    /* A template becomes current only at its user's next change. */                               \
    ROW(WAIT, "wait")                                                                              \
    /* A cluster gets more than its free capacity. */                                              \
    ROW(OVERFLOW, "overflow")                                                                      \
    /* The target clusters cannot be computed (enum undetermined_reason). */                       \
    ROW(UNDETERMINED, "undetermined")                                                              \
    /* Karmada's controllers do not reach a stable state. */                                       \
    ROW(UNSETTLED, "unsettled")

#define CONSEQUENCE_ENUMERATOR(id, word) CONSEQUENCE_##id,
enum consequence {
    CONSEQUENCE_FIRST = FINDING_CLASSES - 1,
    CONSEQUENCES(CONSEQUENCE_ENUMERATOR) CONSEQUENCE_END,
};

/* Words of FINDINGS and CONSEQUENCES, indexed by enumerator, with NULL at the end. */
extern const char *const fail_on_names[CONSEQUENCE_END + 1];
/* Words of --fail-on that `check` and `plan` accept, a bit for each. */
enum {
    FAIL_ON_CHECK = (1U << FINDING_CLASSES) - 1,
    FAIL_ON_PLAN = ((1U << CONSEQUENCE_END) - (1U << FINDING_CLASSES)) | 1U << FINDING_CONFLICT |
                   1U << FINDING_PENDING | 1U << FINDING_STALE | 1U << FINDING_ORPHANED,
};

/* Returns the noun for `count` findings of a class, such as "pending template" or "conflicts". */
const char *finding_noun(enum finding_class class, size_t count);

/*
 * Lists: one for each class, one for templates with a delivery stage before HEALTHY, and one for
 * policies with templates that run another version than the present one. The lists from OUTDATED to
 * UNREACHABLE and of DUPLICATE stay empty.
 */
enum { FINDING_NOT_HEALTHY = FINDING_CLASSES, FINDING_ROLLOUT, FINDING_LISTS };

/* Objects of one list: the first findings->shown of them in the order of entry_compare(). */
struct finding_list {
    struct entry **entries;
    size_t count;
    size_t found; /* Number of visited objects that belonged to the list. */
};

struct findings {
    struct store_walk walk;
    const char *ns; /* Namespace of the objects to collect; NULL for all. Borrowed. */
    size_t shown;   /* Maximum length of each list. */
    size_t templates;
    size_t states[STATE_COUNT];
    size_t not_selected; /* Pending templates of kinds that no policy selects: no findings. */
    size_t policies;
    size_t bindings;
    size_t stages[STAGE_COUNT];
    size_t deliveries[STAGE_NONE + 1];
    size_t conflict_fields[2];                /* Fields in conflict, and in predicted conflict. */
    struct finding_list lists[FINDING_LISTS]; /* Entries are pinned; STALE includes OVERDUE. */
};

/* Starts to collect the findings in a store, at most `shown` objects in each list. */
void findings_begin(struct findings *f, struct store *store, size_t shown);
/*
 * Visits up to `budget` more entries. Returns true once all have been visited: engine_run() must
 * have returned true by then. Objects that no longer belong to a list are removed from it. The
 * counts are exact if no object has changed since findings_begin(). The result is valid until the
 * store changes; release it before the next findings_begin().
 */
bool findings_step(struct findings *f, size_t budget);
void findings_release(struct findings *f);

/* Collects all findings in one call. Release `out` with findings_release(). */
void findings_gather(struct store *store, struct findings *out);
/* Collects the findings of one namespace, at most `shown` objects in each list. */
void findings_gather_in(struct store *store, const char *ns, size_t shown, struct findings *out);

/* A class in which one object can have several problems, each with a sentence. */
struct problem_class {
    enum finding_class class;
    const char *title;
    const char *heading;                       /* Heading of the column with the objects. */
    unsigned (*of)(const struct entry *entry); /* Returns the problems of an object, as bits. */
    const char *const *texts;                  /* Sentence for each bit. */
    const char *actor;                         /* People responsible for the class. */
};

enum { PROBLEM_CLASSES = 4 };

/* All problem classes, in display order. */
extern const struct problem_class problem_class[PROBLEM_CLASSES];

/*
 * Returns the number of fields in CONFLICT or PREDICTED, or of objects in another class; 0 for
 * DUPLICATE.
 */
size_t findings_count(const struct findings *f, enum finding_class class);
