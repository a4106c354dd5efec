/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include "exporter/cli/verbs.h"

int main(int argc, char **argv)
{
    /* The program's name is the first, where whoever started it was so kind as to give one. */
    int skipped = argc > 0 ? 1 : 0;

    return (int)verbs_main(argc - skipped, (const char *const *)argv + skipped, STDOUT_FILENO,
                           STDERR_FILENO);
}
