/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * The name that somebody who typed `typed` probably meant, picked by the number
 * of letters to add, drop, change or swap. NULL if all of them are far off, or
 * if there are none. `next` gives the candidates one by one, NULL at the end.
 */
const char *nearest_name(const char *typed, const char *(*next)(void *context), void *context);

/* How many letters have to be added, dropped, changed or swapped with their neighbour. */
size_t edit_distance(const char *a, const char *b);
