/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/listing.h"
#include "metrics/rules/engine.h"

/*
 * What people should look at, out of all that an engine concluded: for `check`
 * and for the page. Walks over every object once, and sorts only what it keeps.
 */

/* In the order of the texts that --fail-on takes. */
enum finding_class {
    FINDING_CONFLICT,  /* Dependencies whose referrers disagree. */
    FINDING_PREDICTED, /* Those that will, once their policies have their way. */
    FINDING_PENDING,   /* Templates that nothing propagates, of kinds that policies select. */
    FINDING_STALE,     /* Templates that are not on what governs them now. */
    FINDING_OVERDUE,   /* Those among them that Karmada should have seen to. */
    FINDING_ORPHANED,
    FINDING_UNBOUND,   /* Counted only: in manifests that is what all governed templates are. */
    FINDING_INVALID,   /* Policies that do not say what they seem to. */
    FINDING_BROKEN,    /* Templates and bindings with a defect, whatever their state. */
    FINDING_CONNECTOR, /* Config Connector's resources and leases that somebody fights over. */
    FINDING_DUPLICATE, /* Objects that the manifests name twice; counted by the caller. */
    FINDING_CLASSES,
};

struct findings {
    size_t templates;
    size_t states[STATE_COUNT];
    size_t not_selected; /* Pending, but of a kind that no policy selects: no finding. */
    size_t conflicts[DEPENDENCY_FIELD_COUNT];
    size_t policies;
    size_t bindings;
    /* Objects of each class, by kind, namespace and name; FINDING_OVERDUE is part of STALE's. */
    struct listing lists[FINDING_CLASSES];
    /* Dependencies with references that lead nowhere, or whose resolution is not applied. */
    struct listing remarks;
};

/* Of an engine that has settled; true until the store changes. Release with findings_release. */
void findings_gather(const struct engine *engine, struct findings *out);
void findings_release(struct findings *f);

/* A class of which an object can have several, each with a sentence. */
struct finding_wrongs {
    enum finding_class class;
    const char *title;
    const char *heading;                       /* Of a column with its objects. */
    unsigned (*of)(const struct entry *entry); /* Bits. */
    const char *const *texts;                  /* By bit. */
};

/* In the order in which people are told of them. */
enum { FINDING_WRONGS = 3 };
extern const struct finding_wrongs finding_wrongs[FINDING_WRONGS];

/* How many findings there are of a class: fields in conflict, else objects. */
size_t findings_count(const struct findings *f, enum finding_class class);
