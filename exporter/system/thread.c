/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/thread.h"

#include <errno.h>
#include <signal.h>

int thread_start(pthread_t *thread, void *(*run)(void *context), void *context)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, run, context);

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

void condition_init(pthread_cond_t *condition)
{
    pthread_condattr_t steady;

    pthread_condattr_init(&steady);
    pthread_condattr_setclock(&steady, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &steady);
    pthread_condattr_destroy(&steady);
}

bool condition_wait(pthread_cond_t *condition, pthread_mutex_t *lock, int64_t until_ms)
{
    struct timespec until = {until_ms / 1000, until_ms % 1000 * 1000000};

    return pthread_cond_timedwait(condition, lock, &until) != ETIMEDOUT;
}
