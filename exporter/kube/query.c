/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/query.h"

#include "exporter/system/url.h"

void watch_query(const struct watch *w, struct strbuf *out)
{
    bool from_cache = *w->version && !w->most_recent && !w->paginated;
    char number[16];

    if (w->phase == WATCH_LISTING) {
        snprintf(number, sizeof(number), "%d", WATCH_PAGE_OBJECTS);
        if (w->token || (!w->unpaginated && !from_cache))
            url_add(out, "limit", number);
        /*
         * The first list may come from the server's cache ("0"), later ones must not be older
         * than what we know; only a request without a version gets the most recent state.
         */
        if (w->token)
            url_add(out, "continue", w->token);
        else if (!w->most_recent)
            url_add(out, "resourceVersion", *w->version ? w->version : "0");
        return;
    }
    snprintf(number, sizeof(number), "%u", w->lifetime.timeout_s);
    url_add(out, "watch", "true");
    url_add(out, "allowWatchBookmarks", "true");
    url_add(out, "timeoutSeconds", number);
    if (w->phase == WATCH_INITIAL_EVENTS) {
        url_add(out, "sendInitialEvents", "true");
        url_add(out, "resourceVersionMatch", "NotOlderThan");
    }
    if (*w->version && !w->most_recent)
        url_add(out, "resourceVersion", w->version);
}

void query_watch(struct strbuf *out, const struct watch *w, const char *field_selector)
{
    strbuf_addc(out, '?');
    watch_query(w, out);
    if (field_selector)
        url_add(out, "fieldSelector", field_selector);
}

void query_path(struct strbuf *out, const char *api_version, const char *ns, const char *resource)
{
    strbuf_addf(out, "/%s/%s", strchr(api_version, '/') ? "apis" : "api", api_version);
    if (*ns) {
        strbuf_adds(out, "/namespaces");
        url_segment(out, ns);
    }
    url_segment(out, resource);
}

const char *query_accept(bool metadata_only, bool list)
{
    if (!metadata_only)
        return "application/json";
    if (list)
        return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}
