/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/snapshot.h"

#include <pthread.h>

/* Makes zlib's input const. */
#define ZLIB_CONST
#include <zlib.h>

#include "exporter/web/accept.h"
#include "exporter/web/response.h"

enum {
    ACCEPT_MAX = 1024,
    GZIP_LEVEL = 1,        /* A page is replaced within seconds: speed counts more than size. */
    GZIP_WINDOW = 15 + 16, /* 16 asks zlib for gzip's header and checksum. */
    GZIP_MEMORY = 8,
};

struct encoded_page {
    unsigned status;
    struct MHD_Response *plain;
    struct MHD_Response *gzip; /* NULL where it would not be smaller. */
};

struct snapshot {
    pthread_mutex_t lock; /* Guards `pages`, the pointers alone. */
    struct encoded_page pages[PAGE_COUNT];
};

static void release_page(const struct encoded_page *page)
{
    if (page->plain)
        MHD_destroy_response(page->plain);
    if (page->gzip)
        MHD_destroy_response(page->gzip);
}

/* The bytes gzipped, the caller's to free; NULL if they would not get smaller. */
static char *compress_bytes(const char *bytes, size_t len, size_t *out_len)
{
    z_stream stream = {0};

    if (deflateInit2(&stream, GZIP_LEVEL, Z_DEFLATED, GZIP_WINDOW, GZIP_MEMORY,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        abort();
    /* deflate() counts in 32 bits; a page beyond that goes out plain. */
    if (len > UINT32_MAX / 2) {
        deflateEnd(&stream);
        return NULL;
    }
    size_t room = deflateBound(&stream, len);
    char *out = xmalloc(room);

    stream.next_in = (const Bytef *)bytes;
    stream.avail_in = (uInt)len;
    stream.next_out = (Bytef *)out;
    stream.avail_out = (uInt)room;
    int result = deflate(&stream, Z_FINISH);
    *out_len = stream.total_out;
    deflateEnd(&stream);
    if (result == Z_STREAM_END && *out_len < len)
        return xreallocarray(out, *out_len, 1);
    free(out);
    return NULL;
}

struct snapshot *snapshot_new(void)
{
    struct snapshot *s = xcalloc(1, sizeof(*s));

    pthread_mutex_init(&s->lock, NULL);
    for (size_t i = 0; i < PAGE_COUNT; i++) {
        s->pages[i].status = MHD_HTTP_SERVICE_UNAVAILABLE;
        s->pages[i].plain = response_text("not ready: nothing was read yet\n");
        response_header(s->pages[i].plain, MHD_HTTP_HEADER_RETRY_AFTER, "5");
    }
    return s;
}

void snapshot_free(struct snapshot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < PAGE_COUNT; i++)
        release_page(&s->pages[i]);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void snapshot_publish(struct snapshot *s, enum page page, struct strbuf *body,
                      const char *content_type)
{
    struct encoded_page fresh = {.status = MHD_HTTP_OK};
    size_t len, gzip_len;

    assert(strbuf_ok(body));
    char *bytes = strbuf_take(body, &len);
    char *gzip = compress_bytes(bytes, len, &gzip_len);

    fresh.plain = response_new(bytes, len, content_type);
    response_header(fresh.plain, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
    if (gzip) {
        fresh.gzip = response_new(gzip, gzip_len, content_type);
        response_header(fresh.gzip, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT_ENCODING);
        response_header(fresh.gzip, MHD_HTTP_HEADER_CONTENT_ENCODING, "gzip");
    }

    pthread_mutex_lock(&s->lock);
    struct encoded_page old = s->pages[page];
    s->pages[page] = fresh;
    pthread_mutex_unlock(&s->lock);

    release_page(&old);
}

static enum MHD_Result join_value(void *context, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct strbuf *joined = context;

    (void)kind;
    if (value && strcasecmp(name, MHD_HTTP_HEADER_ACCEPT_ENCODING) == 0)
        strbuf_addf(joined, "%s%s", joined->len > 0 ? "," : "", value);
    return MHD_YES;
}

enum MHD_Result snapshot_serve(struct snapshot *s, enum page page,
                               struct MHD_Connection *connection, unsigned *out_status)
{
    CLEANUP(strbuf_release) struct strbuf joined = STRBUF_INIT(ACCEPT_MAX);

    MHD_get_connection_values(connection, MHD_HEADER_KIND, join_value, &joined);
    bool gzip = strbuf_ok(&joined) && accept_gzip(joined.data);

    /* A page that is replaced is released: under the lock the queue gets its own reference first.
     */
    pthread_mutex_lock(&s->lock);
    const struct encoded_page *now = &s->pages[page];
    enum MHD_Result result =
        MHD_queue_response(connection, now->status, gzip && now->gzip ? now->gzip : now->plain);
    *out_status = now->status;
    pthread_mutex_unlock(&s->lock);

    return result;
}
