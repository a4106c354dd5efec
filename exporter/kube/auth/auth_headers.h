/* SPDX-License-Identifier: Apache-2.0 */
#pragma once

#include <curl/curl.h>

#include "exporter/kube/auth/kube_config.h"

/* The headers that say who we are. The list grows at its end; its owner frees it. */

/* "Name: value". */
void auth_header_add(struct curl_slist **headers, const char *name, const char *value);

/* "Authorization: Bearer ..." */
void auth_headers_add_token(struct curl_slist **headers, const char *token);

/* "Impersonate-User: ..." and its kin; none if there is no user. */
void auth_headers_add_impersonation(struct curl_slist **headers,
                                    const struct kube_impersonation *as);
