/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/secrecy.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "exporter/system/build.h"
#include "exporter/system/wipe.h"

void secrecy_begin(void)
{
    static const struct rlimit none = {.rlim_cur = 0, .rlim_max = 0};

    unsetenv("SSLKEYLOGFILE");
    /* Neither can fail: less is always allowed. */
    if (!HARDENING_SANITIZED &&
        (setrlimit(RLIMIT_CORE, &none) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0))
        abort();
    wipe_freed_memory();
}
