/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include "metrics/base/base.h"

/*
 * The program's only source of time, randomness and environment. They are passed
 * down from here, so that tests can supply their own.
 */

/* Milliseconds since the epoch, to compare with the times of objects. May be set back. */
int64_t platform_now_ms(void);

/* Milliseconds that never go back, to measure waiting with. */
int64_t platform_steady_ms(void);

/* The same, finer. */
double platform_steady_seconds(void);

/* Processor time that the calling thread has used: the cost of work on a busy host, too. */
int64_t platform_thread_ms(void);

/* The environment of the process: NAME=value, NULL at the end. */
const char *const *platform_environment(void);

/* A number nobody can guess, for hash tables whose keys others choose. */
uint64_t platform_seed(void);
