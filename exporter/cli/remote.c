/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/cli/remote.h"

#include <signal.h>

#include <curl/curl.h>

#include "exporter/kube/auth/proxy.h"
#include "exporter/kube/auth/tls_files.h"
#include "exporter/system/http_request.h"
#include "exporter/text/check_result.h"
#include "exporter/version.h"

enum {
    SLOWEST_BYTES_PER_SECOND = 100,
    HEADERS_MAX_BYTES = 256 * 1024,
    BODY_MAX_BYTES = 256 * 1024 * 1024, /* As much as an exporter answers. */
};

struct remote {
    const struct options *options;
    struct server_url url;
    struct tls_files tls;
    char *password; /* NULL without a user. */
    size_t header_bytes;
    char error[CURL_ERROR_SIZE];
};

/* ---- what the options say ---- */

static bool has(const char *option)
{
    return *option != '\0';
}

static bool check_flags(const struct options *o, const struct server_url *url, struct error *err)
{
    bool certificate = has(o->server_cert_file) || has(o->server_key_file);

    if (has(o->server_cert_file) != has(o->server_key_file))
        return fail(err, "--server.cert-file and --server.key-file are given together or not");
    if (has(o->server_user) != has(o->server_password_file))
        return fail(err, "--server.user and --server.password-file are given together or not");
    if (strchr(o->server_user, ':'))
        return fail(err, "--server.user: a user's name has no ':'");
    if (!url->tls && (certificate || has(o->server_ca_file)))
        return fail(err, "certificates are of https://, and --server begins with http://");
    if (!url->tls && has(o->server_user) && !host_is_loopback(url->address))
        return fail(err, "--server.user: a password goes over https:// alone, or to this machine");
    return true;
}

static bool read_options(struct remote *r, struct error *err)
{
    const struct options *o = r->options;
    /* It only lends them. */
    const struct kube_config files = {
        .ca.file = has(o->server_ca_file) ? o->server_ca_file : NULL,
        .certificate.file = has(o->server_cert_file) ? o->server_cert_file : NULL,
        .key.file = has(o->server_key_file) ? o->server_key_file : NULL,
    };

    if (!strstr(o->server, "://"))
        return fail(err, "--server: write https:// or http:// before the address");
    if (!server_url_parse(o->server, NULL, &r->url, err))
        return fail_in(err, "--server");
    if (!check_flags(o, &r->url, err) || !tls_files_load(&r->tls, &files, 0, err))
        return false;
    if (has(o->server_user))
        r->password = secret_line_read(o->server_password_file, err);
    return !has(o->server_user) || r->password || fail_in(err, "--server.password-file");
}

struct remote *remote_new(const struct options *o, struct error *err)
{
    struct remote *r = xcalloc(1, sizeof(*r));

    r->options = o;
    if (read_options(r, err))
        return r;
    remote_free(r);
    return NULL;
}

void remote_free(struct remote *r)
{
    if (!r)
        return;
    secret_free(r->password);
    tls_files_release(&r->tls);
    server_url_release(&r->url);
    free(r);
}

const char *remote_url(const struct remote *r)
{
    return r->url.base;
}

/* ---- what it is asked ---- */

/* Any result but the number of bytes ends the transfer. */
static size_t receive_header(char *bytes, size_t size, size_t count, void *context)
{
    struct remote *r = context;

    (void)bytes;
    r->header_bytes += size * count;
    return r->header_bytes <= HEADERS_MAX_BYTES ? size * count : 0;
}

/* What curl knows of an answer that is here. */
static void note_answer(CURL *easy, struct remote_answer *out)
{
    struct curl_header *findings;
    struct server_url elsewhere;
    struct error ignored;
    char *text = NULL;
    long status = 0;

    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    out->status = (unsigned)status;
    curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &text);
    out->content_type = xstrdup(text ? text : "");
    if (curl_easy_header(easy, FINDING_COUNTS_HEADER, 0, CURLH_HEADER, -1, &findings) == CURLHE_OK)
        out->findings = xstrdup(findings->value);
    text = NULL;
    curl_easy_getinfo(easy, CURLINFO_REDIRECT_URL, &text);
    if (!text || !server_url_parse(text, NULL, &elsewhere, &ignored))
        return;
    out->location = xstrdup(elsewhere.base);
    server_url_release(&elsewhere);
}

void remote_answer_release(struct remote_answer *a)
{
    free(a->content_type);
    free(a->findings);
    free(a->location);
    strbuf_release(&a->body);
    *a = (struct remote_answer){.body = STRBUF_INIT(0)};
}

bool remote_get(struct remote *r, const char *path, struct remote_answer *out, struct error *err)
{
    int64_t timeout_ms = r->options->server_timeout_ms;
    long timeout_s = (long)((timeout_ms + 999) / 1000); /* 0: never. */
    CURL *easy = http_request_new(&(struct http_request){
        .server = &r->url,
        .path = path,
        .user_agent = EXPORTER_NAME "/" EXPORTER_VERSION,
        .ca = tls_files_ca(&r->tls),
        .certificate = tls_files_certificate(&r->tls),
        .key = tls_files_key(&r->tls),
        .user = r->password ? r->options->server_user : NULL,
        .password = r->password,
        .body = &out->body,
    });
    CURLcode code;

    /* Writing to a server that closed its connection must not end the process. */
    signal(SIGPIPE, SIG_IGN);
    *out = (struct remote_answer){.body = STRBUF_INIT(BODY_MAX_BYTES)};
    r->header_bytes = 0;
    r->error[0] = '\0';
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_LIMIT, (long)SLOWEST_BYTES_PER_SECOND);
    curl_easy_setopt(easy, CURLOPT_LOW_SPEED_TIME, timeout_s);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, r->error);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, r);
    code = curl_easy_perform(easy);
    if (code == CURLE_OK)
        note_answer(easy, out);
    else if (code == CURLE_WRITE_ERROR)
        fail(err, "it answers with more than %d MiB, or with %d KiB of headers",
             BODY_MAX_BYTES >> 20, HEADERS_MAX_BYTES >> 10);
    else
        fail(err, "%s", *r->error ? r->error : curl_easy_strerror(code));
    curl_easy_cleanup(easy);
    return code == CURLE_OK;
}
