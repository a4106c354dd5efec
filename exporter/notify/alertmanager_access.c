/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/alertmanager_access.h"

#include "exporter/kube/auth/locate.h"
#include "exporter/kube/auth/proxy.h"
#include "exporter/system/http_request.h"
#include "exporter/system/platform.h"
#include "exporter/version.h"

enum { HEADER_MAX_BYTES = 64 * 1024 };

static bool is_set(const char *option)
{
    return *option != '\0';
}

/* Returns the password or the token; "" without both; NULL with the reason after an error. */
static char *read_secret(const struct alertmanager_access *a, struct error *err)
{
    const char *option =
        is_set(a->user) ? "--alertmanager.password-file" : "--alertmanager.bearer-token-file";
    const char *path = is_set(a->user) ? a->password_file : a->token_file;
    char *secret = is_set(path) ? secret_line_read(path, err) : xstrdup("");

    if (!secret) {
        fail_in(err, "%s", option);
        return NULL;
    }
    if (!is_set(path) || secret_fits_header(secret))
        return secret;
    fail(err, "%s: the first line of '%s' is not valid in a header", option, path);
    secret_free(secret);
    return NULL;
}

static bool check_options(const struct alertmanager_access *a, struct error *err)
{
    if (is_set(a->user) != is_set(a->password_file))
        return fail(err, "--alertmanager.user and --alertmanager.password-file must be set "
                         "together");
    if (is_set(a->user) && is_set(a->token_file))
        return fail(err, "--alertmanager.user excludes --alertmanager.bearer-token-file");
    if (strchr(a->user, ':'))
        return fail(err, "--alertmanager.user: must not contain ':'");
    if ((is_set(a->user) || is_set(a->token_file)) && !a->url.tls &&
        !host_is_loopback(a->url.address))
        return fail(err, "--alertmanager.url: a password or token needs https://, or a loopback "
                         "address such as 127.0.0.1");
    return true;
}

bool alertmanager_access_init(struct alertmanager_access *a, const struct options *o,
                              const char *url, const char *const *environment, struct error *err)
{
    *a = (struct alertmanager_access){
        .user = xstrdup(o->alertmanager_user),
        .password_file = xstrdup(o->alertmanager_password_file),
        .token_file = xstrdup(o->alertmanager_token_file),
        .ca_file = xstrdup(o->alertmanager_ca_file),
    };
    /* tls_files_load() borrows the path. */
    const struct rest_config files = {.ca.file = is_set(a->ca_file) ? a->ca_file : NULL};

    if (!server_url_parse(url, NULL, &a->url, err))
        return fail_in(err, "--alertmanager.url");
    if (asprintf(&a->host, "%s:%s", a->url.address, a->url.port) < 0)
        memory_exhausted(0);
    if (!check_options(a, err) || !proxy_from_environment(environment, &a->url, &a->proxy, err))
        return false;
    /* Reports a file that cannot be read at the start, not with the first request. */
    CLEANUP(secret_cleanup) char *secret = read_secret(a, err);

    return secret && (tls_files_load(&a->tls, &files, platform_steady_ms(), err) ||
                      fail_in(err, "--alertmanager.ca-file"));
}

void alertmanager_access_release(struct alertmanager_access *a)
{
    tls_files_release(&a->tls);
    server_url_release(&a->url);
    secret_free(a->proxy);
    free(a->host);
    free(a->user);
    free(a->password_file);
    free(a->token_file);
    free(a->ca_file);
    *a = (struct alertmanager_access){.host = NULL};
}

void alertmanager_access_each_file(const struct options *o,
                                   void (*each)(void *context, const char *path), void *context)
{
    each(context, o->alertmanager_password_file);
    each(context, o->alertmanager_token_file);
    each(context, o->alertmanager_ca_file);
}

CURL *alertmanager_access_request(struct alertmanager_access *a, const char *path,
                                  struct strbuf *body, struct curl_slist **headers,
                                  struct error *err)
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
        .user = is_set(a->user) ? a->user : NULL,
        .password = secret,
        .body = body,
    });
    curl_easy_setopt(easy, CURLOPT_PROXY, a->proxy ? a->proxy : "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    /* The proxy must not receive the header with the token. */
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    *headers = curl_slist_append(NULL, "Content-Type: application/json");
    if (is_set(a->token_file)) {
        strbuf_addf(&line, "Authorization: Bearer %s", secret);
        *headers = curl_slist_append(*headers, line.data);
    }
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, *headers);
    return easy;
}
