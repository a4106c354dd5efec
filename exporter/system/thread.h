/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>

#include "metrics/base/base.h"

/*
 * Start a thread to which no signal is delivered: they are for the loop, and interrupt nothing
 * else. 0, or the errno that says why not.
 */
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context) MUST_USE;
