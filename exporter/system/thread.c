/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/thread.h"

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
