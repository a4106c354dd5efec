/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/access.h"

#include "exporter/kube/auth/locate.h"
#include "exporter/kube/auth/proxy.h"
#include "exporter/system/http_request.h"
#include "exporter/system/platform.h"
#include "exporter/version.h"

enum { HEADER_MAX_BYTES = 64 * 1024 };

static bool has(const char *option)
{
    return *option != '\0';
}

/* The password or the token; "" without either, NULL with the reason. */
static char *read_secret(const struct access *a, struct error *err)
{
    const char *option =
        has(a->user) ? "--alertmanager.password-file" : "--alertmanager.bearer-token-file";
    const char *path = has(a->user) ? a->password_file : a->token_file;
    char *secret = has(path) ? secret_line_read(path, err) : xstrdup("");

    if (!secret) {
        fail_in(err, "%s", option);
        return NULL;
    }
    if (!has(path) || secret_fits_header(secret))
        return secret;
    fail(err, "%s: the first line of '%s' fits no header", option, path);
    secret_free(secret);
    return NULL;
}

static bool check(const struct access *a, struct error *err)
{
    if (has(a->user) != has(a->password_file))
        return fail(err, "--alertmanager.user and --alertmanager.password-file are given together "
                         "or not");
    if (has(a->user) && has(a->token_file))
        return fail(err, "--alertmanager.user or --alertmanager.bearer-token-file, not both");
    if (strchr(a->user, ':'))
        return fail(err, "--alertmanager.user: a user's name has no ':'");
    if ((has(a->user) || has(a->token_file)) && !a->url.tls && !host_is_loopback(a->url.address))
        return fail(err, "--alertmanager.url: a password or a token goes over https:// alone, or "
                         "to this machine");
    return true;
}

bool access_init(struct access *a, const struct options *o, const char *url,
                 const char *const *environment, struct error *err)
{
    *a = (struct access){
        .user = xstrdup(o->alertmanager_user),
        .password_file = xstrdup(o->alertmanager_password_file),
        .token_file = xstrdup(o->alertmanager_token_file),
        .ca_file = xstrdup(o->alertmanager_ca_file),
    };
    /* It only lends it. */
    const struct rest_config files = {.ca.file = has(a->ca_file) ? a->ca_file : NULL};

    if (!server_url_parse(url, NULL, &a->url, err))
        return fail_in(err, "--alertmanager.url");
    if (asprintf(&a->host, "%s:%s", a->url.address, a->url.port) < 0)
        memory_exhausted(0);
    if (!check(a, err) || !proxy_from_environment(environment, &a->url, &a->proxy, err))
        return false;
    /* A file that cannot be read is told of at once. */
    CLEANUP(secret_cleanup) char *secret = read_secret(a, err);

    return secret && (tls_files_load(&a->tls, &files, platform_steady_ms(), err) ||
                      fail_in(err, "--alertmanager.ca-file"));
}

void access_release(struct access *a)
{
    tls_files_release(&a->tls);
    server_url_release(&a->url);
    secret_free(a->proxy);
    free(a->host);
    free(a->user);
    free(a->password_file);
    free(a->token_file);
    free(a->ca_file);
    *a = (struct access){.host = NULL};
}

void access_each_file(const struct options *o, void (*each)(void *context, const char *path),
                      void *context)
{
    each(context, o->alertmanager_password_file);
    each(context, o->alertmanager_token_file);
    each(context, o->alertmanager_ca_file);
}

CURL *access_request(struct access *a, const char *path, struct strbuf *body,
                     struct curl_slist **headers, struct error *err)
{
    CLEANUP(secret_cleanup) char *secret = read_secret(a, err);
    CLEANUP(strbuf_release) struct strbuf line = STRBUF_SECRET(HEADER_MAX_BYTES);

    if (!secret)
        return NULL;
    tls_files_advance(&a->tls, platform_steady_ms());
    CURL *easy = http_request_new(&(struct http_request){
        .server = &a->url,
        .path = path,
        .user_agent = EXPORTER_NAME "/" EXPORTER_VERSION,
        .ca = tls_files_ca(&a->tls),
        .user = has(a->user) ? a->user : NULL,
        .password = secret,
        .body = body,
    });
    curl_easy_setopt(easy, CURLOPT_PROXY, a->proxy ? a->proxy : "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    /* What is in our headers is for the server, not for the proxy. */
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (has(a->token_file)) {
        strbuf_addf(&line, "Authorization: Bearer %s", secret);
        *headers = curl_slist_append(*headers, line.data);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers);
    return easy;
}
