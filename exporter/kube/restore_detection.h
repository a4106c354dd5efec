/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_request.h"
#include "exporter/kube/object_stream.h"
#include "exporter/kube/watch.h"
#include "metrics/base/json.h"

/*
 * The last change known of one resource, by which a server that was restored from a backup gives
 * itself away when it is asked for that object again.
 *
 * Etcd that goes back from version V to R forgets what happened in between, and numbers what
 * happens next from R + 1 again. Nothing says so: a stream resumed at V is silent until writers
 * have passed V, and then goes on as if nothing had been. Let K be the version of the last change
 * that we know of, at most V.
 *
 * - R < K: that change was undone. The object is as it was before it: another version than K, and
 *   not above V; or it was not there before it; or, if the change was its deletion, it is there
 *   again. Has it been written or deleted anew since V, then that says nothing, for it could be
 *   an ordinary change that the stream brings as well: how it was at V still tells.
 * - R >= K: all that we know is older than R and holds. But what happens to the resource between
 *   R and V the stream does not bring. A most recent list, of one object, is of a version below V
 *   as long as writers have not passed that; afterwards only other resources tell, which lost a
 *   change: therefore one that was undone has all resources listed.
 *
 * What remains for the audit to find: the writers have passed V, and none of all the resources has
 * a known change above R. And a deletion that was undone and then repeated looks as it did, as
 * does a change repeated under the same version with the same content; of what only a list has
 * brought, with the same origin.
 *
 * Versions that are no numbers are the same or not, and have no order.
 */
struct last_change {
    char ns[64];
    char name[254]; /* "": no change is known. */
    char version[WATCH_VERSION_MAX];
    uint64_t uid;     /* These are hashes. */
    uint64_t origin;  /* Of its uid, its generation, and the times of its managed fields. */
    uint64_t content; /* Of all of the object, in the form in which it was read; 0 if unknown. */
    bool deleted;
};

/* The stream brought a change of an object. One that cannot be told from others is left out. */
void last_change_note_event(struct last_change *n, const cJSON *object, const char *version,
                            bool deleted);

/*
 * A list brought an object: it is kept if its version is the highest so far, without its content:
 * where the versions of a list rise that would have to be read of each. Its origin is little.
 */
void last_change_note_listed(struct last_change *n, const cJSON *object, const char *version);

/* A list is complete: of what it brought, and what was known before, only what still holds. */
void last_change_replace(struct last_change *n, const struct last_change *listed);

/* True if it is the same change. */
static inline bool last_change_equals(const struct last_change *n, const struct last_change *other)
{
    return strcmp(n->version, other->version) == 0 && strcmp(n->name, other->name) == 0 &&
           strcmp(n->ns, other->ns) == 0;
}

/* The same, and the change may be the next of its history: a new object follows a deletion only. */
bool last_change_is_followed_by(const struct last_change *n, const cJSON *object, bool deleted);

enum last_change_verdict {
    LAST_CHANGE_HOLDS,
    LAST_CHANGE_ALTERED,   /* It has the same version, and is another object. */
    LAST_CHANGE_UNDONE,    /* The server was restored to before the change. */
    LAST_CHANGE_UNDECIDED, /* It was changed after `position`: ask how it was there. */
};

/*
 * What follows from how the object is now: `object`, NULL if it is not there. All changes up to
 * `position` are known.
 */
enum last_change_verdict last_change_compare_current(const struct last_change *n,
                                                     const char *position, const cJSON *object);

/* The same from how it was at a version of the stream that the change had come by. */
enum last_change_verdict last_change_compare_past(const struct last_change *n, const cJSON *object);

/*
 * Asks a server to which a stream has returned whether it was restored from a backup meanwhile
 * (newest.h): reads the newest object known, and lists one object, for the version that the list
 * has. Where the newest object says nothing, asks how it was at the stream's version; where the
 * server does not tell that, waits for the event that explains what was read. That an object is
 * gone says little, for it may have been deleted anew: asks when it was.
 *
 * It begins only when the stream is open: what is restored later ends the stream.
 */

/* Of what is read. Borrowed while a check is under way. */
struct restore_check_spec {
    const char *api_version;
    const char *kind;
    const char *resource;
    const char *ns; /* NULL: all. */
    const char *field_selector;
    bool metadata_only;
    bool by_version; /* Objects of one version are the same, whatever is in them. */
    const struct last_change *last_change;
    const char *position; /* What the stream was resumed at. */
};

enum restore_check_result {
    RESTORE_CHECK_OPEN,     /* Not known yet, or nothing is being checked. */
    RESTORE_CHECK_PASSED,   /* As far as can be known, all is as it was. */
    RESTORE_CHECK_DOUBTFUL, /* Something is not as it was, and a restore is not the only
                               explanation. */
    RESTORE_CHECK_RESTORED,
};

enum restore_check_step {
    RESTORE_CHECK_IDLE,
    RESTORE_CHECK_OBJECT,
    RESTORE_CHECK_LIST,
    RESTORE_CHECK_PAST,     /* How the object was at the stream's version. */
    RESTORE_CHECK_EVENT,    /* What explains it. */
    RESTORE_CHECK_BEFORE,   /* Whether it was there just before it was deleted, */
    RESTORE_CHECK_DELETION, /* and was not at its deletion: it may have been deleted once more. */
};

struct restore_check {
    struct restore_check_spec spec; /* With `last_change` and `position` below. */
    struct last_change last_change;
    char position[WATCH_VERSION_MAX];
    char past[WATCH_VERSION_MAX]; /* The version that is asked about. */
    enum restore_check_step step;
    struct fetch *fetch; /* NULL while it waits. */
    bool outdated;       /* Its answer is not wanted any more. */
    bool unread;         /* The object may not be read, */
    bool changed;        /* or is not as it was, */
    bool explained;      /* which the stream has brought. */
    bool altered;        /* Its version is the same, its content is not. */
    unsigned failures;
    int64_t due_ms; /* When the next request is due, or the wait for an event ends. */
};

/*
 * Begin; what was under way ends. The newest object and the position are copied. This and
 * restore_check_end() may be called from a handler of the transport.
 */
void restore_check_begin(struct restore_check *c, const struct restore_check_spec *spec,
                         int64_t now_ms);
/* Do what is due. */
enum restore_check_result restore_check_turn(struct restore_check *c, struct transport transport,
                                             int64_t now_ms) MUST_USE;
/* When a turn is due without the transport; INT64_MAX for never. */
int64_t restore_check_due(const struct restore_check *c);
/* True if it has come to no result yet, and nothing that the stream has brought is one. */
static inline bool restore_check_is_open(const struct restore_check *c)
{
    return c->step != RESTORE_CHECK_IDLE && !c->explained;
}

/* Nobody wants to know any more. */
void restore_check_end(struct restore_check *c);
/* The same, and release all. */
void restore_check_release(struct restore_check *c);

/*
 * What a reflector remembers so as to notice that its server was restored from a backup: the
 * newest change known, held against what lists bring, and against what the server answers when
 * a stream is resumed (recheck.h). Lists of the most recent state tell by their versions, too.
 *
 * Suspicion is cheap: the reflector lists anew, and the list confirms it or does not. Only what
 * is certain is told to the other reflectors.
 */
struct restore_history {
    struct last_change last_change;
    struct last_change listed; /* The same of the list under way. */
    struct restore_check restore_check;
    uint64_t restores; /* Of its context, those that it has acted upon. */
    bool expected;     /* The list under way is due to a restore that all know of. */
    bool contradicted; /* That list has the newest object otherwise than it can be. */
    bool doubted;      /* And is due to its content, which was another when it was read alone: */
    bool varies;       /* because the server writes it otherwise then. */
    bool resumed;      /* The stream that was opened last goes on from an earlier one. */
};

/* A list, or a stream that begins with all objects, is asked for. */
void restore_history_begin_list(struct restore_history *h);

/* The open request has brought an event; the watch has not, yet. */
void restore_history_note(struct restore_history *h, const struct watch *w,
                          const struct watch_event *event);

/*
 * The list is complete. True if it proves a restore that nobody knew of; `older`: by its version.
 */
bool restore_history_end_list(struct restore_history *h, bool older);

/* The stream is open at spec->position: check it, if it was resumed. The newest object is added. */
void restore_history_check(struct restore_history *h, struct restore_check_spec spec,
                           int64_t now_ms);

/*
 * The open request has ended, and a check with it. True if that leaves a question that nobody asks
 * again, since the stream has brought a newer change meanwhile: a list must answer it.
 */
bool restore_history_end_request(struct restore_history *h) MUST_USE;

/* As restore_check_turn(). */
enum restore_check_result restore_history_turn(struct restore_history *h,
                                               struct transport transport, int64_t now_ms) MUST_USE;
