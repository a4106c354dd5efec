/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/store.h"
#include "metrics/rules/decision.h"

/*
 * Findings: decided objects that need attention, collected in lists by class, in steps of limited
 * size, for the first page and the pages of namespaces.
 */

/*
 * Classes of findings. A row has the enumerator and the word for programs. A new class is a row
 * here, and code in findings.c that collects it.
 */
#define FINDINGS(FINDING)                                                                          \
    /* Attached dependencies with referrers that request different values. */                      \
    FINDING(CONFLICT, "conflict")                                                                  \
    /* Dependencies that get a conflict when Karmada applies the present policies. */              \
    FINDING(PREDICTED, "predicted")                                                                \
    /* Pending templates, except those of kinds that no policy selects. */                         \
    FINDING(PENDING, "pending")                                                                    \
    FINDING(STALE, "stale")                                                                        \
    FINDING(ORPHANED, "orphaned")                                                                  \
    /* Templates with a risk, in any stage (enum risk). */                                         \
    FINDING(RISK, "risk")                                                                          \
    /* Policies with a problem (enum policy_problem). */                                           \
    FINDING(INVALID, "invalid")                                                                    \
    /* Templates and bindings with a defect, in any state. */                                      \
    FINDING(BROKEN, "broken")                                                                      \
    /* Config Connector's resources and leases in conflict. */                                     \
    FINDING(CONNECTOR, "connector")

#define FINDING_ENUMERATOR(id, word) FINDING_##id,
enum finding_class { FINDINGS(FINDING_ENUMERATOR) FINDING_CLASSES };

/* Words of FINDINGS, indexed by enumerator. */
extern const char *const finding_names[FINDING_CLASSES];

/*
 * Lists: one for each class, one for templates with a delivery stage before HEALTHY, and one for
 * policies with templates that run another version than the present one.
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
    size_t conflict_fields[2];                /* Fields in conflict, and in predicted conflict. */
    struct finding_list lists[FINDING_LISTS]; /* Entries are pinned. */
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

/* Returns the number of fields in CONFLICT or PREDICTED, or of objects in another class. */
size_t findings_count(const struct findings *f, enum finding_class class);
