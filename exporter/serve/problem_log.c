/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/problem_log.h"

#include "metrics/base/map.h"
#include "metrics/base/strbuf.h"

enum { LINES_MAX = 100, PROBLEM_MAX = 64 * 1024 };

void problem_log_release(struct problem_log *l)
{
    free(l->logged);
    *l = (struct problem_log){0};
}

static int compare_hashes(const void *a, const void *b)
{
    const uint64_t *x = a;
    const uint64_t *y = b;

    return *x < *y ? -1 : *x > *y;
}

bool problem_log_update(struct problem_log *l, const struct manifests *m, const struct log *log)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(PROBLEM_MAX);
    size_t count = manifests_problem_count(m);
    uint64_t *hashes = xcalloc(count ? count : 1, sizeof(*hashes));
    size_t count_before = l->count;
    size_t fresh = 0;

    for (size_t i = 0; i < count; i++) {
        struct manifest_problem p = manifests_problem(m, i);

        /* Without line and column: a problem that only moved within its file is the same. */
        strbuf_reset(&text);
        strbuf_addf(&text, "%d\n%s\n%s", (int)p.kind, p.path, p.text);
        hashes[i] = map_hash(text.data, text.len, 0);
        if (l->count > 0 &&
            bsearch(&hashes[i], l->logged, l->count, sizeof(*hashes), compare_hashes))
            continue;
        l->rejected += p.kind == PROBLEM_MALFORMED || p.kind == PROBLEM_REJECTED;
        if (fresh++ >= LINES_MAX)
            continue;
        strbuf_reset(&text);
        manifest_problem_place(&p, &text);
        log_write(log,
                  p.kind == PROBLEM_FOREIGN     ? LOG_LEVEL_DEBUG
                  : p.kind == PROBLEM_DUPLICATE ? LOG_LEVEL_INFO
                                                : LOG_LEVEL_WARN,
                  "manifest problem", "kind", problem_kind_name(p.kind), "place", text.data,
                  "problem", p.text);
    }
    if (fresh > LINES_MAX)
        log_write(log, LOG_LEVEL_WARN, "more manifest problems are not logged one by one", "count",
                  LOG_NUMBER((int64_t)(fresh - LINES_MAX)));
    qsort(hashes, count, sizeof(*hashes), compare_hashes);
    free(l->logged);
    l->logged = hashes;
    l->count = count;
    return fresh > 0 || count != count_before;
}
