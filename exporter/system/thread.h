/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>

#include "metrics/base/base.h"

/*
 * Start a thread to which no signal is delivered: they are for the loop, and interrupt nothing
 * else. 0, or the errno that says why not.
 */
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context) MUST_USE;

/* A condition that is waited for by the steady clock, whatever is done to the other one. */
void condition_init(pthread_cond_t *condition);

/* Wait for it until `until_ms` (platform_steady_ms). False if that has come. */
bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ms);
