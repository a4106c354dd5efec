/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/evaluation.h"
#include "exporter/notify/event_writer.h"
#include "exporter/notify/leader_election.h"

/*
 * Implements --events.emit: writes Events about conflicts of dependencies (event_writer.h) while
 * this exporter leads (leader_election.h). Exporters with the same namespaces and shard share a
 * Lease.
 *
 * All requests use the session of the evaluation and run on the loop thread. Only events_release()
 * blocks. Failures are logged and retried, and affect nothing else.
 */
struct events {
    const struct log *log;      /* Borrowed. */
    struct evaluation *current; /* Evaluation that is observed; NULL without one. Borrowed. */
    bool open;                  /* leader_election is initialized. */
    bool silent;                /* Karmada writes the Events; this exporter does not. */
    bool idle;                  /* The last turn had no work: events_due() is INT64_MAX. */
    bool unread;                /* Existing Events were unread at the last check; logged. */
    struct leader_election leader_election;
    struct event_writer event_writer;
    char instance[64]; /* Host name; in a Pod, the Pod's name. */
    char identity[96]; /* Holder identity of this process. */
    char lease[96];    /* Name of the Lease. */
    uint64_t results;  /* Sum of write results at the last turn. */
    /* State that the log has reported: */
    bool led;
    char holder[96];
    enum leader_election_problem problem;
    char failure[sizeof(((struct error *)NULL)->text)];
};

/* Each function has the contract of its counterpart in senders.h. */
void events_init(struct events *e, const struct log *log);
void events_release(struct events *e, struct evaluation *current);
bool events_turn(struct events *e, struct evaluation *current, int64_t now_ms, int64_t clock_ms);
int64_t events_due(const struct events *e);
void events_forget(struct events *e);
void events_fill(const struct events *e, struct registry *registry);
