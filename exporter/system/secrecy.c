/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/secrecy.h"

#include <sys/prctl.h>
#include <sys/resource.h>

#include <curl/curl.h>

#include "exporter/system/build.h"
#include "metrics/base/base.h"

static void *resize(void *memory, size_t size)
{
    return xreallocarray(memory, 1, size);
}

void secrecy_begin(void)
{
    static const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};

    unsetenv("SSLKEYLOGFILE");
    /* Both calls always succeed: a process may lower its limits. */
    if (!HARDENING_SANITIZED &&
        (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0))
        abort();
    if (curl_global_init_mem(CURL_GLOBAL_DEFAULT, xmalloc, free, resize, xstrdup, xcalloc) !=
        CURLE_OK)
        memory_exhausted(0);
}
