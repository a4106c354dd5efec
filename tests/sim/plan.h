/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "tests/sim/objects.h"

/*
 * Plan of one run: the kinds, and the times of all writes and faults. The seed determines the plan.
 * Each write and fault is drawn from its own number sequence, so a failing run can be replayed with
 * some of them left out.
 */

enum fault_type {
    /* Faults of the kinds in `targets`, from from_ms until until_ms. */
    FAULT_HANG,      /* Requests never get a response. */
    FAULT_SILENT,    /* Requests get status 200 and no body; open streams pause. */
    FAULT_DRIP,      /* Bodies arrive at one byte per second. */
    FAULT_CUT,       /* Bodies end early, with an error of the connection. */
    FAULT_RESET,     /* Bodies end early; the transport reports them as complete. */
    FAULT_REFUSE,    /* Requests get an error, a redirect or an unexpected body. */
    FAULT_EVENT,     /* Streams get an ERROR event and end. */
    FAULT_REPLAY,    /* Streams get a recent event of the kind again. */
    FAULT_ENDLESS,   /* New streams never get the end of the initial events. */
    FAULT_GARBAGE,   /* Streams get lines that are not valid events. */
    FAULT_DEAF,      /* Streams open at the fault's start send nothing more, even after its end. */
    FAULT_FORBIDDEN, /* Requests get 403; if `param` is odd, open streams end. */
    FAULT_UNSERVED,  /* The CRDs and all their objects are deleted; open streams end. */
    FAULT_STALE,     /* Discovery reports the CRDs' groups as stale, without kinds. */
    FAULT_OVERSIZE,  /* One object of each kind exceeds the exporter's size limit. */
    FAULT_PAGES,     /* Lists have no last page. */
    FAULT_KIND_COUNT,
    /* Faults of all targets. All but FAULT_LAG and FAULT_COMPACT may change the servers used. */
    FAULT_LOSS = FAULT_KIND_COUNT, /* All connections break. */
    FAULT_GOAWAY,                  /* New requests may go to other servers, without other effect. */
    FAULT_UNREACHABLE,             /* Connections break, and new ones are refused. */
    FAULT_BLACKHOLE,               /* Connections carry no data, without an error at first. */
    FAULT_LAG,                     /* The watch cache of one server lags. */
    FAULT_COMPACT,                 /* Old changes are compacted. */
    FAULT_RESTORE,                 /* etcd is restored to an older state; connections break. */
    FAULT_COUNT,
};
extern const char *const fault_names[FAULT_COUNT];

struct fault {
    enum fault_type type;
    int64_t from_ms;
    int64_t until_ms; /* Equal to from_ms for a fault at one moment. */
    uint32_t targets; /* Bits of enum sim_kind and SIM_DISCOVERY. */
    unsigned percent; /* Share of requests or events affected, of types that strike() handles. */
    uint32_t param;   /* Random number from which the type derives its details. */
};

struct write {
    int64_t at_ms;
    unsigned slot;
    uint32_t value;
    bool removes; /* The object is removed; `value` is unused. */
};

enum { PLAN_WRITES_MAX = 256, PLAN_FAULTS_MAX = 16, PLAN_SERVERS_MAX = 3 };
enum { PLAN_START_MS = 1000 }; /* Start of the exporter. Earlier writes make the initial objects. */

/* Response to a watch with sendInitialEvents, by kind. */
enum initial_events { INITIAL_SENT, INITIAL_REFUSED, INITIAL_WITHOUT_END };

struct plan {
    uint64_t seed;
    unsigned template_kinds;
    int64_t storm_ms; /* End of all faults and writes. */
    unsigned servers;
    bool streaming_lists; /* Setting of the exporter: lists as initial events. */
    bool paginates;       /* Servers honor `limit` also for lists from their watch caches. */
    bool kind_versions;   /* Lists from watch caches have the version of the kind's last change. */
    bool reordering;      /* Messages take below 300 ms instead of 5 ms: they overtake others. */
    bool liars;           /* Servers omit DELETED events: tests that an invariant fails then. */
    enum initial_events initial[SIM_KIND_COUNT];
    bool bookmarks[SIM_KIND_COUNT]; /* Streams of the kind get bookmarks if they request them. */
    struct write writes[PLAN_WRITES_MAX];
    size_t write_count;
    struct fault faults[PLAN_FAULTS_MAX];
    size_t fault_count;
    /* Items left out: writes, then from index PLAN_WRITES_MAX on faults. */
    bool dropped[PLAN_WRITES_MAX + PLAN_FAULTS_MAX];
};

/* Makes a random plan. Equal seeds give equal plans. */
void plan_init(struct plan *p, uint64_t seed);

/*
 * Leaves out all items except those in the text of numbers and ranges, such as "0-3,17". Returns
 * false if the text is invalid.
 */
bool plan_keep(struct plan *p, const char *text);
/* Appends the command-line options that replay this plan, also after it was shrunk. */
void plan_write_options(const struct plan *p, struct strbuf *out);
/* Appends a readable description: a line for the settings, each kept write, each kept fault. */
void plan_describe(const struct plan *p, struct strbuf *out);

/* Returns true if the plan has the kind. Returns true also for SIM_DISCOVERY. */
static inline bool plan_has_kind(const struct plan *p, unsigned kind)
{
    return kind < SIM_TEMPLATE + p->template_kinds || kind == SIM_DISCOVERY;
}

/* Returns the first fault of the type that is active for the target; NULL without such a fault. */
const struct fault *plan_fault(const struct plan *p, enum fault_type type, unsigned target,
                               int64_t now_ms);
