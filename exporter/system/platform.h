/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <pthread.h>
#include <stdatomic.h>

#include "metrics/base/base.h"

/* Returns the wall-clock time in milliseconds since the epoch. May jump backwards. */
int64_t platform_now_ms(void);

/* Returns the time of CLOCK_MONOTONIC in milliseconds ("steady" in other headers). */
int64_t platform_steady_ms(void);

/* Returns the time of CLOCK_MONOTONIC in seconds, with a fraction. */
double platform_steady_seconds(void);

/* Returns the CPU time of the calling thread in microseconds. */
int64_t platform_thread_cpu_us(void);

/* Returns the environment of the process: NAME=value strings, and NULL at the end. */
const char *const *platform_environment(void);

/* Returns a random number, which protects hash tables against keys chosen to collide. */
uint64_t platform_random_seed(void);

enum { HEARTBEAT_MAX_AGE_MS = 10 * 1000 };

/*
 * Time of the latest iteration of the event loop. The loop thread updates the time; other threads
 * compare its age with HEARTBEAT_MAX_AGE_MS to detect a blocked loop.
 */
struct heartbeat {
    _Atomic int64_t at_ms; /* Steady. */
};

void heartbeat_update(struct heartbeat *h, int64_t now_ms);

/* Returns the milliseconds since the last update; 0 if the update is later than `now_ms`. */
int64_t heartbeat_age_ms(const struct heartbeat *h, int64_t now_ms);

/* Starts a thread in which all signals are blocked. Returns 0 or an error number. */
int thread_start(pthread_t *thread, void *(*run)(void *context), void *context) MUST_USE;

/* Initialises a condition variable that uses CLOCK_MONOTONIC, for condition_wait(). */
void condition_init(pthread_cond_t *condition);

/*
 * Waits for a signal of the condition until the steady time `until_ms`. Returns false at that time;
 * true after a signal or a spurious wakeup.
 */
bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ms);

/*
 * 1 in builds with AddressSanitizer or ThreadSanitizer. Such builds omit hardening: sanitizers
 * trace their own process, run programs, and use system calls that seccomp_install() denies.
 */
#ifdef __has_feature
#define HARDENING_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HARDENING_SANITIZED 1
#else
#define HARDENING_SANITIZED 0
#endif
