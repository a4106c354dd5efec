/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/text/skipped_files.h"

enum { LINE_MAX_BYTES = 8192 };

static const char *plural_suffix(size_t count)
{
    return count == 1 ? "" : "s";
}

static void add_skipped(const struct manifests *m, size_t total, struct strbuf *out)
{
    const char *between = ": ";

    strbuf_addf(out, "Skipped %zu document%s that %s", total, plural_suffix(total),
                total == 1 ? "is no Kubernetes object" : "are no Kubernetes objects");
    for (unsigned i = SKIPPED_NONE + 1; i < SKIPPED_KIND_COUNT; i++) {
        size_t count = manifests_skipped_count(m, i);

        if (count == 0)
            continue;
        strbuf_addf(out, "%s%zu %s", between, count,
                    count == 1 ? skipped_nouns[i].one : skipped_nouns[i].many);
        between = ", ";
    }
}

void skipped_files_add(const struct manifests *m, struct strbuf *out)
{
    struct manifests_excluded excluded = manifests_excluded(m);
    size_t total = manifests_skipped_total(m);

    if (total > 0)
        add_skipped(m, total, out);
    if (excluded.files + excluded.folders > 0)
        strbuf_addf(out, "%sExcluded by patterns: %zu file%s and %zu folder%s",
                    total > 0 ? ". " : "", excluded.files, plural_suffix(excluded.files),
                    excluded.folders, plural_suffix(excluded.folders));
}

void skipped_files_add_empty(const struct manifests *m, const char *fact, struct strbuf *out)
{
    CLEANUP(strbuf_release) struct strbuf skipped = STRBUF_INIT(LINE_MAX_BYTES);

    skipped_files_add(m, &skipped);
    strbuf_adds(out, fact);
    if (skipped.len > 0)
        strbuf_addf(out, ". %s. To go on, ", skipped.data);
    else if (manifests_file_count(m) == 0)
        strbuf_adds(out, ", because no file is named *.yaml, *.yml or *.json: ");
    else
        strbuf_adds(out, ": ");
}

void skipped_files_print(const struct manifests *m, struct output *o)
{
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_INIT(LINE_MAX_BYTES);

    skipped_files_add(m, &line);
    if (line.len == 0)
        return;
    strbuf_adds(&line,
                manifests_skipped_total(m) > 0 ? ". --strict-files lists the documents." : ".");
    output_add_line(o, 0, line.data);
}
