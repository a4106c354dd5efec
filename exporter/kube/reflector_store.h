/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/discovery.h"
#include "exporter/options/namespace_filter.h"
#include "exporter/system/log.h"
#include "metrics/model/store.h"

/* Receives each object that the namespace filter excludes. NULL: no observer. */
struct skipped_observer {
    void (*skipped)(void *context, const cJSON *object);
    void *context;
};

/*
 * Writes the objects of one reflector into the store, which all sources share. An object carries
 * the source number of the reflector that read it last; only this reflector removes it. After a
 * pass over all objects, the objects that the server no longer has are removed.
 */
struct reflector_store {
    struct store *store; /* Pointers are borrowed. */
    const struct log *log;
    const struct namespace_filter *filter; /* NULL: objects of all namespaces. */
    bool by_binding; /* For Works: the filter applies to the namespace of their binding. */
    bool by_subject; /* For Events: it applies to the namespace of the object they are about. */
    const char *resource; /* For log lines. */
    const char *api_version;
    const char *kind;
    /* Keep only objects that contain settings, under this apiVersion. NULL: keep all objects. */
    const char *settings;
    /* For bindings: preferred versions of the kinds that they refer to. NULL for other kinds. */
    const struct discovery *discovery;
    struct skipped_observer skipped;
    struct engine *policies; /* For policies: receives those of other shards. NULL for others. */
    /* No policy selects the kind: keep only templates that a binding or a template refers to. */
    bool bound_templates_only;
    bool has_unread;           /* Unread templates may be in the store; reset by a complete pass. */
    bool has_unnamed;          /* In this pass, an object of unknown name was rejected. */
    bool has_rejected_unknown; /* In this pass, an object that is not in the store was rejected. */
    struct origin origin;      /* Stored with each object: this reflector and its pass. */
    /* Objects whose newest version was rejected: struct rejected_object; by namespace and name. */
    struct map rejected_now;
    uint64_t seed; /* Of the hashes in `rejected_now`. */
    /* Last pass that rejected an object of unknown name, or more than the map takes; 0: none. */
    uint32_t unnamed_sweep;
    uint64_t rejected;  /* Number of rejections; an object may be rejected several times. */
    uint64_t too_large; /* Number of rejections for size or number of values. */
    uint64_t removals;  /* Calls of reflector_store_remove(). */
};

/*
 * Adds or replaces an object, or rejects it as in reflector_store_reject(). An object outside the
 * namespace filter only reaches the observer. An object that is not kept for another reason is
 * removed, and so is a Work that is outside the filter or has no binding. In a binding, the
 * apiVersion of spec.resource is first replaced by the preferred one: a binding keeps a formerly
 * preferred version until Karmada writes it again.
 */
void reflector_store_put(struct reflector_store *s, cJSON *object);

/* Removes a deleted object, unless another source was the last to read it. */
void reflector_store_remove(struct reflector_store *s, const cJSON *object);

/*
 * Counts an object that is invalid or too large, and logs the 1st, 2nd, 4th, 8th, ... of them. An
 * earlier object stays in the store; its entry counts as seen in this pass and gets the version of
 * the rejected object. `object`: parsed parts with the identity; NULL if the identity is unknown.
 */
void reflector_store_reject(struct reflector_store *s, const cJSON *object, const char *reason);

/*
 * Returns true while the newest version of an object that the reflector keeps is rejected: until a
 * valid version, the deletion, or a complete pass without the object. For an object of unknown
 * name, until a complete pass without such an object.
 */
bool reflector_store_has_rejected(const struct reflector_store *s);

/*
 * Notes a rejected object of unknown name. It may be any object that is missing in the pass, so the
 * end of the pass removes nothing.
 */
void reflector_store_note_unnamed(struct reflector_store *s);

/*
 * Keeps a template that a binding refers to and the exporter may not read: puts only its identity
 * into the store (template->unread).
 */
void reflector_store_put_unread(struct reflector_store *s, struct entry *entry);

/* Removes the templates of this reflector that no binding refers to. */
void reflector_store_drop_unbound(struct reflector_store *s);

/* Relation of an object of a list to the store. */
enum listed_state {
    LISTED_UNWANTED, /* Invalid, not to be kept, of another source, or bound and not read yet. */
    LISTED_MISSING,  /* Not in the store. */
    LISTED_PRESENT,  /* In the store, in any version; sets `entry`. */
};
enum listed_state reflector_store_find_listed(const struct reflector_store *s, const cJSON *object,
                                              struct entry **entry);

/* Returns true if a template depends on the entry, or store_request_read() was called for it. */
bool reflector_store_is_referred(const struct entry *entry);

/* Begins a pass over all objects. If `restored`, marks the history of known objects as invalid. */
void reflector_store_begin_pass(struct reflector_store *s, bool restored);
/*
 * Ends a complete pass: removes the objects that were not in it, and templates that are still
 * unread. Removes nothing if the pass had an unnamed object.
 */
void reflector_store_end_pass(struct reflector_store *s);
/* Removes all objects of the reflector. */
void reflector_store_clear(struct reflector_store *s);

/* Frees the memory of the reflector; its objects stay in the store. */
void reflector_store_release(struct reflector_store *s);
