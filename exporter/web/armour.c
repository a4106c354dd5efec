/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/armour.h"

#include <gnutls/crypto.h>

#include "exporter/system/secret.h"
#include "exporter/web/parse.h"

enum {
    PEM_MAX = 1024 * 1024,
    PATH_BYTES = 4096,
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

/* Read a file whose bytes go into the digest, too, unless that is NULL. */
static bool read_secret(const char *path, gnutls_hash_hd_t digest, struct strbuf *out,
                        struct error *err)
{
    if (!file_read(path, out, err))
        return false;
    if (digest)
        gnutls_hash(digest, out->data, out->len);
    return true;
}

static bool parse(const char *path, struct web_config *out, gnutls_hash_hd_t digest,
                  struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_SECRET(WEB_CONFIG_MAX);

    if (!read_secret(path, digest, &text, err) ||
        !web_config_parse(path, text.data, text.len, out, err))
        return false;
    join(path, &out->cert_file);
    join(path, &out->key_file);
    join(path, &out->client_ca_file);
    return true;
}

/* Returns true if the file of the private key is there. Errors do not show a path that leads
 * nowhere. */
static bool has_key_file(const char *path, struct error *err)
{
    return !path || secret_path_exists(path, err) || fail_in(err, "key_file");
}

/* Read what a file has that is named in place of a text. */
static bool read_part(const char *file, char **text, gnutls_hash_hd_t digest, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf bytes = STRBUF_SECRET(PEM_MAX);

    if (!file)
        return true;
    if (!read_secret(file, digest, &bytes, err))
        return false;
    *text = xmemdup0(bytes.data, bytes.len);
    return true;
}

static bool read_all(const char *path, struct web_config *c, gnutls_hash_hd_t digest,
                     struct error *err)
{
    if (!parse(path, c, digest, err))
        return false;
    return (read_part(c->cert_file, &c->cert, digest, err) && has_key_file(c->key_file, err) &&
            read_part(c->key_file, &c->key, digest, err) &&
            read_part(c->client_ca_file, &c->client_ca, digest, err)) ||
           fail_in(err, "%s", path);
}

struct armour *armour_read(const char *path, struct error *err)
{
    struct armour *a = xcalloc(1, sizeof(*a));
    gnutls_hash_hd_t digest;

    if (gnutls_hash_init(&digest, GNUTLS_DIG_SHA256) < 0)
        memory_exhausted(sizeof(*a));
    bool done = read_all(path, &a->config, digest, err);

    gnutls_hash_deinit(digest, a->digest);
    a->holders = 1;
    if (done)
        return a;
    armour_free(a);
    return NULL;
}

bool armour_forge(struct armour *a, const char *path, struct error *err)
{
    if (!a->config.tls)
        return true;
    a->tls = tls_new(&a->config, err);
    return a->tls || fail_in(err, "%s: tls_server_config", path);
}

void armour_forget(struct armour *a)
{
    web_config_forget(&a->config);
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
