/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector_request.h"
#include "exporter/kube/reflector_store.h"
#include "exporter/kube/restore_detection.h"
#include "exporter/kube/watch_state.h"

/*
 * A reflector keeps the objects of one resource of an API server, in one namespace or in all, in
 * the store: it sends the requests that its watch demands, and puts and removes the objects of the
 * responses. Objects that cannot be read at the moment stay in the store as they were last read.
 * All functions run in the loop thread.
 */

/* State of the failures of a reflector, for logs, metrics and pages. */
struct reflector_failure {
    struct reflector_context *context; /* Borrowed, as are the resource and its apiVersion. */
    const char *resource;
    const char *api_version;
    bool failing;           /* In context->failing_count: no response, 429 or 5xx. */
    int64_t failed_ms;      /* Time of the last such failure; steady. */
    int64_t retry_after_ms; /* Wait that the server asked for then; 0 without one. */
    bool warned;            /* A warning about the failure was logged. */
    bool polling_logged;    /* A warning about lists instead of a stream was logged. */
    /* Reason, for users, why the last request failed or the open one makes no progress, or "". */
    char text[512];
};

/* Resource to watch, and objects to keep. Strings are copied, except `settings`. */
struct reflector_spec {
    const char *api_version;
    const char *kind;
    const char *resource;
    const char *ns;             /* NULL: all namespaces. */
    const char *field_selector; /* NULL: all objects. */
    bool metadata_only;
    bool unfiltered; /* Read all namespaces, ignoring the namespace filter. */
    bool by_binding; /* For Works: filter them by the namespace of their binding. */
    bool required;   /* The following flags are those of struct kind_watch. */
    bool optional;
    bool supplement;
    /* apiVersion under which the store keeps objects with settings; NULL: keep all objects. */
    const char *settings;
    bool bound_templates_only; /* Keep only templates that a binding or a template refers to. */
    bool again;                /* List again if only such templates have been kept so far. */
};

struct reflector {
    struct reflector_context *context;
    char *api_version;
    char *kind;
    char *resource;
    char *ns;
    char *field_selector;
    bool metadata_only;
    bool required;
    bool optional;
    bool supplement;
    bool wanted;        /* Used by reflector_list, as are the next two. */
    bool wanted_all;    /* Keep all templates: not only bindings need them. */
    bool wanted_full;   /* Read full objects. */
    bool wants_relist;  /* List again when the stream is open (bound_templates.c). */
    bool was_forbidden; /* reflector_is_forbidden() in the last turn (bound_templates.c). */

    struct reflector_store objects;
    struct watch watch;
    struct reflector_request request;
    struct restore_history restore_history;
    bool wants_open;           /* The request that the watch demands is not open yet. */
    bool late;                 /* `failure` reports that the request makes no progress. */
    struct list_ticket ticket; /* For a list, from the first page to the last. */
    struct stream_slot stream;

    enum end_reason last_end; /* Reason of the last end of a request. */
    int64_t ended_ms;         /* Time of the last end of a request; steady. */
    int64_t answered_ms;      /* Time of the response 200 of the open request; 0 before it. */
    struct reflector_failure failure;
    int64_t audited_ms;    /* Time of the last audit, adjusted after a failed one (audit.c). */
    bool audit_unpaged;    /* Continue tokens expire too soon for an audit in pages (audit.c). */
    bool synced;           /* All objects have been in the store at least once. */
    int64_t last_event_ms; /* Since the epoch; 0 before the first event or listed object. */
};

/* Lists all objects again, at once or after the wait in progress. */
void reflector_relist(struct reflector *r);

/*
 * Lists the most recent state, because objects in the store may be wrong: at once, after the wait
 * in progress, or, if there were several such lists shortly before, after a pause.
 */
void reflector_relist_most_recent(struct reflector *r);

/* Returns true if the objects have never been read, and the last request was forbidden. */
static inline bool reflector_is_forbidden(const struct reflector *r)
{
    return !r->synced && r->last_end == END_FORBIDDEN;
}

/* Removes the objects from the store; the watch goes on. */
static inline void reflector_clear(struct reflector *r)
{
    reflector_store_clear(&r->objects);
    r->synced = false;
}

/* Runs the actions that are due at context->now_ms. */
void reflector_turn(struct reflector *r);

/* Returns when the next turn is due (steady); INT64_MAX: after another list starts or ends. */
int64_t reflector_due(const struct reflector *r);

enum { REFLECTOR_TRIES = 3 };

/* Returns true if the objects have been read, or several attempts have failed, or a refused one. */
static inline bool reflector_ready(const struct reflector *r)
{
    bool refused = r->last_end == END_FORBIDDEN || r->last_end == END_ABSENT;

    return r->synced || r->watch.retries >= REFLECTOR_TRIES || (r->watch.retries > 0 && refused);
}

static inline bool reflector_reads_bindings(const struct reflector *r)
{
    return kind_of(r->api_version, r->kind)->class == CLASS_BINDING;
}

/* The reflectors of a source: first those of the kinds that are always watched. */
struct reflector_list {
    struct reflector_context *context; /* Borrowed. */
    struct reflector **items;
    size_t count;
    size_t always_count;
};

/*
 * Marks the reflectors of a resource as wanted, and creates missing ones: one for all namespaces,
 * or one for each namespace that the namespace filter names. Creates no reflector if the filter
 * excludes the resource.
 */
void reflector_list_mark_wanted(struct reflector_list *l, struct reflector_spec spec,
                                bool namespaced);
/* Marks and creates those of all kind_table() rows with the condition. `awaited`: not optional. */
void reflector_list_mark_kinds_wanted(struct reflector_list *l, enum watch_condition when,
                                      bool awaited);

/* Clears the marks, except of the first always_count reflectors. */
void reflector_list_unmark_wanted(struct reflector_list *l);
/* Frees the unmarked reflectors and removes their objects; the others adopt the wanted scope. */
void reflector_list_drop_unwanted(struct reflector_list *l);

/* Frees all reflectors; their objects stay in the store. */
void reflector_list_release(struct reflector_list *l);

/* For tests. */

/* Sets whether the server fails for this reflector, and updates context->failing_count. */
void reflector_failure_set_failing(struct reflector_failure *f, bool failing);

/* Logs once that lists at intervals replace the stream, for lack of connections. */
void reflector_failure_log_polling(struct reflector_failure *f);
