/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request.h"

#include <strings.h>

enum { HEADER_MAX = 1024 };

/* The headers that decide where a request ends and whom it is for. */
struct census {
    unsigned hosts;
    unsigned lengths;
    unsigned encodings;
    bool content;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct census *c = context;

    (void)kind;
    if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0) {
        c->hosts++;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
        c->encodings++;
    } else if (strcasecmp(name, MHD_HTTP_HEADER_CONTENT_LENGTH) == 0) {
        c->lengths++;
        c->content = c->content || !value || strspn(value, "0") != strlen(value);
    }
    return MHD_YES;
}

/* Is it in a list such as "GET, HEAD"? */
static bool is_among(const char *method, const char *list)
{
    size_t len = strlen(method);

    for (const char *at = list; *at != '\0'; at += strspn(at, ", ")) {
        size_t size = strcspn(at, ",");

        if (size == len && memcmp(at, method, len) == 0)
            return true;
        at += size;
    }
    return false;
}

enum request_verdict request_check(struct MHD_Connection *connection, const char *method,
                                   const char *allowed)
{
    struct census c = {.hosts = 0};

    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &c);
    if (c.encodings > 0 || c.lengths > 1 || c.hosts > 1)
        return REQUEST_MALFORMED;
    if (!is_among(method, allowed))
        return REQUEST_METHOD;
    return c.content ? REQUEST_WITH_CONTENT : REQUEST_FINE;
}

bool request_uri_has_nul(const char *uri)
{
    return strstr(uri, "%00") != NULL;
}

/* The headers of one name, joined. */
struct joined {
    const char *name;
    struct strbuf values;
};

static enum MHD_Result join_value(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct joined *joined = context;

    (void)kind;
    if (value && strcasecmp(name, joined->name) == 0)
        strbuf_addf(&joined->values, "%s%s", joined->values.len > 0 ? "," : "", value);
    return MHD_YES;
}

struct strbuf request_header(struct MHD_Connection *connection, const char *name)
{
    struct joined joined = {name, STRBUF_INIT(HEADER_MAX)};

    MHD_get_connection_values(connection, MHD_HEADER_KIND, join_value, &joined);
    if (!strbuf_ok(&joined.values))
        strbuf_reset(&joined.values);
    return joined.values;
}
