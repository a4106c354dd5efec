/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <stdatomic.h>

#include "exporter/web/admission.h"
#include "exporter/web/desk.h"
#include "exporter/web/wire.h"

/*
 * One request, from its first line to its end. A connection has one at a time, and owns it:
 * libmicrohttpd does not complete every request that it begins.
 */
enum visit_state { VISIT_NEW, VISIT_SOUND, VISIT_WAITING, VISIT_ANSWERED };

struct visit {
    enum visit_state state;
    struct wire_target target;
    bool malformed; /* The head is wrong: see wire_check(). */
    bool dropped;   /* A part of the body was not kept. */
    _Atomic(enum verdict) verdict;
    struct call *call;     /* Of the API; NULL for anything else. Owned. */
    struct strbuf content; /* What has come of its body. */
    atomic_bool *turn;     /* That it has taken; NULL: none. */
};

/* Begins a request with its URI as libmicrohttpd has read it. Ends the earlier one. */
void visit_begin(struct visit *v, const char *uri);
/* Releases everything that the request owns, and gives back its turn. May be called again. */
void visit_end(struct visit *v);

/* Are its headers complete just now, at the first call for the request? */
bool visit_begins(const struct visit *v);

/* A piece of a request's body. */
struct piece {
    const char *bytes;
    size_t len;
};

/*
 * Keep the piece, which has nothing left then. The first one of a body takes the turn, which is
 * true while somebody has it; if somebody else has, or the body is not `wanted`, all of it is
 * dropped.
 */
void visit_take(struct visit *v, struct piece *piece, bool wanted, atomic_bool *turn);
/* It is the turn of the next one. */
void visit_give_back(struct visit *v);
