/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * Time, randomness and the environment come into the program here, and are passed
 * down from here, so that everything else can be tested with its own.
 */

/* Milliseconds since the epoch: what objects' times are compared with. May be set back. */
int64_t platform_now_ms(void);

/* Milliseconds that only ever grow: what waiting is measured with. */
int64_t platform_steady_ms(void);

/* The same, finer. */
double platform_steady_seconds(void);

/* Processor time that the calling thread has used: what work costs, however busy others are. */
int64_t platform_thread_ms(void);

/* What the program was started with: NAME=value, NULL at the end. */
const char *const *platform_environment(void);

/* A number nobody can guess, for hash tables whose keys others choose. */
uint64_t platform_seed(void);
