/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/server_response.h"

#include <strings.h>

#include "exporter/kube/http/transfer.h"
#include "exporter/system/url.h"

/* Limit for the JSON parser: a Status is shorter. */
enum { STATUS_MAX_BYTES = 64 * 1024 };

/*
 * Copies the text. Replaces runs of spaces and control characters by one space, removes them at
 * both ends, and cuts the result to the size.
 */
static void set_message(struct status *status, const char *text, size_t len)
{
    size_t at = 0;

    for (size_t i = 0; i < len && at < sizeof(status->message) - 1; i++) {
        unsigned char c = (unsigned char)text[i];
        bool blank = c <= ' ' || c == 0x7f;

        if (!blank)
            status->message[at++] = (char)c;
        else if (at > 0 && status->message[at - 1] != ' ')
            status->message[at++] = ' ';
    }
    while (at > 0 && status->message[at - 1] == ' ')
        at--;
    status->message[at] = '\0';
}

static bool has_cause(const cJSON *details, const char *reason)
{
    const cJSON *cause;

    cJSON_ArrayForEach (cause, json_get(details, "causes")) {
        if (strcmp(json_str(cause, "reason", ""), reason) == 0)
            return true;
    }
    return false;
}

bool status_read(const cJSON *json, struct status *out)
{
    const cJSON *details = json_get(json, "details");
    const char *message = json_str(json, "message", "");
    int64_t code = json_int(json, "code", 0);

    if (strcmp(json_str(json, "kind", ""), "Status") != 0)
        return false;
    *out = (struct status){
        .code = code > 0 && code < 1000 ? (unsigned)code : 0,
        .retry_after_ms = retry_after_ms(json_int(details, "retryAfterSeconds", 0)),
        /* API servers before Kubernetes 1.19 set no cause. */
        .version_too_large = has_cause(details, "ResourceVersionTooLarge") ||
                             strstr(message, "Too large resource version") != NULL,
    };
    set_message(out, message, strlen(message));
    return true;
}

void status_read_body(const char *body, size_t len, struct status *out)
{
    struct error ignored;
    CLEANUP(json_cleanup)
    cJSON *json = len <= STATUS_MAX_BYTES ? json_parse(body, len, NULL, &ignored) : NULL;

    if (json && status_read(json, out))
        return;
    *out = (struct status){0};
    set_message(out, body, len);
}

static const struct {
    unsigned code;
    enum end_reason reason;
} end_reasons[] = {
    {401, END_UNAUTHORIZED}, {403, END_FORBIDDEN},    {404, END_ABSENT},
    {405, END_ABSENT},       {406, END_UNACCEPTABLE}, {408, END_UNAVAILABLE},
    {410, END_GONE},         {415, END_UNACCEPTABLE}, {429, END_BUSY},
};

enum end_reason end_reason_of_response(unsigned http_status, const struct status *status)
{
    if (status->version_too_large)
        return END_AHEAD;
    for (size_t i = 0; i < ARRAY_LEN(end_reasons); i++) {
        if (end_reasons[i].code == http_status)
            return end_reasons[i].reason;
    }
    return http_status >= 500 && http_status < 600 ? END_UNAVAILABLE : END_REFUSED;
}

enum end_reason end_reason_of_error(const struct status *status)
{
    if (status->version_too_large)
        return END_AHEAD;
    if (status->code == 410)
        return END_GONE;
    return status->code == 429 ? END_BUSY : END_FAILED;
}

bool content_type_is_json(const char *content_type)
{
    static const char json[] = "application/json";
    size_t len = sizeof(json) - 1;

    return content_type && strncasecmp(content_type, json, len) == 0 &&
           strchr("; \t", content_type[len]) != NULL;
}

bool content_type_has_parameter(const char *content_type, const char *name, const char *value)
{
    size_t name_len = strlen(name);
    size_t value_len = strlen(value);

    for (const char *at = content_type ? strchr(content_type, ';') : NULL; at;
         at = strchr(at, ';')) {
        at += 1 + strspn(at + 1, " \t");
        if (strncasecmp(at, name, name_len) == 0 && at[name_len] == '=' &&
            strncmp(at + name_len + 1, value, value_len) == 0 &&
            strchr("; \t", at[name_len + 1 + value_len]) != NULL)
            return true;
    }
    return false;
}

void url_add_watch_parameters(const struct watch *w, struct strbuf *out)
{
    bool from_cache = *w->version && !w->most_recent && !w->paginated;
    char number[16];

    if (w->phase == WATCH_LISTING) {
        snprintf(number, sizeof(number), "%d", WATCH_PAGE_OBJECTS);
        if (w->token || (!w->unpaginated && !from_cache))
            url_add_parameter(out, "limit", number);
        /*
         * Without resourceVersion the server returns the most recent state: Kubernetes 1.34 and
         * later from its watch cache, also in pages, older servers from etcd. With a version the
         * objects come from the watch cache, and are not older than the known ones.
         */
        if (w->token)
            url_add_parameter(out, "continue", w->token);
        else if (!w->most_recent)
            url_add_parameter(out, "resourceVersion", *w->version ? w->version : "0");
        return;
    }
    snprintf(number, sizeof(number), "%u", w->lifetime.timeout_s);
    url_add_parameter(out, "watch", "true");
    url_add_parameter(out, "allowWatchBookmarks", "true");
    url_add_parameter(out, "timeoutSeconds", number);
    if (w->phase == WATCH_INITIAL_EVENTS) {
        url_add_parameter(out, "sendInitialEvents", "true");
        url_add_parameter(out, "resourceVersionMatch", "NotOlderThan");
    }
    if (*w->version && !w->most_recent)
        url_add_parameter(out, "resourceVersion", w->version);
}

void url_add_selectors(struct strbuf *out, const struct selectors *selectors)
{
    if (selectors->field && *selectors->field)
        url_add_parameter(out, "fieldSelector", selectors->field);
    if (selectors->shard && *selectors->shard)
        url_add_parameter(out, "shardSelector", selectors->shard);
}

void url_add_watch_query(struct strbuf *out, const struct watch *w,
                         const struct selectors *selectors)
{
    strbuf_addc(out, '?');
    url_add_watch_parameters(w, out);
    url_add_selectors(out, selectors);
}

void url_add_resource_path(struct strbuf *out, const char *api_version, const char *ns,
                           const char *resource)
{
    strbuf_addf(out, "/%s/%s", strchr(api_version, '/') ? "apis" : "api", api_version);
    if (*ns) {
        strbuf_adds(out, "/namespaces");
        url_add_segment(out, ns);
    }
    url_add_segment(out, resource);
}

const char *accept_header(bool metadata_only, bool list)
{
    if (!metadata_only)
        return "application/json";
    if (list)
        return "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";
    return "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";
}
