/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/system/rate_limit.h"
#include "metrics/base/map.h"
#include "metrics/model/store.h"

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
    struct rate rate; /* Of the Events about it. */
    size_t position;  /* Among all. */
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

void disputes_init(struct disputes *d, uint64_t seed);
void disputes_release(struct disputes *d);

/* What holds for conflicts that begin from now on. */
void disputes_set(struct disputes *d, int64_t now_ms, bool leads);

/* An engine_observer's `decided`, with the disputes as its context. */
void disputes_decided(void *disputes, struct entry *entry);

/* There is another store, whose entries have all been decided: look at each of them. */
void disputes_adopt(struct disputes *d, struct store *store);

/* The next one that is to be looked at; NULL if there is none. */
struct dispute *disputes_next(struct disputes *d);

/*
 * Forget one that is over, if nothing depends on what is known of it: its rate is that of a new
 * one, or there are more than client-go keeps.
 */
void disputes_tidy(struct disputes *d, struct dispute *dispute);
