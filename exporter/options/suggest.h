/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * The name that `typed` is probably a slip of: the one with the smallest edit
 * distance. NULL if all are far off. `next` answers the candidates one by one,
 * NULL at the end.
 */
const char *suggest_name(const char *typed, const char *(*next)(void *context), void *context);

/* How many letters differ: added, dropped, changed or swapped with their neighbour. */
size_t edit_distance(const char *a, const char *b);
