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
    bool failing; /* Counted in context->failing_count: END_UNAVAILABLE, END_BUSY or no response. */
    int64_t failed_ms;      /* Steady time of the last failure that set `failing`. */
    int64_t retry_after_ms; /* Wait that the server requested at failed_ms; 0: unspecified. */
    bool warned;            /* A warning about the present failure was logged. */
    bool polling_logged;    /* A warning about lists instead of a stream was logged. */
    /* For users: why the last request failed, or the present one is `late`; or "". */
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
    bool by_shard;   /* Objects of other shards are not needed. Set by reflector_list. */
    bool required;   /* This and the next two: as in struct kind_watch. */
    bool optional;
    bool supplement;
    /* apiVersion under which the store keeps objects with settings; NULL: keep all objects. */
    const char *settings;
    bool bound_templates_only; /* Keep only templates that a binding or a template refers to. */
    bool again;                /* List again if an existing reflector has bound_templates_only. */
};

struct reflector {
    struct reflector_context *context;
    char *api_version;
    char *kind;
    char *resource;
    char *ns;
    char *field_selector;
    bool metadata_only;
    bool by_shard; /* Requests have a shardSelector; false after the server has refused it. */
    bool required;
    bool optional;
    bool supplement;
    bool wanted;        /* Set and cleared by reflector_list, as are the next two. */
    bool wanted_all;    /* Keep all templates, not only bound ones. */
    bool wanted_full;   /* Read full objects. */
    bool wants_relist;  /* List again once the watch streams or polls (bound_templates.c). */
    bool was_forbidden; /* reflector_is_forbidden() in the last turn (bound_templates.c). */

    struct reflector_store objects;
    struct watch watch;
    struct reflector_request request;
    struct restore_history restore_history;
    bool wants_open;           /* The request that the watch demands is not open yet. */
    bool late;                 /* `failure` reports no progress, or a long wait for other lists. */
    struct list_ticket ticket; /* For a list, until its last page, or for WatchList. */
    struct stream_slot stream;

    /* Reason of the last WATCH_ENDED; also END_REGULAR (list complete), END_QUIET (list late). */
    enum end_reason last_end;
    int64_t ended_ms;    /* Steady time of the last WATCH_ENDED. */
    int64_t answered_ms; /* Time of the response 200 of the open request; 0 before it. */
    struct reflector_failure failure;
    int64_t audited_ms; /* End of the last audit, or creation; set back if it failed (audit.c). */
    bool diverged;      /* The last audit found a difference between store and server. */
    bool audit_unpaged; /* Continue tokens expire too soon for an audit in pages (audit.c). */
    bool synced;        /* All objects have been read since the start or reflector_clear(). */
    /* Last event or listed object, since the epoch; 0: no event. */
    int64_t last_event_ms;
};

/*
 * Appends the shardSelector of the reflector's next list or (`list` is false) stream; nothing if it
 * asks for the objects of all shards. Streams of bindings, and lists that replace them, do so:
 * writes of the bindings of other shards show the progress of Karmada (engine_note_other_binding).
 */
void reflector_add_shard_selector(const struct reflector *r, bool list, struct strbuf *out);

/* Calls append_resource_name_of() for the objects that the store keeps. */
void reflector_append_name(const struct reflector *r, struct strbuf *out);

/* Lists all objects again: at once, or after the wait in progress unless that is between polls. */
void reflector_relist(struct reflector *r);

/*
 * Lists the most recent state, because objects in the store may be wrong: at once, after the wait
 * in progress, or, if several lists began without a wait shortly before, after a pause.
 */
void reflector_relist_most_recent(struct reflector *r);

/* Returns true if `synced` is false and the last request was forbidden. */
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

/*
 * Returns the steady time in ms of the next reflector_turn() if no response data arrives before;
 * INT64_MAX: no call needed before another list starts or ends.
 */
int64_t reflector_due(const struct reflector *r);

enum { REFLECTOR_TRIES = 3 };

/*
 * Returns true if the objects have been read, or are not expected soon: REFLECTOR_TRIES attempts
 * failed, or the last one failed with END_FORBIDDEN or END_ABSENT.
 */
static inline bool reflector_ready(const struct reflector *r)
{
    bool refused = r->last_end == END_FORBIDDEN || r->last_end == END_ABSENT;

    return r->synced || r->watch.retries >= REFLECTOR_TRIES || (r->watch.retries > 0 && refused);
}

static inline bool reflector_reads_bindings(const struct reflector *r)
{
    return kind_of(r->api_version, r->kind)->class == CLASS_BINDING;
}

/* Returns true for the Events `ApplyPolicyFailed` about templates, which Karmada refused. */
bool reflector_reads_refusals(const struct reflector *r);

/* The reflectors of a source: first those of the kinds that are always watched. */
struct reflector_list {
    struct reflector_context *context; /* Borrowed. */
    struct reflector **items;
    size_t count;
    size_t always_count;
};

/*
 * Marks the reflectors of a resource as wanted, and creates missing ones: one with spec.ns, or one
 * for each allowed namespace if the filter names namespaces, the resource is namespaced, and spec
 * sets neither `ns` nor `unfiltered`. A cluster-scoped resource is ignored if the filter excludes
 * it and spec.unfiltered is false.
 */
void reflector_list_mark_wanted(struct reflector_list *l, struct reflector_spec spec,
                                bool namespaced);
/*
 * Calls reflector_list_mark_wanted() for a row of kind_table(). If `awaited`, the kind does not
 * count as optional.
 */
void reflector_list_mark_kind_wanted(struct reflector_list *l, const struct kind_def *def,
                                     bool awaited);
/* Calls reflector_list_mark_kind_wanted() for each row with the condition `when`. */
void reflector_list_mark_kinds_wanted(struct reflector_list *l, enum watch_condition when,
                                      bool awaited);

/* Clears the marks, except of the first always_count reflectors. */
void reflector_list_unmark_wanted(struct reflector_list *l);
/* Frees the unmarked reflectors and removes their objects. Sets the scope of the marked ones. */
void reflector_list_drop_unwanted(struct reflector_list *l);

/* Frees all reflectors; their objects stay in the store. */
void reflector_list_release(struct reflector_list *l);

/* Used only by reflector.c and tests. */

/* Sets `failing` and updates context->failing_count. */
void reflector_failure_set_failing(struct reflector_failure *f, bool failing);

/* Logs once that lists at intervals replace the stream, for lack of connections. */
void reflector_failure_log_polling(struct reflector_failure *f);
