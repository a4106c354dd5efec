/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Returns the candidate with the smallest edit distance to `typed`: the first of several. NULL if
 * all candidates differ too much. `next` returns one candidate per call, then NULL.
 */
const char *suggest_name(const char *typed, const char *(*next)(void *context), void *context);

/*
 * Returns the smallest number of bytes to insert, delete, replace or swap with the next byte to
 * turn `a` into `b`. Returns SIZE_MAX if a text is longer than 64 bytes.
 */
size_t edit_distance(const char *a, const char *b);
