/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/fetch.h"
#include "exporter/kube/newest.h"

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
struct recheck_spec {
    const char *api_version;
    const char *kind;
    const char *resource;
    const char *ns; /* NULL: all. */
    const char *field_selector;
    bool metadata_only;
    bool by_version; /* Objects of one version are the same, whatever is in them. */
    const struct newest *newest;
    const char *position; /* What the stream was resumed at. */
};

enum recheck_result {
    RECHECK_OPEN,     /* Not known yet, or nothing is being checked. */
    RECHECK_PASSED,   /* As far as can be known, all is as it was. */
    RECHECK_DOUBTFUL, /* Something is not as it was, and a restore is not the only explanation. */
    RECHECK_RESTORED,
};

enum recheck_step {
    RECHECK_IDLE,
    RECHECK_OBJECT,
    RECHECK_LIST,
    RECHECK_PAST,     /* How the object was at the stream's version. */
    RECHECK_EVENT,    /* What explains it. */
    RECHECK_BEFORE,   /* Whether it was there just before it was deleted, */
    RECHECK_DELETION, /* and was not at its deletion: it may have been deleted once more. */
};

struct recheck {
    struct recheck_spec spec; /* With `newest` and `position` below. */
    struct newest newest;
    char position[WATCH_VERSION_MAX];
    char past[WATCH_VERSION_MAX]; /* The version that is asked about. */
    enum recheck_step step;
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
 * recheck_end() may be called from a handler of the transport.
 */
void recheck_begin(struct recheck *c, const struct recheck_spec *spec, int64_t now_ms);
/* The stream has brought a change of this object. */
void recheck_note(struct recheck *c, const cJSON *object, bool deleted);
/* Do what is due. */
enum recheck_result recheck_turn(struct recheck *c, struct transport transport,
                                 int64_t now_ms) MUST_USE;
/* When a turn is due without the transport; INT64_MAX for never. */
int64_t recheck_due(const struct recheck *c);
/* True if it has come to no result yet, and nothing that the stream has brought is one. */
static inline bool recheck_is_open(const struct recheck *c)
{
    return c->step != RECHECK_IDLE && !c->explained;
}

/* Nobody wants to know any more. */
void recheck_end(struct recheck *c);
/* The same, and release all. */
void recheck_release(struct recheck *c);
