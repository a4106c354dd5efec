/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/http/transport.h"
#include "exporter/kube/list_limiter.h"
#include "exporter/kube/object_stream.h"
#include "exporter/kube/reflector_store.h"

/*
 * Follows one resource of an API server, in one namespace or in all, into the
 * store: does what its watch orders, and puts and removes what the bodies tell of.
 *
 * What cannot be read now stays in the store as it was last.
 */

/* What all reflectors of a source share, and its discoverer. */
struct reflector_context {
    struct store *store;
    struct transport transport;
    const struct namespace_filter *filter;
    const struct log *log;
    struct list_limiter limiter;
    int64_t now_ms;   /* Steady. */
    int64_t clock_ms; /* Since the epoch. */
    uint64_t random;
    uint32_t last_source;
    bool streaming_lists; /* Ask for streams that begin with all objects, until that is refused. */
};

/* The next random number. */
uint32_t reflector_random(struct reflector_context *context);

/* All texts are copied. */
struct reflector_spec {
    const char *api_version;
    const char *kind;
    const char *resource;
    const char *ns;             /* NULL: all. */
    const char *field_selector; /* NULL: none. */
    bool metadata_only;
    bool unfiltered; /* Look at its objects whatever the filter says. */
    bool required;   /* For its owner's use. */
    /*
     * Not for templates: take only what Config Connector goes by, and put it into the
     * store as its setting.
     */
    bool settings;
};

struct reflector {
    struct reflector_context *context;
    char *api_version;
    char *kind;
    char *resource;
    char *ns;
    char *field_selector;
    bool metadata_only;
    bool required; /* For its owner's use, as is `wanted`. */
    bool wanted;

    struct reflector_store objects;
    struct watch watch;
    struct transfer *transfer; /* NULL if nothing is open. */
    struct object_stream stream;
    struct strbuf refusal; /* The body of an answer that is none. */
    bool wants_open;
    bool entered;  /* Holds a place in the limiter. */
    bool given_up; /* The open transfer is of no more use, because of `stop`. */
    enum watch_stop stop;
    int64_t retry_after_ms;

    enum watch_stop last_stop; /* Of any request. */
    int64_t stopped_ms;        /* Steady. */
    bool warned;               /* People have been told of the trouble. */
    bool synced;               /* All its objects have been in the store once. */
    int64_t last_event_ms;     /* Since the epoch; 0 before the first. */
    char trouble[256];         /* Why the last request failed, for people; "" if it did not. */
};

/* Starts by its first turn. Its place must not change. */
struct reflector *reflector_new(struct reflector_context *context,
                                const struct reflector_spec *spec) MUST_USE;

/* Stop following; the objects stay. Takes NULL. */
void reflector_free(struct reflector *f);

/* Remove its objects from the store, and go on. */
void reflector_empty(struct reflector *f);

/* Stop following, and remove its objects from the store. */
void reflector_forget(struct reflector *f);

/* Do what is due at context->now_ms. */
void reflector_turn(struct reflector *f);

/* When the next turn is due. */
int64_t reflector_due(const struct reflector *f);

/* True if waiting for its first objects is of no use: it has them, or they cannot be had. */
bool reflector_settled(const struct reflector *f);
