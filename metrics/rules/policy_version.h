/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/model/binding.h"

/*
 * A version of a policy (product contract 3.7): a set of the values that Karmada copies into
 * bindings. A change of selectors, priority or preemption makes none.
 */
struct policy_history;

struct policy_version {
    struct policy_history *history; /* That it is part of (policy_history.h). */
    struct propagation values; /* As a policy sets them; `preserve` is true or false. Shared. */
    const char *by;            /* The manager who wrote it; NULL if unknown. Shared. */
    int64_t generation;        /* The policy's when it came; 0 if unknown. */
    int64_t since_ms;          /* When it came; 0 if unknown, always so where recovered. */
    /* Recovered: when a binding with these values was last seen to be written; 0 if unknown. */
    int64_t evidence_ms;
    uint32_t number;    /* From 1 on, greater for what came later. */
    uint32_t turn;      /* How many versions had been seen with it, or after a recovered one. */
    uint32_t templates; /* That run it. */
    bool recovered;
    bool since_seen; /* `since_ms` is when the change was seen: no object has the time. */
    bool missed;     /* Others may have come between the version seen before and this one. */
    bool undated;
};

/* A new one of these values, of no history yet, for policy_version_free(). */
struct policy_version *policy_version_new(const struct propagation *values) MUST_USE;
/* Other texts for the same values: what a policy says is more exact than what a binding shows. */
void policy_version_adopt(struct policy_version *v, struct intern *strings,
                          const struct propagation *values);
/* `strings` are those of the policy's store. */
void policy_version_free(struct policy_version *v, struct intern *strings);

/*
 * True if an earlier version has the values `p` of a binding. Of its priority only that there is
 * one tells a version: the number behind a PriorityClass is none of the policy's values.
 */
bool policy_version_has(const struct policy_version *v, const struct propagation *p,
                        bool cluster_scoped);
/* The same of what a policy says; a recovered version does not know the name of the class. */
bool policy_version_says(const struct policy_version *v, const struct propagation *p);

/*
 * The same text for the same values, also after a restart; save that a recovered version does not
 * know the name of a PriorityClass.
 */
enum { POLICY_VERSION_HASH_SIZE = 11 };
void policy_version_hash(const struct policy_version *v, char out[POLICY_VERSION_HASH_SIZE]);
