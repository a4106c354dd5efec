/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * Checks passwords by bcrypt, which takes long on purpose: a thread does one after the other, and
 * few may wait. What was right once is remembered, so that whoever scrapes does not wait behind
 * those who guess; what was wrong is not, so that guesses displace nothing. Whoever comes first
 * from elsewhere gets its turn, too: origins take turns, and the one of which most wait makes room.
 */
struct passwords;

struct passwords *passwords_new(struct error *err) MUST_USE;
/* Closes it first. NULL is fine. */
void passwords_free(struct passwords *p);

/* What a client says, and what it is held against. Texts are copied. */
struct login_attempt {
    const char *user;
    const char *password;
    const char *hash; /* Of the user; of anybody where there is no such user. */
    bool exists;
    uint64_t origin; /* The same for all who may be one. */
};

/*
 * Which of `count` hashes, at least one, stands for that of a user that does not exist: always the
 * same one for a name, so that how long a check takes does not tell names apart.
 */
unsigned passwords_substitute(const struct passwords *p, const char *user, unsigned count);

enum password_answer {
    PASSWORD_RIGHT,
    PASSWORD_WRONG,
    PASSWORD_UNCHECKED, /* It made room for another, or there is no more time. */
};

/* True if these were right before. */
bool passwords_is_cached(struct passwords *p, const struct login_attempt *claim);

/*
 * Have them checked; `done` is called by the thread, or by whoever it made room for. False if too
 * many wait, or after passwords_close().
 */
bool passwords_check(struct passwords *p, const struct login_attempt *claim,
                     void (*done)(void *context, enum password_answer answer),
                     void *context) MUST_USE;

/* Leave all that wait unchecked, once the one that is being checked is, and take no more. */
void passwords_close(struct passwords *p);
