/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

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
struct newest {
    char ns[64];
    char name[254]; /* "": no change is known. */
    char version[WATCH_VERSION_MAX];
    uint64_t uid;     /* These are hashes. */
    uint64_t origin;  /* Of its uid, its generation, and the times of its managed fields. */
    uint64_t content; /* Of all of the object, in the form in which it was read; 0 if unknown. */
    bool deleted;
};

/* The stream brought a change of an object. One that cannot be told from others is left out. */
void newest_note(struct newest *n, const cJSON *object, const char *version, bool deleted);

/*
 * A list brought an object: it is kept if its version is the highest so far, without its content:
 * where the versions of a list rise that would have to be read of each. Its origin is little.
 */
void newest_note_listed(struct newest *n, const cJSON *object, const char *version);

/* A list is complete: of what it brought, and what was known before, only what still holds. */
void newest_replace(struct newest *n, const struct newest *listed);

/* True if it is the same change. */
static inline bool newest_is(const struct newest *n, const struct newest *other)
{
    return strcmp(n->version, other->version) == 0 && strcmp(n->name, other->name) == 0 &&
           strcmp(n->ns, other->ns) == 0;
}

/* True if it is about this object. */
bool newest_is_of(const struct newest *n, const cJSON *object);

/* The same, and the change may be the next of its history: a new object follows a deletion only. */
bool newest_is_followed_by(const struct newest *n, const cJSON *object, bool deleted);

enum newest_verdict {
    NEWEST_HOLDS,
    NEWEST_ALTERED,   /* It has the same version, and is another object. */
    NEWEST_UNDONE,    /* The server was restored to before the change. */
    NEWEST_UNDECIDED, /* It was changed after `position`: ask how it was there. */
};

/*
 * What follows from how the object is now: `object`, NULL if it is not there. All changes up to
 * `position` are known.
 */
enum newest_verdict newest_judge(const struct newest *n, const char *position, const cJSON *object);

/* The same from how it was at a version of the stream that the change had come by. */
enum newest_verdict newest_judge_past(const struct newest *n, const cJSON *object);
