/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/report.h"

#include "metrics/expose/report.h"

void report_of_sources(const struct evaluation *e, struct strbuf *out)
{
    size_t count = manifests_problem_count(e->manifests), kept = 0;
    CLEANUP(free_cleanup) struct report_invalid *invalid = xcalloc(count + 1, sizeof(*invalid));

    for (size_t i = 0; i < count; i++) {
        struct manifest_problem p = manifests_problem(e->manifests, i);

        if (p.kind != PROBLEM_FOREIGN)
            invalid[kept++] = (struct report_invalid){
                "Manifest", p.path, p.line, p.column, p.text, p.kind == PROBLEM_DUPLICATE};
    }
    report_write(e->engine, invalid, kept, out);
}
