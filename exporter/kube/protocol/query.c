/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/protocol/query.h"

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

void watch_query(const struct watch *w, struct strbuf *out)
{
    bool from_cache = *w->version && !w->most_recent && !w->paginated;
    char number[16];

    if (w->phase == WATCH_LISTING) {
        snprintf(number, sizeof(number), "%d", WATCH_PAGE_OBJECTS);
        if (w->token || (!w->unpaginated && !from_cache))
            query_add(out, "limit", number);
        /*
         * The first list may come from the server's cache ("0"), later ones must not be older
         * than what we know; only a request without a version gets the most recent state.
         */
        if (w->token)
            query_add(out, "continue", w->token);
        else if (!w->most_recent)
            query_add(out, "resourceVersion", *w->version ? w->version : "0");
        return;
    }
    snprintf(number, sizeof(number), "%u", w->lifetime.timeout_s);
    query_add(out, "watch", "true");
    query_add(out, "allowWatchBookmarks", "true");
    query_add(out, "timeoutSeconds", number);
    if (w->phase == WATCH_INITIAL_EVENTS) {
        query_add(out, "sendInitialEvents", "true");
        query_add(out, "resourceVersionMatch", "NotOlderThan");
    }
    if (*w->version && !w->most_recent)
        query_add(out, "resourceVersion", w->version);
}

void query_watch(struct strbuf *out, const struct watch *w, const char *field_selector)
{
    strbuf_addc(out, '?');
    watch_query(w, out);
    if (field_selector)
        query_add(out, "fieldSelector", field_selector);
}

void query_segment(struct strbuf *out, const char *text)
{
    char *escaped = curl_easy_escape(NULL, text, 0);

    if (!escaped)
        abort();
    strbuf_addf(out, "/%s", escaped);
    curl_free(escaped);
}

void query_path(struct strbuf *out, const char *api_version, const char *ns, const char *resource)
{
    strbuf_addf(out, "/%s/%s", strchr(api_version, '/') ? "apis" : "api", api_version);
    if (*ns) {
        strbuf_adds(out, "/namespaces");
        query_segment(out, ns);
    }
    query_segment(out, resource);
}

const char *query_accept(bool metadata_only, bool list)
{
    if (!metadata_only)
        return "application/json";
    if (list)
        return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}
