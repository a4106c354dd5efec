/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "exporter/cli/verbs.h"
#include "exporter/system/hardening/wipe.h"

static const struct verb *const verbs[] = {VERBS(VERB_POINTER) NULL};

int main(int argc, char **argv)
{
    /* execve(2) lets a caller pass no arguments at all, not even the program's name. */
    int skipped = argc > 0 ? 1 : 0;

    wipe_freed_memory();
    return (int)verbs_main(verbs, argc - skipped, (const char *const *)argv + skipped,
                           STDOUT_FILENO, STDERR_FILENO);
}
