/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/response.h"

#include "exporter/text/text_table.h"

enum { TEXT_MAX = 1024 * 1024 };

/* What whoever is told that something is unavailable asks again after. */
#define RETRY_SECONDS "5"

/* A page has one style sheet and forms that ask for lists, and nobody else's page has it in it. */
static const char page_policy[] = "default-src 'none'; style-src 'self'; form-action 'self'; "
                                  "base-uri 'none'; frame-ancestors 'none'";
static const char other_policy[] = "default-src 'none'; frame-ancestors 'none'";

/* What else every answer has: what it says is of this moment, for who asked, and no part of any
 * page. */
static const char *const headers[][2] = {
    {"X-Content-Type-Options", "nosniff"},
    {"Referrer-Policy", "no-referrer"},
    {"Cross-Origin-Resource-Policy", "same-origin"},
    {MHD_HTTP_HEADER_CACHE_CONTROL, "no-store"},
};

/* libmicrohttpd fails only without memory, or for an invalid header, which would be a mistake here.
 */
void response_header(struct MHD_Response *response, const char *name, const char *value)
{
    if (MHD_add_response_header(response, name, value) != MHD_YES)
        memory_exhausted(0);
}

static struct MHD_Response *finish(struct MHD_Response *response, const char *content_type)
{
    if (!response)
        memory_exhausted(0);
    response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
    for (size_t i = 0; i < ARRAY_LEN(headers); i++)
        response_header(response, headers[i][0], headers[i][1]);
    response_header(response, "Content-Security-Policy",
                    strcmp(content_type, RESPONSE_HTML) == 0 ? page_policy : other_policy);
    return response;
}

struct MHD_Response *response_new(char *bytes, size_t len, const char *content_type)
{
    return finish(MHD_create_response_from_buffer_with_free_callback(len, bytes, free),
                  content_type);
}

struct MHD_Response *response_borrowed(char *bytes, size_t len, const char *content_type,
                                       void (*release)(void *context), void *context)
{
    return finish(
        MHD_create_response_from_buffer_with_free_callback_cls(len, bytes, release, context),
        content_type);
}

struct MHD_Response *response_of_pieces(const struct MHD_IoVec *pieces, unsigned count,
                                        const char *content_type, void (*release)(void *context),
                                        void *context)
{
    return finish(MHD_create_response_from_iovec(pieces, count, release, context), content_type);
}

struct MHD_Response *response_text(const char *text)
{
    struct strbuf safe = STRBUF_INIT(TEXT_MAX);
    size_t len;
    char *bytes;

    output_safe_lines(&safe, text);
    bytes = strbuf_take(&safe, &len);
    return response_new(bytes, len, RESPONSE_TEXT);
}

enum MHD_Result response_send(struct admission *admission, struct MHD_Connection *connection,
                              unsigned status, struct MHD_Response *response)
{
    if (status == MHD_HTTP_SERVICE_UNAVAILABLE)
        response_header(response, MHD_HTTP_HEADER_RETRY_AFTER, RETRY_SECONDS);
    admission_dress(admission, response);
    enum MHD_Result result = MHD_queue_response(connection, status, response);

    MHD_destroy_response(response);
    return result;
}
