/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "exporter/kube/fetch.h"
#include "exporter/kube/namespace_filter.h"

/*
 * Objects that somebody asks for by name and that no watch follows: read alone, at most for two
 * seconds, and kept for ten, so that a page that is loaded again costs the server nothing. Web
 * clients together may ask for five new ones a second.
 */
struct lookup;

enum lookup_client { LOOKUP_OWN, LOOKUP_WEB };

enum lookup_state {
    LOOKUP_WAITING, /* Ask again after the next turn. */
    LOOKUP_FOUND,
    LOOKUP_MISSING,
    LOOKUP_FORBIDDEN,
    LOOKUP_OUTSIDE, /* The namespace is none of those that this exporter reads. */
    LOOKUP_LATE,    /* The server has not answered in time. */
    LOOKUP_FAILED,
    LOOKUP_BUSY,    /* Too many have been asked for. */
    LOOKUP_UNKNOWN, /* No template has such a kind, as far as is known. */
};

struct lookup_answer {
    enum lookup_state state;
    const cJSON *object; /* Of LOOKUP_FOUND; borrowed until the next turn. */
    const char *reason;  /* For people, of the others: the server's words, or ""; likewise. */
};

/* The filter is borrowed. */
struct lookup *lookup_new(struct transport transport, const struct namespace_filter *filter,
                          int64_t now_ms) MUST_USE;
/* Takes NULL. */
void lookup_free(struct lookup *l);

/* Ask for an object, or for what became of it. `now_ms` is steady here, too. */
struct lookup_answer lookup_ask(struct lookup *l, const struct fetch_spec *spec,
                                enum lookup_client client, int64_t now_ms);

/* Forget what is too old. */
void lookup_turn(struct lookup *l, int64_t now_ms);
/* When something is due: the end of a wait, or of what is kept; INT64_MAX for never. */
int64_t lookup_due(const struct lookup *l);
