/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/response.h"
#include "metrics/base/strbuf.h"
#include "tests/fuzz/must.h"

/*
 * For any Accept header, the content type is one of the supported ones, with one of the four
 * escaping schemes or without. Unsupported entries before or after the header do not change it.
 */

enum { HEADER_MAX = 1 << 20 };

static bool is_content_type(const char *type, enum media media)
{
    static const char *const endings[] = {"", "; escaping=allow-utf-8", "; escaping=underscores",
                                          "; escaping=dots", "; escaping=values"};
    size_t len = strlen(media_types[media]);

    if (strncmp(type, media_types[media], len) != 0)
        return false;
    for (size_t i = 0; i < (media == MEDIA_TEXT_0 ? 1 : ARRAY_LEN(endings)); i++) {
        if (strcmp(type + len, endings[i]) == 0)
            return true;
    }
    return false;
}

/* Checks that the entries `before` and `after` do not change the result for the header. */
static void check_added_entries(const char *before, const char *header, const char *after)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(HEADER_MAX);
    char plain[MEDIA_TYPE_MAX], other[MEDIA_TYPE_MAX];

    strbuf_addf(&text, "%s,%s,%s", before, header, after);
    MUST(accept_media(text.data, other) == accept_media(header, plain));
    MUST(strcmp(plain, other) == 0);
    MUST(accept_gzip(text.data) == accept_gzip(header));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    CLEANUP(free_cleanup) char *header = xmemdup0((const char *)data, size);
    char type[MEDIA_TYPE_MAX];
    enum media media = accept_media(header, type);

    MUST(media < MEDIA_COUNT && is_content_type(type, media));
    check_added_entries("", header, "  ");
    check_added_entries("application/json;q=1", header, "image/png;version=1.0.0;escaping=dots");
    check_added_entries("text/plain;q=1.5", header, "gzip;q=2, */*;q=-0");
    return 0;
}
