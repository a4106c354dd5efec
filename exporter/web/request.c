/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/request.h"

#include <strings.h>

#include "metrics/base/number.h"

enum { HEADER_MAX = 1024, MANIFESTS_MAX = 1 << 20 };

const struct request_rule request_reads = {"GET, HEAD", 0};
const struct request_rule request_orders = {"POST, PUT", 0};
const struct request_rule request_manifests = {"POST", MANIFESTS_MAX};

/* The headers that decide where a request ends. */
struct census {
    unsigned lengths;
    unsigned encodings;
    bool content;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name,
                                    const char *value)
{
    struct census *c = context;

    (void)kind;
    if (strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) == 0) {
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
    struct joined joined = {name, STRBUF_SECRET(HEADER_MAX)};

    MHD_get_connection_values(connection, MHD_HEADER_KIND, join_value, &joined);
    if (!strbuf_ok(&joined.values))
        strbuf_reset(&joined.values);
    return joined.values;
}

uint64_t request_content_len(struct MHD_Connection *connection)
{
    const char *text =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
    uint64_t len;

    if (!text)
        return 0;
    return parse_uint(text, UINT64_MAX, &len) ? len : UINT64_MAX;
}

/* Is the body of this type, whatever its parameters are? */
static bool has_type(struct MHD_Connection *connection, const char *wanted)
{
    CLEANUP(strbuf_release)
    struct strbuf type = request_header(connection, MHD_HTTP_HEADER_CONTENT_TYPE);
    size_t len = strcspn(type.data, "; \t");

    return len == strlen(wanted) && strncasecmp(type.data, wanted, len) == 0 &&
           !strchr(type.data, ',');
}

bool request_is_json(struct MHD_Connection *connection)
{
    return has_type(connection, "application/json");
}

static enum request_verdict check_content(struct MHD_Connection *connection,
                                          const struct request_rule *rule)
{
    if (rule->content_max == 0)
        return REQUEST_WITH_CONTENT;
    if (request_content_len(connection) > rule->content_max)
        return REQUEST_TOO_LARGE;
    /* Types that no page of another site can have a browser send unasked. */
    return has_type(connection, "application/yaml") || request_is_json(connection)
               ? REQUEST_FINE
               : REQUEST_MEDIA_TYPE;
}

enum request_verdict request_check(struct MHD_Connection *connection, const char *method,
                                   const struct request_rule *rule)
{
    struct census c = {.lengths = 0};

    MHD_get_connection_values(connection, MHD_HEADER_KIND, count_header, &c);
    if (c.encodings > 0 || c.lengths > 1)
        return REQUEST_MALFORMED;
    if (!is_among(method, rule->methods))
        return REQUEST_METHOD;
    return c.content ? check_content(connection, rule) : REQUEST_FINE;
}
