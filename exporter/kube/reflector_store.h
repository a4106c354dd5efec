/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/api_resources.h"
#include "exporter/kube/discovery.h"
#include "exporter/system/log.h"
#include "metrics/model/store.h"

/*
 * What one reflector puts into the store that all sources share. Its objects carry its
 * origin: it touches no other source's, and after a pass over all objects it removes
 * those that are gone.
 */
struct reflector_store {
    struct store *store; /* Borrowed, as is all that follows. */
    const struct log *log;
    const struct namespace_filter *filter; /* NULL: objects of all namespaces. */
    bool by_binding;      /* Keep only Works of bindings: it is for the bindings' namespaces. */
    const char *resource; /* For log lines, as is the apiVersion. */
    const char *api_version;
    /* Keep only what rules go by, as settings of this apiVersion rather than as templates. */
    const char *settings; /* NULL: keep all, as what they are. */
    /* To tell what a binding refers to: Karmada looks at one version of a kind. NULL: none. */
    const struct discovery *discovery;
    /* Keep only the templates that bindings, or others, refer to: no policy selects their kind. */
    bool bound_templates_only;
    bool has_unread;           /* Since the last complete pass. */
    bool has_unnamed;          /* In this pass: see reflector_store_note_unnamed(). */
    bool has_rejected_unknown; /* In this pass: an object was rejected of which there is no earlier
                                * version.
                                */
    struct origin origin;
    uint64_t rejected;  /* Objects that could not be read. */
    uint64_t too_large; /* Of them, those rejected for their size. */
    uint64_t removals;  /* How often an object was deleted, in the store or not. */
};

/*
 * The object exists, as given. Outside the filter it is skipped; an unreadable one is rejected.
 * A binding is made to refer to the version of its template that Karmada looks at: one that was
 * made when another version was preferred has that version until Karmada writes it next.
 */
void reflector_store_put(struct reflector_store *s, cJSON *object);

/* The object was deleted. One that another source brought stays. */
void reflector_store_remove(struct reflector_store *s, const cJSON *object);

/*
 * An object exists and cannot be read: count and log it. Its last readable version stays, if
 * `object` (NULL: not even that could be read) says which one it is.
 */
void reflector_store_reject(struct reflector_store *s, const cJSON *object, const char *reason);

/*
 * An object exists and cannot be read, and nobody can tell which it is: it may be any of those that
 * the pass has not brought. None of them is removed at its end.
 */
void reflector_store_note_unnamed(struct reflector_store *s);

/*
 * A binding refers to a template that may not be read: it is in the store as one of which nothing
 * but its identity is known (struct template, `unread`), until it can be read.
 */
void reflector_store_put_unread(struct reflector_store *s, struct entry *entry);

/* No more than the templates that bindings refer to is wanted: remove the others, once. */
void reflector_store_drop_unbound(struct reflector_store *s);

/* What an object of a list is to the store. */
enum listed_state {
    LISTED_UNWANTED, /* It is not to be in it. */
    LISTED_MISSING,  /* It is not in it, and might be. */
    LISTED_PRESENT,  /* It is, as `entry`, of whatever version. */
};
enum listed_state reflector_store_find_listed(const struct reflector_store *s, const cJSON *object,
                                              struct entry **entry);

/* True if templates need it: one reads it to decide, or somebody wants it for them
 * (store_request_read). */
bool reflector_store_is_referred(const struct entry *entry);

/* Begin a pass over all objects; `restored`: what was known of them before may be undone. */
void reflector_store_begin_pass(struct reflector_store *s, bool restored);
/* The pass is complete: remove the objects that it did not bring, unless one was unnamed. */
void reflector_store_end_pass(struct reflector_store *s);
/* Remove all objects. */
void reflector_store_clear(struct reflector_store *s);
