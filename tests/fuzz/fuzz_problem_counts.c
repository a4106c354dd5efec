/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/check_result.h"
#include "tests/fuzz/must.h"

/* Counts from any header stay equal when written and parsed again. A refused header sets none. */

enum { HEADER_MAX = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *header = xmemdup0((const char *)data, size);
    CLEANUP(strbuf_release) struct strbuf again = STRBUF_INIT(HEADER_MAX);
    const struct problem_counts untouched = {.unread = 7};
    struct problem_counts counts = untouched, same;

    if (!problem_counts_read(header, &counts)) {
        MUST(memcmp(&counts, &untouched, sizeof(counts)) == 0);
        return 0;
    }
    problem_counts_write(&counts, &again);
    MUST(strbuf_ok(&again) && again.len > 0);
    MUST(problem_counts_read(again.data, &same));
    MUST(memcmp(&counts, &same, sizeof(counts)) == 0);
    return 0;
}
