/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/object_stream.h"
#include "exporter/kube/recheck.h"

/*
 * What a reflector remembers so as to notice that its server was restored from a backup: the
 * newest change known, held against what lists bring, and against what the server answers when
 * a stream is resumed (recheck.h). Lists of the most recent state tell by their versions, too.
 *
 * Suspicion is cheap: the reflector lists anew, and the list confirms it or does not. Only what
 * is certain is told to the other reflectors.
 */
struct history {
    struct newest newest;
    struct newest listed; /* The same of the list under way. */
    struct recheck recheck;
    uint64_t restores; /* Of its context, those that it has acted upon. */
    bool expected;     /* The list under way is due to a restore that all know of. */
    bool contradicted; /* That list has the newest object otherwise than it can be. */
    bool doubted;      /* And is due to its content, which was another when it was read alone: */
    bool varies;       /* because the server writes it otherwise then. */
    bool resumed;      /* The stream that was opened last goes on from an earlier one. */
};

/* A list, or a stream that begins with all objects, is asked for. */
void history_begin_list(struct history *h);

/* The open request has brought an event; the watch has not, yet. */
void history_note(struct history *h, const struct watch *w, const struct watch_event *event);

/*
 * The list is complete. True if it proves a restore that nobody knew of; `older`: by its version.
 */
bool history_end_list(struct history *h, bool older);

/* The stream is open at spec->position: check it, if it was resumed. The newest object is added. */
void history_check(struct history *h, struct recheck_spec spec, int64_t now_ms);

/*
 * The open request has ended, and a check with it. True if that leaves a question that nobody asks
 * again, since the stream has brought a newer change meanwhile: a list must answer it.
 */
bool history_end_request(struct history *h) MUST_USE;

/* As recheck_turn(). */
enum recheck_result history_turn(struct history *h, struct transport transport,
                                 int64_t now_ms) MUST_USE;
