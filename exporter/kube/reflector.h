/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/reflector_request.h"
#include "exporter/kube/reflector_store.h"
#include "exporter/kube/restore_detection.h"
#include "exporter/kube/watch.h"

/* How the failures of a reflector are logged, counted and forgotten. */
struct reflector_failure {
    struct reflector_context *context; /* Borrowed, as are the resource and its apiVersion. */
    const char *resource;
    const char *api_version;
    bool counts;       /* The server did not answer, or not now: it counts as failing. */
    int64_t failed_ms; /* When that was; and for how long it said to wait: */
    int64_t told_to_wait_ms;
    bool warned; /* The log has a warning about it. */
    bool polled; /* And one about the lack of room for a stream. */
    /* Why the last request failed, or makes no progress, for people; "" if neither is so. */
    char text[512];
};

/* It counts among those that the server does not serve, or does not. */
void reflector_failure_set_failing(struct reflector_failure *f, bool counts);

/* It is not watched, for lack of connections, but listed now and then: tell that once. */
void reflector_failure_log_polling(struct reflector_failure *f);

/*
 * Keeps the objects of one resource of an API server, in one namespace or in all, in the
 * store: sends the requests that its watch orders, and puts and removes what the bodies hold.
 *
 * What cannot be read now stays in the store as it was read last.
 */

/* What to watch. All texts are copied. */
struct reflector_spec {
    const char *api_version;
    const char *kind;
    const char *resource;
    const char *ns;             /* NULL: all. */
    const char *field_selector; /* NULL: none. */
    bool metadata_only;
    bool unfiltered; /* Read its objects whatever the namespace filter says, */
    bool by_binding; /* but keep of them only Works whose bindings it allows. */
    bool required;   /* For the reflector's owner, as are the next two. */
    bool optional;
    bool supplement;
    /*
     * Not for templates: keep only what Config Connector goes by, and put it into the
     * store as its setting.
     */
    const char *settings;
    bool bound_templates_only; /* Keep only templates that a binding refers to. */
    bool again;                /* For the reflector's owner: all objects are wanted anew. */
};

struct reflector {
    struct reflector_context *context;
    char *api_version;
    char *kind;
    char *resource;
    char *ns;
    char *field_selector;
    bool metadata_only;
    bool required; /* For its owner's use, as are all up to was_forbidden. */
    bool optional;
    bool supplement;
    bool wanted;
    bool wanted_all;  /* By more than bindings: see reflector_store, `bound_templates_only`. */
    bool wanted_full; /* Not only the metadata. */
    bool wants_relist;
    bool was_forbidden;

    struct reflector_store objects;
    struct watch watch;
    struct reflector_request request;
    struct restore_history restore_history;
    bool wants_open;           /* The watch has ordered a request that is not open yet. */
    bool late;                 /* `failure` says that there is no progress. */
    struct list_ticket ticket; /* Of its list, first page to last. */
    struct stream_slot stream;

    enum end_reason last_end; /* Of any request. */
    int64_t ended_ms;         /* Steady. */
    int64_t answered_ms;      /* When the open request was answered with 200; 0: it was not. */
    struct reflector_failure failure;
    int64_t audited_ms;    /* For audit.h, as is the next. */
    bool audit_unpaged;    /* The server forgets pages sooner than they are asked for. */
    bool synced;           /* All its objects have been in the store once. */
    int64_t last_event_ms; /* Since the epoch; 0 before the first. */
};

/* Read all objects again, at once. */
void reflector_relist(struct reflector *r);

/* What it knows may be wrong: list the most recent state, at once unless it did so of late. */
void reflector_relist_most_recent(struct reflector *r);

/* True if it could not read its objects even once, because that is forbidden. */
static inline bool reflector_is_forbidden(const struct reflector *r)
{
    return !r->synced && r->last_end == END_FORBIDDEN;
}

/* Remove its objects from the store, and go on. */
static inline void reflector_clear(struct reflector *r)
{
    reflector_store_clear(&r->objects);
    r->synced = false;
}

/* Do what is due at context->now_ms. */
void reflector_turn(struct reflector *r);

/* When the next turn is due. */
int64_t reflector_due(const struct reflector *r);

enum { REFLECTOR_TRIES = 3 };

/* True once there is no use in waiting for its first objects: it has them, or cannot get them. */
static inline bool reflector_ready(const struct reflector *r)
{
    bool refused = r->last_end == END_FORBIDDEN || r->last_end == END_ABSENT;

    return r->synced || r->watch.retries >= REFLECTOR_TRIES || (r->watch.retries > 0 && refused);
}

/* True if what it reads are bindings. */
static inline bool reflector_reads_bindings(const struct reflector *r)
{
    return kind_of(r->api_version, r->kind)->class == CLASS_BINDING;
}

/*
 * When a list, or a stream that begins with all objects, takes too long. The ticket is that of
 * the list; `open` says that its request is under way.
 */

/* The reflectors of a source: those of the kinds that are always watched, then others. */
struct reflector_list {
    struct reflector_context *context; /* Borrowed. */
    struct reflector **items;
    size_t count;
    size_t always_count;
};

/*
 * Have a resource watched where the namespace filter allows: everywhere at once, or, where
 * namespaces are named, in each of them. Of those beyond always_count, `wanted` is set.
 */
void reflector_list_mark_wanted(struct reflector_list *l, struct reflector_spec spec,
                                bool namespaced);
/* The same of every kind whose row says so. `awaited`: of these none is optional. */
void reflector_list_mark_kinds_wanted(struct reflector_list *l, enum watch_condition when,
                                      bool awaited);

/* Nothing beyond always_count is wanted, until it is said anew. */
void reflector_list_unmark_wanted(struct reflector_list *l);
/* End the watches that are not wanted, and remove their objects; tell the others what to keep. */
void reflector_list_drop_unwanted(struct reflector_list *l);

/* End all watches; the objects stay in the store. */
void reflector_list_release(struct reflector_list *l);
