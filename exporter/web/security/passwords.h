/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Checks passwords by bcrypt, which takes long on purpose: a thread does one after the other, and
 * few may wait. What was right once is remembered, so that whoever scrapes does not wait behind
 * those who guess; what was wrong is not, so that guesses displace nothing.
 */
struct passwords;

struct passwords *passwords_new(struct error *err) MUST_USE;
/* Closes it first. NULL is fine. */
void passwords_free(struct passwords *p);

/* What a client says, and what it is held against. Texts are copied. */
struct credentials_claim {
    const char *user;
    const char *password;
    const char *hash; /* Of the user; of anybody where there is no such user. */
    bool exists;
};

/* True if these were right before. */
bool passwords_known(struct passwords *p, const struct credentials_claim *claim);

/*
 * Have them checked; `done` is called by the thread. False if too many wait, or after
 * passwords_close().
 */
bool passwords_check(struct passwords *p, const struct credentials_claim *claim,
                     void (*done)(void *context, bool right), void *context) MUST_USE;

/* Answer all that wait with `false`, once the one that is being checked is, and take no more. */
void passwords_close(struct passwords *p);
