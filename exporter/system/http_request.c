/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/http_request.h"

enum { CONNECT_TIMEOUT_MS = 10 * 1000, URL_MAX_BYTES = 64 * 1024 };

void http_request_restrict(CURL *easy)
{
    curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(easy, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(easy, CURLOPT_PROXY, "");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)CONNECT_TIMEOUT_MS);
}

static void set_pem(CURL *easy, CURLoption option, const char *pem)
{
    /* memcpy() drops the const qualifier: libcurl does not change the bytes. */
    struct curl_blob blob = {.flags = CURL_BLOB_NOCOPY};

    if (!pem)
        return;
    memcpy(&blob.data, &pem, sizeof(pem));
    blob.len = strlen(pem);
    if (curl_easy_setopt(easy, option, &blob) != CURLE_OK)
        abort(); /* Only a libcurl built without these options rejects them. */
}

static size_t append_body(char *bytes, size_t size, size_t count, void *body)
{
    strbuf_add(body, bytes, size * count);
    return strbuf_ok(body) ? size * count : 0;
}

CURL *http_request_new(const struct http_request *request)
{
    CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(URL_MAX_BYTES);
    CURL *easy = curl_easy_init();

    if (!easy)
        memory_exhausted(0);
    http_request_restrict(easy);
    strbuf_addf(&url, "%s%s", request->server->base, request->path);
    if (strbuf_ok(&url))
        curl_easy_setopt(easy, CURLOPT_URL, url.data);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, request->server->tls ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_USERAGENT, request->user_agent);
    if (request->ca) /* By default, libcurl also trusts the CA certificates of the system. */
        curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    set_pem(easy, CURLOPT_CAINFO_BLOB, request->ca);
    set_pem(easy, CURLOPT_SSLCERT_BLOB, request->certificate);
    set_pem(easy, CURLOPT_SSLKEY_BLOB, request->key);
    if (request->user) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, request->user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, request->password);
    }
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, append_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, request->body);
    return easy;
}

void http_request_free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *h = headers; h; h = h->next)
        explicit_bzero(h->data, strlen(h->data));
    curl_slist_free_all(headers);
}
