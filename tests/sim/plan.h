/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/objects.h"

/*
 * What happens in one run: which kinds there are, what is written when, and what fails when. All
 * of it follows from the seed, and each item from the seed and its number alone: so a run that
 * fails can be repeated with some of its items left out.
 */
enum fault_type {
    /* Of some kinds, while they last. */
    FAULT_HANG,      /* Requests are never answered. */
    FAULT_SILENT,    /* They are accepted, and nothing is said; nor on streams that are open. */
    FAULT_DRIP,      /* Bodies come a byte a second. */
    FAULT_CUT,       /* Bodies break off anywhere. */
    FAULT_RESET,     /* The same, but the client takes them for complete. */
    FAULT_REFUSE,    /* Requests are answered with an error, or with a page of something else. */
    FAULT_EVENT,     /* Streams get an ERROR. */
    FAULT_REPLAY,    /* Streams get an event again. */
    FAULT_ENDLESS,   /* Initial events never end. */
    FAULT_GARBAGE,   /* Streams get what is no event. */
    FAULT_DEAF,      /* Streams that are open say nothing more, for ever. */
    FAULT_FORBIDDEN, /* They may not be read, and streams end. */
    FAULT_UNSERVED,  /* Their CRDs are deleted, with all objects. */
    FAULT_STALE,     /* Discovery cannot say which kinds their CRDs' groups have. */
    FAULT_OVERSIZE,  /* One of their objects is too large to be read. */
    FAULT_PAGES,     /* Lists go on for ever, without progress. */
    FAULT_KIND_COUNT,
    /* Of all, at one moment or while they last. */
    FAULT_LOSS = FAULT_KIND_COUNT, /* All connections break. */
    FAULT_GOAWAY,                  /* The next requests go to another server. */
    FAULT_UNREACHABLE,             /* Connections are refused. */
    FAULT_BLACKHOLE,               /* Nothing comes through, and nobody says so. */
    FAULT_LAG,                     /* The watch cache of one server is behind. */
    FAULT_COMPACT,                 /* Old changes are forgotten. */
    FAULT_RESTORE,                 /* The objects are again what they were. */
    FAULT_COUNT,
};
extern const char *const fault_names[FAULT_COUNT];

struct fault {
    enum fault_type type;
    int64_t from_ms;
    int64_t until_ms; /* May be the same. */
    uint32_t targets; /* Bits of enum sim_kind, and SIM_DISCOVERY. */
    unsigned percent; /* Of requests, pieces and events that it strikes. */
    uint32_t param;   /* What else there is to know, by the type. */
};

struct write {
    int64_t at_ms;
    unsigned slot;
    uint32_t value;
    bool removes;
};

enum { PLAN_WRITES_MAX = 256, PLAN_FAULTS_MAX = 16, PLAN_SERVERS_MAX = 3 };
enum { PLAN_START_MS = 1000 }; /* When the exporter starts. What is there by then is older. */

/* How a kind answers to a stream that is to begin with all objects. */
enum initial_events { INITIAL_SENT, INITIAL_REFUSED, INITIAL_WITHOUT_END };

struct plan {
    uint64_t seed;
    unsigned template_kinds;
    int64_t storm_ms; /* When all faults and writes are over. */
    unsigned servers;
    bool streaming_lists; /* The exporter asks for them. */
    bool paginates;       /* The servers do, also from their caches. */
    bool kind_versions;   /* Their caches know the version of the kind's last change alone. */
    bool reordering;      /* Requests and streams have very different delays. */
    bool liars;           /* The servers never tell of deletions; to see that this is noticed. */
    enum initial_events initial[SIM_KIND_COUNT];
    bool bookmarks[SIM_KIND_COUNT];
    struct write writes[PLAN_WRITES_MAX];
    size_t write_count;
    struct fault faults[PLAN_FAULTS_MAX];
    size_t fault_count;
    bool dropped[PLAN_WRITES_MAX + PLAN_FAULTS_MAX]; /* Writes, then faults, that are left out. */
};

void plan_init(struct plan *p, uint64_t seed);

/* The text's numbers and ranges ("0-3,17") are the items that are kept. False if it is no such. */
bool plan_keep(struct plan *p, const char *text);
/* Append the options of the command that plays this plan, shrunk as it may be. */
void plan_write_options(const struct plan *p, struct strbuf *out);
/* Append what happens, a line each, for people. */
void plan_describe(const struct plan *p, struct strbuf *out);

static inline bool plan_has_kind(const struct plan *p, unsigned kind)
{
    return kind < SIM_TEMPLATE + p->template_kinds || kind == SIM_DISCOVERY;
}

/* The fault of that type that strikes the target now, NULL if there is none. */
const struct fault *plan_fault(const struct plan *p, enum fault_type type, unsigned target,
                               int64_t now_ms);
