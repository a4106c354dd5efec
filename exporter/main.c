/* SPDX-License-Identifier: Apache-2.0 */
#include <unistd.h>

#include <curl/curl.h>

#include "exporter/cli/verbs.h"

int main(int argc, char **argv)
{
    /* The program's name is the first, where whoever started it was so kind as to give one. */
    int skipped = argc > 0 ? 1 : 0;

    /* Before there are threads. Without memory for it there is nothing to be done at all. */
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        abort();
    return (int)verbs_main(argc - skipped, (const char *const *)argv + skipped, STDOUT_FILENO,
                           STDERR_FILENO);
}
