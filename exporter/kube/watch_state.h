/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/backoff.h"
#include "exporter/system/rate_limit.h"
#include "metrics/base/strbuf.h"

/* Reasons why a request ended. */
enum end_reason {
    END_REGULAR,      /* Orderly end of a stream by the server. */
    END_SHORT,        /* For counts: END_REGULAR within a second, with watch.progressed false. */
    END_LOST,         /* Failed connection, or response cut short. */
    END_QUIET,        /* Cancelled by the exporter: no progress, or open for too long. */
    END_BUSY,         /* 429: too many requests. */
    END_UNAVAILABLE,  /* 5xx, or 408. */
    END_GONE,         /* 410: resourceVersion or continue token too old. */
    END_AHEAD,        /* resourceVersion above that of the server, which lags or was restored. */
    END_UNAUTHORIZED, /* 401. */
    END_FORBIDDEN,    /* 403. */
    END_ABSENT,       /* 404, 405: resource not served. */
    END_UNACCEPTABLE, /* 406, 415: media type of the Accept header not supported. */
    END_REFUSED,      /* Any other status but 200. */
    END_FAILED,       /* Error event in a stream, unless it means BUSY, GONE or AHEAD. */
    END_MALFORMED,    /* Unusable body, for example a list with repeated pages. */
    END_RESTORED,     /* For counts: end of a stream of changes by WATCH_RESTORED. */
};
enum { END_REASON_COUNT = END_RESTORED + 1 };

/* Returns the name of a reason in metrics and logs: "ended", "short", ... */
const char *end_reason_name(enum end_reason reason);

/* Times of an open list or stream, which determine its timeouts. Times are steady. */
struct lifetime {
    int64_t opened_ms;
    int64_t event_ms;   /* Time of the last event; opened_ms before the first. */
    unsigned timeout_s; /* timeoutSeconds of a stream. */
    bool cut;           /* In a stream: the received bytes end in the middle of an event. */
    /* In a stream of changes, bytes that follow a complete event begin a new measurement. */
    struct progress progress;
};

/*
 * State machine that keeps one resource of an API server up to date: it lists the objects, or opens
 * a stream that begins with all objects (WatchList), then streams the changes, and decides how to
 * go on when a request ends. The caller passes inputs and carries out the returned actions; the
 * machine has no connection, clock or random source of its own.
 *
 * The first read is a list in pages of the most recent state: for the server it costs two thirds of
 * the processor time of WatchList, and fewer bytes, because the server compresses no stream.
 *
 * Waits grow with each failure in a row. They are reset by a stream of changes that brings an event
 * or stays open for 10 s, by watch_note_recovery(), and at the start of polling. A list does not
 * reset them: a server that crashes after each list, or answers each stream with 410, must not
 * cause a busy loop.
 */

enum watch_phase {
    WATCH_WAITING,        /* No request until due_ms. */
    WATCH_LISTING,        /* Pages of a list. */
    WATCH_INITIAL_EVENTS, /* Stream that begins with all objects, before the end of these. */
    WATCH_STREAMING,      /* Stream of changes. */
};

enum {
    WATCH_VERSION_MAX = 64,
    /*
     * Limit of a page. Large, because pages follow each other: the next one is requested when the
     * last one is complete. It bounds the memory of the server and the time of one request.
     */
    WATCH_PAGE_OBJECTS = 5000,
};

/* Counters for the exporter's own metrics. */
struct watch_counts {
    uint64_t lists; /* Requests for all objects; each page counts. */
    uint64_t list_failures;
    uint64_t restarts[END_REASON_COUNT]; /* Ended streams, by reason. */
    uint64_t audits;                     /* Written by audit.c, as is `divergences`. */
    uint64_t divergences;
};

struct watch {
    enum watch_phase phase;
    char version[WATCH_VERSION_MAX]; /* resourceVersion to resume from; "" before all objects. */
    char *token;                     /* Continue token of the next page; NULL: first page. Owned. */
    bool streaming_lists;            /* Use WatchList instead of lists, after the first list. */
    bool full_objects;               /* Ask for full objects, after 406 or 415. */
    bool relist;                     /* Read all objects before the next stream of changes. */
    /* List without resourceVersion: no version is known yet, or `version` is not usable. */
    bool most_recent;
    bool paginated;                  /* The server pages lists from a resourceVersion: set limit. */
    bool unpaginated;                /* List without limit: the server refused a continue token. */
    bool bookmarks;                  /* A stream of changes has had a bookmark. */
    bool progressed;                 /* The open stream of changes has had an event. */
    /* Steady time before which 410 causes a wait, not a list at once; 0: none. */
    int64_t relist_at_once_ms;
    unsigned retries;               /* Waits in a row; the next wait grows with their number. */
    unsigned silent;                /* Streams in a row that brought nothing, or ended early. */
    unsigned stalls;                /* END_QUIET of lists since the last complete list. */
    bool polled;                    /* Lists at intervals replace the stream. */
    int64_t listed_ms;              /* Time of the last complete list (WatchList excluded). */
    struct lifetime lifetime;       /* Times of the open request. */
    int64_t due_ms;                 /* End of the wait, or timeout of the request. */
    struct burst_limit burst_limit; /* Limits lists that start without a wait. */
    struct watch_counts counts;
};

enum watch_input_kind {
    WATCH_TIMER,       /* due_ms has come. */
    WATCH_PAGE,        /* Complete page of a list; `token` NULL or "" in the last page. */
    WATCH_CHANGE,      /* Object, deletion or rejection in a stream. */
    WATCH_BOOKMARK,    /* Bookmark of a stream. */
    WATCH_INITIAL_END, /* Bookmark that ends the initial events. */
    /* Request to read all objects again: at once, or after a wait that is not between polls. */
    WATCH_RELIST,
    /*
     * The store may be wrong (suspected restore, or a divergence found by audit.c): read all
     * objects again from etcd, when the burst limit allows it. A wait in progress stays.
     */
    WATCH_RESTORED,
    WATCH_ENDED, /* End of the request. */
};

struct watch_input {
    enum watch_input_kind kind;
    enum end_reason reason; /* For WATCH_ENDED. */
    int64_t now_ms;         /* Steady. */
    int64_t retry_after_ms; /* For WATCH_ENDED: wait that the server asks for; 0 without one. */
    uint32_t random;
    const char *version; /* resourceVersion of the page, object or bookmark. */
    const char *token;
};

/*
 * Actions for the caller. All false: wait for the next input or due_ms; in the phase WATCH_WAITING,
 * without an open request.
 */
struct watch_action {
    bool open;   /* Cancel the open request, if any, and open that of url_add_watch_query(). */
    bool listed; /* All objects have arrived: remove the others. */
    bool older;  /* With `listed`: known objects are newer, so the server was restored. */
};

/* Initializes the machine in WATCH_WAITING, due at start_ms. */
void watch_init(struct watch *w, bool streaming_lists, int64_t start_ms);
/* Frees the continue token. */
void watch_release(struct watch *w);

/* Uses lists instead of WatchList from now on, also for the next request if it is not sent yet. */
void watch_disable_streaming_lists(struct watch *w);

/*
 * Waits instead of opening a stream of changes, for lack of a connection: the next list is due 25
 * to 35 s after listed_ms. A stream is requested again after that list.
 */
void watch_start_polling(struct watch *w, uint32_t random);

/* Processes one input, copies its texts, and returns the actions that follow. */
struct watch_action watch_process_input(struct watch *w, const struct watch_input *input) MUST_USE;

/*
 * Returns true if the resourceVersion of an event is older than the stream of changes that brings
 * it. The caller passes WATCH_RESTORED instead of the event.
 */
bool watch_version_goes_back(const struct watch *w, const char *version);

/*
 * Resets the retries because the server works again. A wait in progress ends 0.8 to 1.2 s after
 * failed_ms at the latest, or retry_after_ms after failed_ms if that is longer.
 */
void watch_note_recovery(struct watch *w, int64_t failed_ms, int64_t retry_after_ms,
                         uint32_t random);

/* Restarts the timeouts: the caller opens the request only now. */
void watch_note_opened(struct watch *w, int64_t now_ms);

/*
 * Moves due_ms after bytes of the response arrived. `cut`: the last of them are in the middle of an
 * event. 0 bytes: the head of the response.
 */
void watch_note_bytes(struct watch *w, size_t bytes, bool cut, int64_t now_ms);

/* Returns a static text for users: the fault of an open request that is late at now_ms. */
const char *watch_late_reason(const struct watch *w, int64_t now_ms);
