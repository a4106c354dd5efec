/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/security/armour.h"

#include <gnutls/crypto.h>

#include "exporter/system/file.h"
#include "exporter/web/security/parse.h"

enum {
    PEM_MAX = 1024 * 1024,
    PATH_BYTES = 4096,
    AT_ONCE = 64 * 1024, /* Bytes for which there is room at once: growing leaves copies behind. */
};

/* As the toolkit does: what is not absolute is beside the file. */
static void join(const char *file, char **path)
{
    const char *slash = strrchr(file, '/');
    struct strbuf joined = STRBUF_INIT(2 * PATH_BYTES);
    size_t len;

    if (!*path || **path == '/' || !slash)
        return;
    strbuf_add(&joined, file, (size_t)(slash + 1 - file));
    strbuf_adds(&joined, *path);
    free(*path);
    *path = strbuf_take(&joined, &len);
}

/* Parse the file, which `digest` then has read, too. */
static bool parse(const char *path, struct web_config *out, gnutls_hash_hd_t digest,
                  struct error *err)
{
    struct strbuf text = STRBUF_INIT(WEB_CONFIG_MAX);
    strbuf_reserve(&text, AT_ONCE);
    bool done = file_read(path, &text, err);

    if (done) {
        if (digest)
            gnutls_hash(digest, text.data, text.len);
        done = web_config_parse(path, text.data, text.len, out, err);
    }
    if (text.cap > 0)
        explicit_bzero(text.data, text.cap);
    strbuf_release(&text);
    if (!done)
        return false;
    join(path, &out->cert_file);
    join(path, &out->key_file);
    join(path, &out->client_ca_file);
    return true;
}

/* Read what a file has that is named in place of a text. */
static bool read_part(const char *file, char **text, gnutls_hash_hd_t digest, struct error *err)
{
    struct strbuf bytes = STRBUF_INIT(PEM_MAX);
    bool done;

    if (!file)
        return true;
    strbuf_reserve(&bytes, AT_ONCE);
    done = file_read(file, &bytes, err);
    if (done) {
        gnutls_hash(digest, bytes.data, bytes.len);
        *text = xmemdup0(bytes.data, bytes.len);
    }
    if (bytes.cap > 0)
        explicit_bzero(bytes.data, bytes.cap);
    strbuf_release(&bytes);
    return done;
}

static bool read_all(const char *path, struct armour *a, gnutls_hash_hd_t digest, struct error *err)
{
    struct web_config *c = &a->config;

    if (!parse(path, c, digest, err))
        return false;
    if (!read_part(c->cert_file, &c->cert, digest, err) ||
        !read_part(c->key_file, &c->key, digest, err) ||
        !read_part(c->client_ca_file, &c->client_ca, digest, err))
        return fail_in(err, "%s", path);
    if (!c->tls)
        return true;
    a->tls = tls_new(c, err);
    return a->tls || fail_in(err, "%s: tls_server_config", path);
}

struct armour *armour_read(const char *path, struct error *err)
{
    struct armour *a = xcalloc(1, sizeof(*a));
    gnutls_hash_hd_t digest;

    if (gnutls_hash_init(&digest, GNUTLS_DIG_SHA256) < 0)
        memory_exhausted(sizeof(*a));
    bool done = read_all(path, a, digest, err);

    gnutls_hash_deinit(digest, a->digest);
    if (done)
        return a;
    armour_free(a);
    return NULL;
}

void armour_free(struct armour *a)
{
    if (!a)
        return;
    tls_free(a->tls);
    web_config_release(&a->config);
    free(a);
}

void armour_each_file(const char *path, void (*each)(void *context, const char *path),
                      void *context)
{
    struct web_config config = {.tls = false};
    struct error ignored;

    each(context, path);
    if (*path == '\0' || !parse(path, &config, NULL, &ignored))
        return;
    each(context, config.cert_file ? config.cert_file : "");
    each(context, config.key_file ? config.key_file : "");
    each(context, config.client_ca_file ? config.client_ca_file : "");
    web_config_release(&config);
}
