/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/error.h"

/*
 * A thread that does one piece of work at a time for the loop, so that none holds up its turns.
 * What the work reads is lent to it meanwhile: the loop does not touch that until it is done.
 */
struct clerk;

struct clerk *clerk_new(struct error *err) MUST_USE;
/* Waits for the work that it is at. NULL is fine. */
void clerk_free(struct clerk *c);
/* For long work to ask, on its thread: somebody waits for it in clerk_free(). */
bool clerk_is_ending(const struct clerk *c);

/* To poll for reading: its work is done. */
int clerk_fd(const struct clerk *c);

/* Begin with this; it is at no other work. */
void clerk_begin(struct clerk *c, void (*work)(void *context), void *context);

/* True once after each clerk_begin(): the work is done. Never waits. */
bool clerk_done(struct clerk *c) MUST_USE;
