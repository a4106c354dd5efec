/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/backoff.h"
#include "exporter/system/rate_limit.h"
#include "metrics/base/strbuf.h"

/* Why a request ended. */
enum end_reason {
    END_REGULAR,      /* The server ended the stream, as agreed. */
    END_SHORT,        /* It did so at once, before it sent any event. */
    END_LOST,         /* The connection failed, or the response was cut short. */
    END_QUIET,        /* Nothing came for longer than a healthy server keeps silent. */
    END_BUSY,         /* 429: too many requests. */
    END_UNAVAILABLE,  /* 5xx. */
    END_GONE,         /* 410: the version or the continue token is too old. */
    END_AHEAD,        /* The server does not know our version yet: it is behind, or restored. */
    END_UNAUTHORIZED, /* 401. */
    END_FORBIDDEN,    /* 403. */
    END_ABSENT,       /* 404, 405: not served. */
    END_UNACCEPTABLE, /* 406, 415: not in the form that was asked for. */
    END_REFUSED,      /* Any other status but 200. */
    END_FAILED,       /* The stream sent an error. */
    END_MALFORMED,    /* The body is no list, or no stream of events. */
    END_RESTORED,     /* The server was restored from a backup, or that is to be feared. */
};
enum { END_REASON_COUNT = END_RESTORED + 1 };

/* The name of a reason in series and logs: "ended", "short", ... */
const char *end_reason_name(enum end_reason reason);

/* How long an open list or stream may go on. Times are steady. */
struct lifetime {
    int64_t opened_ms;
    int64_t heard_ms;         /* When the last event came. */
    unsigned timeout_s;       /* What a stream was asked to last. */
    bool cut;                 /* What came last ends in the middle of an event. */
    struct progress progress; /* Of a stream of changes: since it was last silent. */
};

enum lifetime_kind {
    LIFETIME_LIST,
    LIFETIME_INITIAL_EVENTS,
    LIFETIME_STREAM,
    LIFETIME_STREAM_WITH_BOOKMARKS, /* Its silence means something. */
};

/*
 * One resource of an API server, watched for ever: list it, or have a stream
 * begin with all of it, then stream its changes, and know what to do when
 * either ends. Inputs go in, an order comes out; no connection, no clock, no
 * source of randomness is inside.
 *
 * An end is an end, whatever its reason: waits grow with every one in a row, and
 * only a stream of changes that makes progress or lasts resets them, so that neither a server
 * that keeps crashing nor one that answers every stream with "too old" makes us spin.
 */

enum watch_phase {
    WATCH_WAITING,        /* Nothing is open until due_ms. */
    WATCH_LISTING,        /* Pages of a list. */
    WATCH_INITIAL_EVENTS, /* A stream that begins with all objects (WatchList), before their end. */
    WATCH_STREAMING,      /* A stream of changes. */
};

enum {
    WATCH_VERSION_MAX = 64,
    WATCH_PAGE_OBJECTS = 500,
};

/* For the series about the exporter's own health. */
struct watch_counts {
    uint64_t lists; /* Requests for all objects, page by page. */
    uint64_t list_failures;
    uint64_t restarts[END_REASON_COUNT]; /* Of streams. */
    uint64_t audits;                     /* By audit.h, as is the next. */
    uint64_t divergences;
};

struct watch {
    enum watch_phase phase;
    char version[WATCH_VERSION_MAX]; /* Where to resume, opaque; "" while nothing is known. */
    char *token;                     /* Of the next page; NULL: the first. Owned. */
    bool streaming_lists;            /* Have a stream begin with all objects, rather than list. */
    bool full_objects;               /* The server has no metadata-only form. */
    bool relist;                     /* Read all objects again, whatever `version` says. */
    bool most_recent;                /* List what etcd has now: `version` cannot be had. */
    bool paginated;                  /* The server does not ignore the page size: keep it. */
    bool unpaginated;                /* A continue token expired: ask for one page with all. */
    bool bookmarks;                  /* The server has sent one: its silence means something. */
    bool progressed;                 /* The open stream has sent an event. */
    int64_t patient_ms;              /* Until then, or progress, a relist is waited for. */
    unsigned retries;                /* Waits in a row, without progress. */
    unsigned silent;                 /* Streams in a row that ended without an event. */
    unsigned stalls;                 /* Lists in a row that were given up for lack of progress. */
    bool polled;                     /* There is no room for its stream: list now and then. */
    int64_t listed_ms;               /* When the last list was complete. */
    struct lifetime lifetime;        /* Of the open request. */
    int64_t due_ms;                  /* When the next WATCH_TIMER is due; INT64_MAX for never. */
    struct burst_limit burst_limit;  /* Of lists that are not waited for. */
    struct watch_counts counts;
};

enum watch_input_kind {
    WATCH_TIMER,       /* due_ms has come. */
    WATCH_PAGE,        /* A complete page of a list of `version`; `token` if there are more. */
    WATCH_CHANGE,      /* An object changed, and the stream is at `version`. */
    WATCH_BOOKMARK,    /* The stream is at `version`. */
    WATCH_INITIAL_END, /* The same, and all objects there were have come: initial events end. */
    WATCH_RELIST,      /* Objects are wanted that were dropped: all have to come again, at once. */
    WATCH_RESTORED,    /* What is known may be undone: list the most recent state, at once. */
    WATCH_ENDED,       /* The request ended, or was given up, for `reason`. */
};

struct watch_input {
    enum watch_input_kind kind;
    enum end_reason reason;
    int64_t now_ms; /* Steady. */
    int64_t retry_after_ms;
    uint32_t random;
    const char *version;
    const char *token;
};

/* What to do now. If neither is set: nothing, until the next input or due_ms. */
struct watch_action {
    bool open;   /* Give up the request that may be open, and open what url_add_watch_parameters()
                    writes. */
    bool listed; /* All objects have come: what was not among them is gone; */
    bool older;  /* and the most recent ones are older than what was known: a restore. */
};

/* Waiting, to begin at `start_ms`. */
void watch_init(struct watch *w, bool streaming_lists, int64_t start_ms);
/* Free what it owns: the token. */
void watch_release(struct watch *w);

/* The server refuses streams that begin with all objects: list, also where one was ordered. */
void watch_disable_streaming_lists(struct watch *w);

/*
 * There is no room for the stream that was ordered: wait, and list every half a minute instead,
 * counted from the last list. After each list a stream is ordered again.
 */
void watch_start_polling(struct watch *w, uint32_t random);

/* Process one input. Its texts are copied. */
struct watch_action watch_process_input(struct watch *w, const struct watch_input *input) MUST_USE;

/*
 * True if an event or a bookmark of this version is older than the stream that brings it: then
 * WATCH_RESTORED is the input, whatever else it says.
 */
bool watch_version_goes_back(const struct watch *w, const char *version);

/*
 * The server answers again, to whomever: the waits begin anew, and one that is under way since
 * `failed_ms` is no longer than the first of all, spread by `random`, or than the server said.
 */
void watch_note_recovery(struct watch *w, int64_t failed_ms, int64_t retry_after_ms,
                         uint32_t random);

/* The request that was ordered is opened only now: its times count from here. */
void watch_note_opened(struct watch *w, int64_t now_ms);

/*
 * So many bytes of the response have come, the last of them in the middle of an event (`cut`);
 * 0: a stream has begun. Lists and initial events are given up (END_QUIET) without progress.
 */
void watch_note_bytes(struct watch *w, size_t bytes, bool cut, int64_t now_ms);

/* What is wrong with the open request, for people, if it is late or given up for END_QUIET. */
const char *watch_fault(const struct watch *w, int64_t now_ms);
