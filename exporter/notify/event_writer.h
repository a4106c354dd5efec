/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_request.h"
#include "exporter/system/rate_limit.h"
#include "metrics/base/map.h"
#include "metrics/model/store.h"
#include "metrics/rules/engine.h"

/*
 * The conflicts there are, by the name of the binding they are about, and what has been said of
 * each. They outlive the store: a reload brings another one.
 */
struct dispute {
    const char *ns; /* Of the binding. */
    const char *name;
    unsigned fields;  /* In conflict: bits by enum dependency_field; 0: it is over. */
    unsigned others;  /* Of these, what others have said while it lasted. */
    unsigned said;    /* The fields of the Event that we have written last, or found written; */
    int64_t said_ms;  /* when that was. Steady, as are all times. */
    int64_t began_ms; /* When these fields were seen to be in conflict. */
    int64_t due_ms;   /* Not to be tried before. */
    bool again; /* That was seen by us while we led: an Event that is there counts one more. */
    bool seen;  /* In the store that there is now. */
    struct rate_limit rate_limit; /* Of the Events about it. */
    size_t position;              /* Among all. */
};

struct disputes {
    struct map map;
    uint64_t seed;
    struct dispute **items; /* In no order. */
    size_t count;
    size_t capacity;
    size_t ended;  /* Of these. */
    size_t cursor; /* Who looks at them one after the other goes on here. */
    int64_t now_ms;
    bool leads;
    bool changed; /* Since somebody set it to false. */
};

/* What holds for conflicts that begin from now on. */
void disputes_set(struct disputes *d, int64_t now_ms, bool leads);

/* An engine_observer's `decided`, with the disputes as its context. */
void disputes_decided(void *disputes, struct entry *entry);

/* There is another store, whose entries have all been decided: look at each of them. */
void disputes_adopt(struct disputes *d, struct store *store);

/*
 * Writes the Event of each conflict about a dependency that Karmada does not write itself: one
 * after the other, a few a second, and none of it twice.
 *
 * - What has to be written is what is not there: the store has the Events of the server, our own
 *   among them, so that a restart and another replica know what has been said. Where that is not
 *   up to date the name decides (conflict_event_name): the server refuses a second one.
 * - A conflict that ends and begins again, or is about other fields for a while, counts one more
 *   on the Event that is there, as client-go does for what is the same: if somebody leads who saw
 *   it begin, and in a later second than the last one. Otherwise the Event stays as it is, and says
 *   too little rather than too much.
 * - The server forgets Events (--event-ttl, an hour). While the conflict lasts its Event is made
 *   anew, so that whoever looks at the binding sees it, but at most once an hour: it is not to be
 *   fought over with somebody who deletes it.
 * - Of one binding client-go's spam filter lets 25 be written at once, and then one each 300 s.
 * What would count one more is dropped beyond that, and counted; what is not there yet waits.
 *
 * Karmada 1.16 and later says it itself. Where that may be the one, it gets `patience_ms`; what any
 * other component has said of a binding and a field is not said again.
 */

/* What became of an Event that was to be written, by the label of the counter. */
#define EMISSION_RESULTS(ROW)                                                                      \
    ROW(CREATED, "created")                                                                        \
    ROW(UPDATED, "updated")                                                                        \
    /* Another one had written it. */                                                              \
    ROW(EXISTS, "exists")                                                                          \
    /* It is tried again. */                                                                       \
    ROW(FAILED, "failed")                                                                          \
    /* By the spam filter. */                                                                      \
    ROW(DROPPED, "dropped")

#define EMISSION_ENUMERATOR(id, word) EMISSION_##id,
enum event_writer_result { EMISSION_RESULTS(EMISSION_ENUMERATOR) EMISSION_RESULT_COUNT };
extern const char *const event_writer_result_names[EMISSION_RESULT_COUNT];

/* What it writes about, and to. Borrowed. */
struct event_writer_world {
    const struct engine *engine;
    struct transport transport;
    int64_t patience_ms; /* How long a conflict lasts before it is said. */
    bool leads;          /* Nothing is written otherwise. */
};

enum event_writer_step {
    EMISSION_READ_BINDING, /* For its uid and version, which the Event names. */
    EMISSION_CREATE,
    EMISSION_READ_EVENT, /* For its count. */
    EMISSION_COUNT,
};

struct event_writer {
    const char *instance; /* Who we are; borrowed. */
    struct disputes disputes;
    struct fetch *fetch;         /* NULL: nothing is under way. */
    enum event_writer_step step; /* Of that. */
    struct dispute *at;          /* What it is about. */
    unsigned fields;             /* What the Event says. */
    char *name;                  /* Of the Event; NULL before it is known. */
    size_t left;                 /* So many are still to be looked at, */
    int64_t soonest_ms;          /* and that is when one of the others is to be looked at again. */
    int64_t hold_ms;   /* Nothing is written before. Steady, as are all times but `clock_ms`. */
    unsigned failures; /* In a row. */
    uint64_t results[EMISSION_RESULT_COUNT];
    /* What the server does not let us do, until it does; NULL: nothing. */
    const char *forbidden_verb;
    const char *forbidden_resource;
    struct error err; /* Of the last failure. */
};

void event_writer_init(struct event_writer *e, const char *instance, uint64_t seed);
void event_writer_release(struct event_writer *e);

/* Go on; the engine has nothing left to evaluate. */
void event_writer_turn(struct event_writer *e, const struct event_writer_world *world,
                       int64_t now_ms, int64_t clock_ms);
/* When to do so even if nothing arrives; INT64_MAX for never. */
int64_t event_writer_due(const struct event_writer *e);
/* Give up what is under way. */
void event_writer_suspend(struct event_writer *e);
