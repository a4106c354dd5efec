/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_request.h"

/*
 * Which of several exporters leads, by a Lease of coordination.k8s.io/v1 as client-go's leader
 * election uses it: its holder renews it every 2 s of 15; the others take it over once they have
 * seen no change of it for as long as its holder says that it lasts. They measure that by their own
 * steady clock, from when they saw the last change, so that clocks may differ by any amount.
 *
 * A leader leads for two thirds of the duration from when it asked for the last renewal that
 * succeeded. As nobody can have seen that renewal before it was asked for, a third is left for
 * what it still has under way before another one can begin. Every change is made at the version
 * that was read (409 otherwise), so that of two who take it one gets it.
 */
struct leader_election_settings {
    const char *ns;
    const char *name;
    const char *identity; /* Another one for each process. */
    const char *field_manager;
    int64_t lease_ms; /* Whole seconds. */
};

/* What keeps us from holding it, for people; at most one at a time. */
enum leader_election_trouble {
    LEADER_ELECTION_FINE,
    LEADER_ELECTION_FORBIDDEN,    /* `verb` on leases. */
    LEADER_ELECTION_NO_NAMESPACE, /* It has to be created by whoever runs the server. */
    LEADER_ELECTION_FAILED,
};

struct leader_election {
    struct leader_election_settings settings; /* The texts are borrowed. */
    struct fetch *fetch;                      /* NULL: nothing is under way. */
    const char *verb;      /* Of that, or of the last one: "get", "create", "update". */
    cJSON *lease;          /* As it was read or written last; NULL: none, or nobody knows. */
    char *record;          /* Its spec as text; NULL before the first. */
    int64_t observed_ms;   /* When that changed. Steady, as are all times here. */
    int64_t asked_ms;      /* When what is under way was asked for. */
    int64_t held_until_ms; /* Until when we lead; 0: we do not. */
    int64_t due_ms;
    bool read;      /* `lease` is what there is, as far as we know. */
    bool releasing; /* It is to be given back. */
    bool released;  /* That has been done, or need not be. */
    unsigned failures;
    uint32_t random; /* So that those who wait do not all ask at once. */
    enum leader_election_trouble trouble;
    struct error err; /* Of the last trouble. */
};

void leader_election_init(struct leader_election *e,
                          const struct leader_election_settings *settings, uint32_t random);
void leader_election_release(struct leader_election *e);

/*
 * Go on, over this transport, which may be another one after leader_election_suspend(). `clock_ms`
 * is only written into the Lease, for people.
 */
void leader_election_turn(struct leader_election *e, struct transport transport, int64_t now_ms,
                          int64_t clock_ms);
/* When to do so; INT64_MAX for never. */
int64_t leader_election_due(const struct leader_election *e);

/* Give up what is under way: its transport ends. Whoever leads goes on leading for its time. */
void leader_election_suspend(struct leader_election *e);

bool leader_election_leads(const struct leader_election *e, int64_t now_ms);

/* Lead no longer, and give the Lease back, so that another one need not wait for its end. */
void leader_election_resign(struct leader_election *e);
