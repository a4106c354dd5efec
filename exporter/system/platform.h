/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

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
int64_t platform_thread_cpu_ms(void);

/* The environment of the process: NAME=value, NULL at the end. */
const char *const *platform_environment(void);

/* A number nobody can guess, for hash tables whose keys others choose. */
uint64_t platform_random_seed(void);

/*
 * When the loop last turned, in steady milliseconds: its thread beats, all others may look.
 * They decide for themselves whether that is too long ago, since a loop that stands still
 * tells nobody.
 */
enum { HEARTBEAT_MAX_AGE_MS = 10 * 1000 };

struct heartbeat {
    _Atomic int64_t at_ms;
};

void heartbeat_update(struct heartbeat *h, int64_t now_ms);

/* How long ago the last beat was: 0 where it came after `now_ms` was read. */
int64_t heartbeat_age_ms(const struct heartbeat *h, int64_t now_ms);

/*
 * Start a thread to which no signal is delivered: they are for the loop, and interrupt nothing
 * else. 0, or the errno that says why not.
 */
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context) MUST_USE;

/* A condition that is waited for by the steady clock, whatever is done to the other one. */
void condition_init(pthread_cond_t *condition);

/* Wait for it until `until_ms` (platform_steady_ms). False if that has come. */
bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ms);

/*
 * True in a build with a sanitizer, which traces its own process, runs programs and calls what
 * our filter refuses: there hardening is left away.
 */
#ifdef __has_feature
#define HARDENING_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HARDENING_SANITIZED 1
#else
#define HARDENING_SANITIZED 0
#endif
