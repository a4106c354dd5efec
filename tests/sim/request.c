/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/number.h"
#include "tests/sim/api.h"

/* Writes the decoded value of a query parameter, cut to `size`. Returns false if it is absent. */
static bool read_parameter(const char *path, const char *name, char *out, size_t size)
{
    size_t len = strlen(name), used = 0;
    const char *at = strchr(path, '?');

    out[0] = '\0';
    while (at && !(strncmp(at + 1, name, len) == 0 && at[1 + len] == '='))
        at = strchr(at + 1, '&');
    if (!at)
        return false;
    for (at += 2 + len; *at && *at != '&' && used + 1 < size; at++) {
        unsigned code;

        if (*at == '%' && sscanf(at + 1, "%2x", &code) == 1) {
            out[used++] = (char)code;
            at += 2;
        } else {
            out[used++] = *at;
        }
    }
    out[used] = '\0';
    return true;
}

/* Returns the value of a query parameter; 0 if it is absent or not a number. */
static uint64_t read_number(const char *path, const char *name, bool *out_present)
{
    char text[64];
    uint64_t value = 0;

    *out_present = read_parameter(path, name, text, sizeof(text)) && *text;
    return *out_present && parse_uint(text, UINT64_MAX, &value) ? value : 0;
}

static bool read_kind(const char *path, struct api_request *out)
{
    for (unsigned kind = 0; kind < SIM_KIND_COUNT; kind++) {
        const struct sim_kind_row *row = &sim_kinds[kind];
        char prefix[128];
        const char *rest;

        out->ns[0] = '\0';
        snprintf(prefix, sizeof(prefix), "/%s/%s/", strchr(row->api_version, '/') ? "apis" : "api",
                 row->api_version);
        if (strncmp(path, prefix, strlen(prefix)) != 0)
            continue;
        rest = path + strlen(prefix);
        if (strncmp(rest, "namespaces/", 11) == 0) {
            snprintf(out->ns, sizeof(out->ns), "%.*s", (int)strcspn(rest + 11, "/"), rest + 11);
            rest += 11 + strcspn(rest + 11, "/");
            rest += *rest == '/';
        }
        if (strlen(row->resource) != strcspn(rest, "?/") ||
            strncmp(rest, row->resource, strlen(row->resource)) != 0)
            continue;
        rest += strlen(row->resource);
        if (*rest == '/')
            snprintf(out->name, sizeof(out->name), "%.*s", (int)strcspn(rest + 1, "?"), rest + 1);
        out->target = kind;
        return true;
    }
    return false;
}

static void read_parameters(const char *path, struct api_request *out)
{
    char text[128];
    bool ignored;

    out->version = read_number(path, "resourceVersion", &out->has_version);
    out->limit = (unsigned)read_number(path, "limit", &ignored);
    out->timeout_ms = (int64_t)read_number(path, "timeoutSeconds", &ignored) * 1000;
    read_parameter(path, "continue", out->token, sizeof(out->token));
    out->initial =
        read_parameter(path, "sendInitialEvents", text, sizeof(text)) && strcmp(text, "true") == 0;
    out->bookmarks = read_parameter(path, "allowWatchBookmarks", text, sizeof(text)) &&
                     strcmp(text, "true") == 0;
    if (read_parameter(path, "fieldSelector", text, sizeof(text)) &&
        strncmp(text, "metadata.name=", 14) == 0)
        snprintf(out->name, sizeof(out->name), "%.40s", text + 14);
    out->other_reason = strncmp(text, "reason=", 7) == 0 && strcmp(text + 7, EVENT_REASON) != 0;
}

void api_request_read(const char *path, const char *accept, struct api_request *out)
{
    char text[8];

    *out = (struct api_request){.type = REQUEST_OTHER, .target = SIM_DISCOVERY};
    out->metadata_only = strstr(accept, "as=PartialObjectMetadata") != NULL;
    if (read_kind(path, out)) {
        out->type = out->name[0] ? REQUEST_GET : REQUEST_LIST;
        if (read_parameter(path, "watch", text, sizeof(text)) && strcmp(text, "true") == 0)
            out->type = REQUEST_WATCH;
        read_parameters(path, out);
        if (out->type == REQUEST_GET && strstr(path, "fieldSelector="))
            out->type = REQUEST_LIST;
    } else if (strcmp(path, "/api") == 0 || strcmp(path, "/apis") == 0) {
        out->type = REQUEST_DISCOVERY;
        out->core = strcmp(path, "/api") == 0;
    }
}
