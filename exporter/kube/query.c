/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/query.h"

#include <curl/curl.h>

void query_add(struct strbuf *out, const char *key, const char *value)
{
    /* Since 7.82 libcurl needs no handle for this. */
    char *escaped = curl_easy_escape(NULL, value, 0);

    if (!escaped)
        abort();
    if (out->len > 0 && out->data[out->len - 1] != '?')
        strbuf_addc(out, '&');
    strbuf_adds(out, key);
    strbuf_addc(out, '=');
    strbuf_adds(out, escaped);
    curl_free(escaped);
}

/*
 * The first list may come from the server's cache ("0"), later ones must not be older than
 * what we know; only a request without a version gets the most recent state.
 */
static void list_query(const struct watch *w, struct strbuf *out)
{
    bool from_cache = *w->version && !w->most_recent && !w->paginated;
    char limit[16];

    snprintf(limit, sizeof(limit), "%d", WATCH_PAGE_OBJECTS);
    if (w->token || (!w->unpaginated && !from_cache))
        query_add(out, "limit", limit);
    if (w->token)
        query_add(out, "continue", w->token);
    else if (!w->most_recent)
        query_add(out, "resourceVersion", *w->version ? w->version : "0");
}

void watch_query(const struct watch *w, struct strbuf *out)
{
    char seconds[16];

    if (w->phase == WATCH_LISTING) {
        list_query(w, out);
        return;
    }
    snprintf(seconds, sizeof(seconds), "%u", w->timeout_s);
    query_add(out, "watch", "true");
    query_add(out, "allowWatchBookmarks", "true");
    query_add(out, "timeoutSeconds", seconds);
    if (w->phase == WATCH_INITIAL_EVENTS) {
        query_add(out, "sendInitialEvents", "true");
        query_add(out, "resourceVersionMatch", "NotOlderThan");
    }
    if (*w->version && !w->most_recent)
        query_add(out, "resourceVersion", w->version);
}
