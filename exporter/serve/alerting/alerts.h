/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/serve/alerting/alert_rules.h"
#include "metrics/base/map.h"

/*
 * What is wrong now: alerts by their labels, pending for as long as their rule says, firing,
 * and resolved for a while after, as Prometheus keeps them. No clock: times are passed in, and
 * two of them at once, `steady_ms` to measure with and `clock_ms` to tell others. A clock that is
 * set fires nothing and resolves nothing.
 */
enum {
    ALERTS_MAX = 10000,                   /* Of any state; more are counted and left out. */
    ALERT_TOLD_MS = 15 * 60 * 1000,       /* For how long it is told that an alert is resolved. */
    ALERT_WINDOW_MIN_MS = 5 * 60 * 1000,  /* What looks back no further asks for what is now. */
    ALERT_WINDOW_MAX_MS = 60 * 60 * 1000, /* For how long a start is held against a window. */
};

enum { ALERT_REPLICA_MAX = 256 };

enum alert_state { ALERT_PENDING, ALERT_FIRING, ALERT_RESOLVED };

struct alert {
    const struct alert_rule *rule;
    struct label_list labels; /* All of them, in order; its texts are in `texts`. */
    char *texts;
    enum alert_state state;
    bool adopted; /* Others have it from us, of a time before we started. */
    double value;
    char replica[ALERT_REPLICA_MAX]; /* Of whom it is said, where it is of one; for texts alone. */
    int64_t since_ms;                /* Steady: since when its rule holds without a break. */
    int64_t gone_ms;    /* Steady: since when it holds no more; INT64_MAX while it does. */
    int64_t changed_ms; /* Steady: when its state became what it is. */
    int64_t starts_ms;  /* Clock: since when it fires. */
    int64_t ends_ms;    /* Clock: when it was resolved. */
    uint64_t seen;      /* The update that saw it last. */
    struct alert *next;
};

/* The label that tells replicas apart, which no alert of ours has. */
extern const char alert_replica_label[];

struct alerts {
    struct map by_labels;
    struct alert *first; /* All, the newest first. */
    size_t count;
    uint64_t updates;
    uint64_t overflow; /* How many were left out. */
    uint64_t seed;
};

/* When something is held against the rules. */
struct alert_moment {
    int64_t steady_ms;
    int64_t clock_ms;
    int64_t known_ms; /* For how long numbers have been read since the start. */
    bool incomplete;  /* Not all objects are read: what is not there may be, so nothing ends. */
};

void alerts_init(struct alerts *a, uint64_t seed);
void alerts_release(struct alerts *a);

/*
 * What the rule says now: a sample for each of its alerts. `more` are labels that each gets unless
 * it has them; what tells replicas apart is left out.
 */
void alerts_update(struct alerts *a, const struct alert_rule *rule, const struct vector *v,
                   const struct label_list *more, const struct alert_moment *now);

/*
 * Adopt an alert that fires since `starts_ms` (clock), as somebody has it from us: it stays if its
 * rule says so, without a wait. Nothing if we know better, as it fires or is resolved here.
 */
void alerts_adopt(struct alerts *a, const struct alert_rule *rule, const struct label_list *labels,
                  int64_t starts_ms, const struct alert_moment *now);
