/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Checks passwords with bcrypt, which is slow on purpose: one thread checks one password after the
 * other, and the queue is short. Correct credentials are cached, so that a scraper does not wait
 * behind guesses; wrong ones are not, so that guesses displace no cached credentials. Client
 * networks take turns: a full queue drops an attempt of the network with most attempts in favour of
 * a network with at least two fewer.
 */
struct passwords;

/* Starts the password thread. Returns NULL with the reason if that fails. */
struct passwords *passwords_new(struct error *err) MUST_USE;
/* Calls passwords_close() and frees the object; NULL is allowed. */
void passwords_free(struct passwords *p);

/* Credentials of a request, with the hash to compare. passwords_check() copies the texts. */
struct login_attempt {
    const char *user;
    const char *password;
    const char *hash; /* Hash of the user; for an unknown user, see passwords_substitute_index(). */
    bool exists;      /* The user exists. */
    uint64_t network; /* See client_network(). */
};

/*
 * Returns the index of the hash, out of `count` (at least 1), to compare for an unknown user. A
 * name gets the same index for the same `p` and `count`: the duration of checks reveals no names.
 */
unsigned passwords_substitute_index(const struct passwords *p, const char *user, unsigned count);

enum password_answer {
    PASSWORD_RIGHT,
    PASSWORD_WRONG,
    PASSWORD_UNCHECKED, /* Dropped from the full queue, or by passwords_close(). */
};

/* Returns true if the user exists and these credentials are cached as correct. */
bool passwords_is_cached(struct passwords *p, const struct login_attempt *attempt);

/*
 * Queues a check. `done` is called once: on the password thread, or, if the attempt is dropped from
 * the full queue, on the thread that queues another one. Returns false, without a call of `done`,
 * if the queue is full for this network, and after passwords_close().
 */
bool passwords_check(struct passwords *p, const struct login_attempt *attempt,
                     void (*done)(void *context, enum password_answer answer),
                     void *context) MUST_USE;

/*
 * Refuses further checks, waits for the check in progress, finishes the queued ones with
 * PASSWORD_UNCHECKED, and ends the thread.
 */
void passwords_close(struct passwords *p);
