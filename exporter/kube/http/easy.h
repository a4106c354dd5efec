/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "metrics/base/base.h"

/*
 * What every request has: it is to one server, whose TLS is 1.2 or newer and verified, is given up
 * after 10 s without a connection, and uses nothing else of what curl can do: no redirect, no
 * proxy, no .netrc, no signal.
 */
void easy_restrict(CURL *easy);

/* Give it PEM, which it borrows; NULL: nothing. */
void easy_set_pem(CURL *easy, CURLoption option, const char *pem);

/* Say who we are by Basic authentication. */
void easy_set_login(CURL *easy, const char *user, const char *password);

/* Wipes and frees headers of a request: one of them may be a token. Takes NULL. */
void easy_free_headers(struct curl_slist *headers);

/* Trust these authorities alone; NULL: whom the system trusts. */
void easy_set_trust(CURL *easy, const char *ca);
