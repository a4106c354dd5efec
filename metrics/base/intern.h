/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Shared strings: equal texts are one pointer, so comparing is comparing
 * pointers, and a hundred thousand objects in one namespace hold its name once.
 *
 * Each string counts its holders and goes with the last one.
 */
struct intern;

struct intern *intern_new(uint64_t seed) MUST_USE;
/* Frees the pool and every string still in it. Takes NULL. */
void intern_free(struct intern *pool);

/* The shared copy of `s`, one holder more. */
const char *intern_add(struct intern *pool, const char *s) MUST_USE;
const char *intern_add_len(struct intern *pool, const char *s, size_t len) MUST_USE;

/* One more holder of a string that came from this pool. */
const char *intern_ref(const char *shared);

/* The shared copy of `s` if somebody holds it, else NULL. Changes no count. */
const char *intern_find(const struct intern *pool, const char *s) MUST_USE;

/* One holder less. Takes NULL. */
void intern_drop(struct intern *pool, const char *shared);

/* How many different strings are held. */
size_t intern_count(const struct intern *pool);
