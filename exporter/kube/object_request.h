/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/backoff.h"
#include "exporter/kube/http/transport.h"
#include "exporter/kube/object_stream.h"
#include "exporter/options/namespace_filter.h"
#include "metrics/base/strbuf.h"
#include "metrics/model/metadata.h"

/* ---- one request for an object ---- */

enum fetch_state {
    FETCH_OPEN,
    FETCH_FOUND,     /* The object was read or written. */
    FETCH_MISSING,   /* 404 with a Status, or not in a complete list. */
    FETCH_FORBIDDEN, /* 403 or 401. */
    FETCH_FAILED,    /* Any other error; the object may exist. */
};

struct fetch_spec {
    struct identity id;
    const char *resource; /* Plural name in paths. */
    bool metadata_only;
    const struct json_filter *fields; /* Members of the object to read; NULL: all. */
    /*
     * NULL: reads the object by its name. Otherwise reads one page of a list with this query and
     * searches it for the name; with the name "", for any object. If the object is not in the page,
     * the result is FETCH_MISSING for the last page, else FETCH_FAILED. Not for writes.
     */
    const char *list_query;
    /* Other methods than TRANSPORT_READ write `body`; the result is the object after the write. */
    enum transport_method method;
    const char *body;
    const char *field_manager; /* For writes. */
};

struct fetch {
    struct transport transport;
    struct transfer *transfer; /* NULL after the end. */
    char *api_version;
    char *kind;
    char *name;
    struct object_stream list; /* Parser of the response if `lists`. */
    bool lists;
    struct strbuf body; /* Response if not `lists`, or not 200. */
    size_t received;    /* Bytes of the response's body, decompressed. */
    struct progress progress;
    enum fetch_state state;
    unsigned http_status;   /* 0: no response. */
    int64_t retry_after_ms; /* Wait that the server requests after an error; 0: unspecified. */
    char *version;          /* resourceVersion of a valid list, owned by the fetch; else NULL. */
    cJSON *object;    /* Valid with FETCH_FOUND only. Owned by the fetch; the caller may take it. */
    struct error err; /* Reason if the object was not found; may be empty. */
};

/* Sends the request and copies the texts of `spec`. The caller owns the result. */
struct fetch *fetch_start(struct transport transport, const struct fetch_spec *spec,
                          int64_t now_ms) MUST_USE;
/* Ends a late request (struct progress): FETCH_FAILED. Call in each turn; `now_ms` is steady. */
void fetch_turn(struct fetch *f, int64_t now_ms);
/*
 * Returns the steady time in ms of the next fetch_turn() if no response data arrives before;
 * INT64_MAX: no call needed.
 */
int64_t fetch_due(const struct fetch *f);
/* Cancels the request, if it is open, and frees the fetch. NULL is allowed. */
void fetch_free(struct fetch *f);

/* ---- cache of objects read by name ---- */

/*
 * Reads single objects that no watch keeps in the store. A request ends after two seconds. Results,
 * also "missing" and "forbidden", are kept for ten seconds and failures for one second, so that
 * repeated lookups cause no requests.
 */
struct lookup;

enum lookup_client {
    LOOKUP_COMMAND, /* No rate limit. */
    LOOKUP_WEB,     /* Web clients together: five new objects per second, after a burst of five. */
};

enum lookup_state {
    LOOKUP_WAITING, /* Call again after the next turn. */
    LOOKUP_FOUND,
    LOOKUP_MISSING,
    LOOKUP_FORBIDDEN,
    LOOKUP_OUTSIDE, /* The filter excludes the namespace. */
    LOOKUP_LATE,    /* The request timed out. */
    LOOKUP_FAILED,
    LOOKUP_BUSY,    /* Rate limit reached, or already 64 open requests and kept results. */
    LOOKUP_UNKNOWN, /* Discovery has no template kind of this name (template_finder_find). */
};

struct lookup_answer {
    enum lookup_state state;
    const cJSON *object; /* LOOKUP_FOUND: borrowed until the next turn; else NULL. */
    const char *reason;  /* For people; may be "". Borrowed until the next turn. */
};

/* The caller owns the result. `filter` is borrowed. */
struct lookup *lookup_new(struct transport transport, const struct namespace_filter *filter,
                          int64_t now_ms) MUST_USE;
/* NULL is allowed. */
void lookup_free(struct lookup *l);

/*
 * Returns the cached result, or LOOKUP_WAITING while a request for the object is open, which the
 * first call starts. Starts no request for LOOKUP_OUTSIDE and LOOKUP_BUSY. `now_ms` is steady.
 */
struct lookup_answer lookup_object(struct lookup *l, const struct fetch_spec *spec,
                                   enum lookup_client client, int64_t now_ms);
/* Ends requests that are too slow and removes expired results. */
void lookup_turn(struct lookup *l, int64_t now_ms);
/*
 * Returns the steady time in ms of the next lookup_turn() if no response data arrives before;
 * INT64_MAX: no call needed.
 */
int64_t lookup_due(const struct lookup *l);

/* ---- writes of one annotation ---- */

/*
 * Sets or removes one annotation of objects, one object at a time. Reads the object's metadata,
 * then sends a merge patch with the uid and resourceVersion that it read, so that the server
 * rejects the patch (409) if the object was changed or replaced since. After an error other than
 * 401, 403 and FETCH_MISSING it reads the metadata again: up to four times, after 429 up to nine
 * times more. A patch never creates objects. After responses 429 the rate falls below
 * ANNOTATE_PER_S objects per second, and rises again with each write.
 */
enum { ANNOTATE_PER_S = 10 };

enum annotator_state {
    ANNOTATE_OPEN,
    ANNOTATE_WRITTEN,
    ANNOTATE_GONE,     /* The object does not exist. */
    ANNOTATE_REPLACED, /* An object with another uid has the name. */
    ANNOTATE_DELETING, /* The object has a deletionTimestamp. */
    ANNOTATE_UNWANTED, /* `wanted` returned false. */
    ANNOTATE_FORBIDDEN,
    ANNOTATE_FAILED, /* Too many errors, or an invalid response; may have been written. */
};

struct annotator_spec {
    struct identity id;
    const char *resource; /* Plural name in paths. */
    uint32_t uid_hash;    /* Hash of the expected uid (uid_hash()). */
    const char *key;
    const char *value; /* NULL removes the annotation. */
    const char *field_manager;
    /* Returns true to write. Called after reads of the object; `value` is NULL if not set. */
    bool (*wanted)(void *context, const char *value);
    void *context;
};

struct annotator {
    struct transport transport;
    int64_t interval_ms; /* Between the reads of two objects, if the first was written. */
    int64_t due_ms;      /* Steady time of the next read. */
    int64_t read_ms;     /* Steady time of the last read's start. */
    /* The current object: */
    const struct annotator_spec *spec; /* Borrowed; NULL before the first object. */
    struct fetch *fetch;               /* NULL between requests. */
    bool writes;                       /* The last request was the patch. */
    char *patch;                       /* Next patch to send; NULL: read first. */
    unsigned failures;                 /* Errors other than 429. */
    unsigned busy;                     /* Responses 429. */
    enum annotator_state state;
    uint64_t version; /* ANNOTATE_WRITTEN: resourceVersion after the write; 0: not a number. */
    struct error err; /* ANNOTATE_FORBIDDEN, ANNOTATE_FAILED: the reason. */
};

void annotator_init(struct annotator *a, struct transport transport);
void annotator_release(struct annotator *a);

/* Begins with an object. `spec` is borrowed until the state is no longer ANNOTATE_OPEN. */
void annotator_start(struct annotator *a, const struct annotator_spec *spec);
/* Continues after the transport's periodic work; returns the state. `now_ms` is steady. */
enum annotator_state annotator_turn(struct annotator *a, int64_t now_ms);
/*
 * Returns the steady time in ms of the next annotator_turn() if no response data arrives before;
 * INT64_MAX: no call needed.
 */
int64_t annotator_due(const struct annotator *a);
