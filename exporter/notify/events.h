/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/notify/event_writer.h"
#include "exporter/notify/leader_election.h"

/*
 * The outlet of --events.emit: Events about conflicts of dependencies, which one of several
 * exporters writes (emission.h), the one that holds a Lease (election.h). Exporters that look at
 * different namespaces have different Leases.
 *
 * All requests go over the session of the evaluation. Nothing waits for them, and what fails here
 * holds up nothing else.
 */
struct events {
    const struct log *log;
    struct evaluation *current; /* Whose conflicts are known; NULL: nobody's. */
    bool open;                  /* It is wanted. */
    bool silent;                /* Karmada says it itself. */
    bool idle;                  /* There is nothing to do before the next turn of the loop. */
    bool blind;                 /* Events have not been read; logged. */
    struct leader_election leader_election;
    struct event_writer event_writer;
    char instance[64]; /* The host's name, which in a pod is the pod's. */
    char identity[96]; /* Of this process. */
    char lease[96];    /* The name. */
    uint64_t results;  /* All that became of Events, as the page has it. */
    bool led;          /* As the log has it, as do the next three. */
    char holder[96];
    enum leader_election_trouble trouble;
    char failure[sizeof(((struct error *)NULL)->text)];
};

/* As of outlets.h, all of them. */
void events_init(struct events *e, const struct log *log);
void events_release(struct events *e, struct evaluation *current);
bool events_turn(struct events *e, struct evaluation *current, int64_t now_ms, int64_t clock_ms);
int64_t events_due(const struct events *e);
void events_forget(struct events *e);
void events_fill(const struct events *e, struct registry *registry);
