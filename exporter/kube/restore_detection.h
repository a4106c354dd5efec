/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_request.h"
#include "exporter/kube/object_stream.h"
#include "exporter/kube/watch_state.h"
#include "exporter/options/namespace_filter.h"
#include "metrics/base/json.h"

/*
 * Detects that an API server was restored from a backup, for one resource.
 *
 * If etcd goes back from revision V to R, the changes in between are lost, and new changes get the
 * revisions R + 1, R + 2, ... again. The server does not report that: a stream that is resumed at V
 * is silent until new changes have passed V, and then continues as usual. Let K <= V be the
 * revision of the last known change of the resource.
 *
 * - R < K: that change was undone. The object has its state before the change, with a resource-
 *   Version other than K and at most V; or it does not exist; or, if the change was its deletion,
 *   it exists again. If the object was changed or deleted again after V, its present state proves
 *   nothing, since the stream brings ordinary changes as well. Its state at V still does.
 * - R >= K: all known changes are valid, but the stream does not bring the changes between R and V.
 *   A list of one object from etcd has a version below V until new changes have passed V. After
 *   that only other resources with an undone change reveal the restore: therefore all resources
 *   are listed when one of them detects it.
 *
 * Not detected (the audit finds the differences later): restores after which changes have passed
 * V and no resource has a known change above R; a deletion that was undone and repeated; a change
 * that was undone and repeated with the same version and content, or, for a change known from a
 * list only, with the same `origin`.
 *
 * Versions that are not numbers can be equal or different, but have no order.
 */

/* The last known change of one resource. */
struct last_change {
    char ns[64];
    char name[254]; /* "" without a known change. */
    char version[WATCH_VERSION_MAX];
    uint64_t uid;     /* Hash of the uid. */
    uint64_t origin;  /* Hash of the uid, the generation, and the times of managedFields. */
    uint64_t content; /* Hash of the whole object in the form that was read; 0 if unknown. */
    bool deleted;
};

enum last_change_verdict {
    LAST_CHANGE_HOLDS,
    LAST_CHANGE_ALTERED,   /* The object has the same version, but other content. */
    LAST_CHANGE_UNDONE,    /* The server was restored to a state before the change. */
    LAST_CHANGE_UNDECIDED, /* Changed after the stream's position, absent, or of a version without
                              order: the past state decides. */
};

/* ---- check of a resumed stream ---- */

/* The resource of a check, and the position of its stream. Pointers are borrowed. */
struct restore_check_spec {
    const char *api_version;
    const char *kind;
    const char *resource;
    const char *ns; /* NULL: all namespaces. */
    const char *field_selector;
    const struct namespace_filter *shard; /* The known objects are those of the shard; NULL: all. */
    bool metadata_only;
    const struct json_filter *fields; /* Members of the objects in the stream; NULL: all. */
    bool by_version; /* Ignore differences of content between objects of the same version. */
    const struct last_change *last_change;
    const char *position; /* resourceVersion at which the stream was resumed. */
};

enum restore_check_result {
    RESTORE_CHECK_OPEN,     /* The check goes on, or there is no check. */
    RESTORE_CHECK_PASSED,   /* No sign of a restore. */
    RESTORE_CHECK_DOUBTFUL, /* A difference that may have other causes than a restore. */
    RESTORE_CHECK_RESTORED,
};

enum restore_check_step {
    RESTORE_CHECK_IDLE,
    RESTORE_CHECK_OBJECT,   /* Reads the object of the last change. */
    RESTORE_CHECK_LIST,     /* Lists one object for the version of the list. */
    RESTORE_CHECK_PAST,     /* Reads the object as it was at the stream's position. */
    RESTORE_CHECK_EVENT,    /* Waits for an event of the stream that explains the difference. */
    RESTORE_CHECK_BEFORE,   /* Reads whether the object existed just before its deletion. */
    RESTORE_CHECK_DELETION, /* Reads whether the object was absent at its deletion. */
};

/*
 * Checks whether the server was restored before a stream was resumed. The check starts when the
 * stream is open, because a later restore ends the stream.
 */
struct restore_check {
    /* spec.last_change and spec.position are unused: the next two members are copies. */
    struct restore_check_spec spec;
    struct last_change last_change;
    char position[WATCH_VERSION_MAX];
    char past[WATCH_VERSION_MAX]; /* Version for reads of a past state. */
    enum restore_check_step step;
    struct fetch *fetch; /* Owned; NULL while no request is open. */
    bool outdated;       /* `fetch` belongs to an ended check; the next turn frees it. */
    bool unread;         /* The read of RESTORE_CHECK_OBJECT failed. */
    bool changed;        /* The present state of the object proves nothing. */
    bool explained;      /* The stream has brought a change that can follow the last change. */
    bool altered;        /* LAST_CHANGE_ALTERED was found, and spec.by_version is false. */
    unsigned failures;
    int64_t due_ms; /* Time of the next request, or end of the wait for an event. */
};

/* Cancels the check and frees its request. */
void restore_check_release(struct restore_check *c);

/*
 * Returns the steady time in ms of the next restore_history_turn() if no response data arrives
 * before; INT64_MAX: no call needed.
 */
int64_t restore_check_due(const struct restore_check *c);

/* ---- history of a reflector ---- */

/*
 * Compares the last known change of a resource with the objects of lists, and checks resumed
 * streams. A suspicion costs only a list from etcd, which confirms or refutes it; other reflectors
 * list again only after a proof.
 */
struct restore_history {
    struct last_change last_change;
    struct last_change listed; /* Newest object of the open list. */
    struct restore_check restore_check;
    uint64_t restores; /* reflector_context.restores to which the reflector has reacted. */
    bool expected;     /* The open or next list follows a known restore. */
    bool contradicted; /* The open list proves that the last change was undone or altered. */
    bool doubted;      /* The open or next list follows a check that found other content. */
    bool varies;       /* The server writes an object differently in lists and in single reads. */
    bool resumed;      /* A stream of changes that opens now continues an earlier one. */
};

/* Begins a list, or a stream that begins with all objects. Ends an open check without a result. */
void restore_history_begin_list(struct restore_history *h);

/*
 * Records an event before the watch `w` processes it: a change of a stream in `last_change`; an
 * object of a list in `listed` if it is the newest, after a comparison with `last_change`.
 */
void restore_history_note(struct restore_history *h, const struct watch *w,
                          const struct watch_event *event);

/*
 * Ends a complete list, or the initial events of a stream. `older`: the version of the list is
 * older than the last known one. Returns true if this proves a restore that was not known before.
 */
bool restore_history_end_list(struct restore_history *h, bool older);

/*
 * Starts a check if the stream that opens was resumed. Sets `last_change` and `by_version` of the
 * spec; copies the position. May be called from a handler of the transport.
 */
void restore_history_check(struct restore_history *h, struct restore_check_spec spec,
                           int64_t now_ms);

/*
 * Ends the check of the open request, which has ended or is closed. Returns true if the check has
 * no result and cannot be repeated, because the stream has brought newer changes, none of which can
 * follow the checked one: then the caller has to list. May be called from a handler of the
 * transport.
 */
bool restore_history_end_request(struct restore_history *h) MUST_USE;

/* Advances the check; returns its result, or RESTORE_CHECK_OPEN. */
enum restore_check_result restore_history_turn(struct restore_history *h,
                                               struct transport transport, int64_t now_ms);

/* Used only by restore_detection.c and tests. */

/*
 * Records a change from a stream. Ignores an object with a missing name or version, or with a too
 * long namespace, name or version.
 */
void last_change_note_event(struct last_change *n, const cJSON *object, const char *version,
                            bool deleted);

/* Records an object of a list, without the hash of its content, if its version is the highest. */
void last_change_note_listed(struct last_change *n, const cJSON *object, const char *version);

/* Replaces the last change by `listed`. Keeps a deletion if `listed` is older or has no name. */
void last_change_replace(struct last_change *n, const struct last_change *listed);

/*
 * Returns true if a change of `object` can follow the last change: it is of the same object, and
 * of the same uid unless either is a deletion.
 */
bool last_change_is_followed_by(const struct last_change *n, const cJSON *object, bool deleted);

/*
 * Compares the last change with the present state of its object (NULL: absent). All changes up to
 * `position` are known.
 */
enum last_change_verdict last_change_compare_current(const struct last_change *n,
                                                     const char *position, const cJSON *object);

/* Compares the last change with its object (NULL: absent) at the same or a later version. */
enum last_change_verdict last_change_compare_past(const struct last_change *n, const cJSON *object);

/* Starts a check and copies last_change and position; an open check ends without a result. */
void restore_check_begin(struct restore_check *c, const struct restore_check_spec *spec,
                         int64_t now_ms);
/* Sends a request or evaluates a response. Returns RESTORE_CHECK_OPEN while there is no result. */
enum restore_check_result restore_check_turn(struct restore_check *c, struct transport transport,
                                             int64_t now_ms) MUST_USE;
