/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/url.h"

#include <curl/curl.h>

static void add_escaped(struct strbuf *out, const char *text)
{
    /* Since 7.82 libcurl needs no handle for this. */
    char *escaped = curl_easy_escape(NULL, text, 0);

    if (!escaped)
        memory_exhausted(0);
    strbuf_adds(out, escaped);
    curl_free(escaped);
}

void url_add(struct strbuf *out, const char *key, const char *value)
{
    if (out->len > 0 && out->data[out->len - 1] != '?')
        strbuf_addc(out, '&');
    strbuf_addf(out, "%s=", key);
    add_escaped(out, value);
}

void url_segment(struct strbuf *out, const char *text)
{
    strbuf_addc(out, '/');
    add_escaped(out, text);
}
