/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/http/easy.h"

enum { CONNECT_TIMEOUT_MS = 10 * 1000 };

void easy_restrict(CURL *easy)
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

void easy_set_pem(CURL *easy, CURLoption option, const char *pem)
{
    /* curl takes a pointer to bytes that it could change, and changes none. */
    struct curl_blob blob = {.flags = CURL_BLOB_NOCOPY};

    if (!pem)
        return;
    memcpy(&blob.data, &pem, sizeof(pem));
    blob.len = strlen(pem);
    if (curl_easy_setopt(easy, option, &blob) != CURLE_OK)
        abort(); /* A library without TLS: nothing else of it could be used, either. */
}

void easy_set_trust(CURL *easy, const char *ca)
{
    if (!ca)
        return;
    /* Or it would go on trusting every public authority beside the one that is named. */
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
    easy_set_pem(easy, CURLOPT_CAINFO_BLOB, ca);
}

void easy_free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *h = headers; h; h = h->next)
        explicit_bzero(h->data, strlen(h->data));
    curl_slist_free_all(headers);
}

void easy_set_login(CURL *easy, const char *user, const char *password)
{
    curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
    curl_easy_setopt(easy, CURLOPT_USERNAME, user);
    curl_easy_setopt(easy, CURLOPT_PASSWORD, password);
}
