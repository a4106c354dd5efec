/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/strbuf.h"

/*
 * One resource of an API server, followed for ever: list it, or have a stream
 * begin with all of it, then stream its changes, and know what to do when
 * either ends. Events go in, an order comes out; no connection, no clock, no
 * source of randomness is inside.
 *
 * A stop is a stop, whatever its reason: waits grow with every one in a row, and
 * only progress on a stream of changes forgives them, so that neither a server
 * that keeps crashing nor one that answers every stream with "too old" makes us spin.
 */

enum watch_phase {
    WATCH_WAITING,   /* Nothing is open until due_ms. */
    WATCH_LISTING,   /* Pages of a list. */
    WATCH_FILLING,   /* A stream that begins with all objects: WatchList. */
    WATCH_STREAMING, /* A stream of changes. */
};

/* Why a request ended. */
enum watch_stop {
    STOP_ENDED,        /* The server ended the stream, as agreed. */
    STOP_SHORT,        /* It did so at once, before telling of anything. */
    STOP_LOST,         /* The connection failed, or the response was cut short. */
    STOP_QUIET,        /* Nothing was heard for longer than a sound server keeps silent. */
    STOP_BUSY,         /* 429: later. */
    STOP_UNAVAILABLE,  /* 5xx. */
    STOP_GONE,         /* 410: the version or the continue token is too old. */
    STOP_AHEAD,        /* The server does not know our version yet: it is behind, or restored. */
    STOP_UNAUTHORIZED, /* 401. */
    STOP_FORBIDDEN,    /* 403. */
    STOP_ABSENT,       /* 404, 405: not served. */
    STOP_UNACCEPTABLE, /* 406, 415: not in the form that was asked for. */
    STOP_REFUSED,      /* Any other answer but 200. */
    STOP_FAILED,       /* The stream told of an error. */
    STOP_MALFORMED,    /* What came is no list, or no stream of changes. */
};
enum { WATCH_STOP_COUNT = STOP_MALFORMED + 1 };

/* The name of a reason in series and logs: "ended", "short", ... */
const char *watch_stop_name(enum watch_stop stop);

enum {
    WATCH_VERSION_MAX = 64,
    WATCH_PAGE_OBJECTS = 500,
};

/* For the series about the exporter's own health. */
struct watch_counts {
    uint64_t lists; /* Requests for all objects, page by page. */
    uint64_t list_failures;
    uint64_t restarts[WATCH_STOP_COUNT]; /* Of streams. */
};

struct watch {
    enum watch_phase phase;
    char version[WATCH_VERSION_MAX]; /* Where to resume, opaque; "" while nothing is known. */
    char *token;                     /* Of the next page; NULL: the first. Owned. */
    bool fills;                      /* Let a stream begin with all objects, rather than list. */
    bool plain;                      /* The server has no metadata-only form. */
    bool relist;                     /* All objects are due, whatever `version` says. */
    bool latest;                     /* List what is there now: `version` cannot be had. */
    bool paginated;                  /* The server does not ignore the page size: keep it. */
    bool whole;                      /* A continue token expired: ask for everything at once. */
    bool bookmarks;                  /* The server has sent one: its silence means something. */
    bool progressed;                 /* The open stream told of something. */
    unsigned stops;                  /* In a row, without progress. */
    unsigned silent;                 /* Streams in a row that ended without having told anything. */
    unsigned timeout_s;              /* What the open stream was asked to last. */
    int64_t opened_ms;
    int64_t heard_ms;
    int64_t due_ms; /* When the next WATCH_TIMER is due; INT64_MAX for never. */
    struct watch_counts counts;
};

enum watch_event_kind {
    WATCH_TIMER,    /* due_ms has come. */
    WATCH_PAGE,     /* A page came whole, of `version`; `token` if there are more. */
    WATCH_CHANGE,   /* The stream told of an object, now at `version`. */
    WATCH_BOOKMARK, /* The stream is at `version`. */
    WATCH_FILLED,   /* The same, and all objects there were have been told of. */
    WATCH_STOPPED,  /* The request ended, or was given up; `stop` says why. */
};

struct watch_event {
    enum watch_event_kind kind;
    enum watch_stop stop;
    int64_t now_ms; /* Steady. */
    int64_t retry_after_ms;
    uint32_t random;
    const char *version;
    const char *token;
};

/* What to do now. Neither: nothing, or wait until due_ms. */
struct watch_order {
    bool open;   /* Give up the request that may be open, and open what watch_query() says. */
    bool listed; /* All objects have been told of: what was not among them is gone. */
};

/* Waiting, to begin at `start_ms`. */
void watch_init(struct watch *w, bool fills, int64_t start_ms);
void watch_release(struct watch *w);

/* The server does not let streams begin with all objects: list, also where that was not opened. */
void watch_list_only(struct watch *w);

/* Take one event. Texts of the event are copied. */
struct watch_order watch_step(struct watch *w, const struct watch_event *event) MUST_USE;

/* The request that was ordered is open only now: its times count from here. */
void watch_opened(struct watch *w, int64_t now_ms);
