/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/response.h"
#include "metrics/base/strbuf.h"
#include "tests/fuzz/must.h"

/*
 * For any Accept header, the content type is one of the supported ones. Except for version 0.0.4,
 * one of the four escaping schemes may follow. Unsupported entries before and after the header
 * change neither this type nor the use of gzip.
 */

enum { HEADER_MAX = 1 << 20 };

static bool is_content_type(const char *type, enum metrics_format metrics_format)
{
    static const char *const endings[] = {"", "; escaping=allow-utf-8", "; escaping=underscores",
                                          "; escaping=dots", "; escaping=values"};
    size_t len = strlen(metrics_format_types[metrics_format]);

    if (strncmp(type, metrics_format_types[metrics_format], len) != 0)
        return false;
    for (size_t i = 0; i < (metrics_format == METRICS_FORMAT_TEXT_0 ? 1 : ARRAY_LEN(endings));
         i++) {
        if (strcmp(type + len, endings[i]) == 0)
            return true;
    }
    return false;
}

/* Checks that the entries `before` and `after` do not change the result for the header. */
static void check_added_entries(const char *before, const char *header, const char *after)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(HEADER_MAX);
    char plain[METRICS_FORMAT_TYPE_MAX], other[METRICS_FORMAT_TYPE_MAX];

    strbuf_addf(&text, "%s,%s,%s", before, header, after);
    MUST(negotiate_metrics_format(text.data, other) == negotiate_metrics_format(header, plain));
    MUST(strcmp(plain, other) == 0);
    MUST(negotiate_gzip(text.data) == negotiate_gzip(header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *header = xmemdup0((const char *)data, size);
    char type[METRICS_FORMAT_TYPE_MAX];
    enum metrics_format metrics_format = negotiate_metrics_format(header, type);

    MUST(metrics_format < METRICS_FORMAT_COUNT && is_content_type(type, metrics_format));
    check_added_entries("", header, "  ");
    check_added_entries("application/json;q=1", header, "image/png;version=1.0.0;escaping=dots");
    check_added_entries("text/plain;q=1.5", header, "gzip;q=2, */*;q=-0");
    return 0;
}
