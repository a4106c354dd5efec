/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/auth_headers.h"

#include "exporter/kube/auth/secret.h"

/* A name of which every byte has to be escaped, and a value as long as one may be. */
enum { HEADER_MAX_BYTES = 5 * SECRET_HEADER_MAX };

static void add(struct curl_slist **headers, const struct strbuf *line)
{
    struct curl_slist *longer = strbuf_ok(line) ? curl_slist_append(*headers, line->data) : NULL;

    if (!longer)
        abort();
    *headers = longer;
}

void auth_header_add(struct curl_slist **headers, const char *name, const char *value)
{
    CLEANUP(secret_release) struct strbuf line = STRBUF_INIT(HEADER_MAX_BYTES);

    strbuf_addf(&line, "%s: %s", name, value);
    add(headers, &line);
}

void auth_headers_add_token(struct curl_slist **headers, const char *token)
{
    CLEANUP(secret_release) struct strbuf line = STRBUF_INIT(HEADER_MAX_BYTES);

    strbuf_addf(&line, "Authorization: Bearer %s", token);
    add(headers, &line);
}

/* Any text as a part of a header's name: what may not be in one is escaped, and '%' too. */
static void add_escaped(struct strbuf *out, const char *name)
{
    static const char fine[] = "!#$&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ";

    for (; *name; name++) {
        if (strchr(fine, *name))
            strbuf_addc(out, *name);
        else
            strbuf_addf(out, "%%%02X", (unsigned char)*name);
    }
}

void auth_headers_add_impersonation(struct curl_slist **headers,
                                    const struct kube_impersonation *as)
{
    if (!as->user)
        return;
    auth_header_add(headers, "Impersonate-User", as->user);
    if (as->uid)
        auth_header_add(headers, "Impersonate-Uid", as->uid);
    for (size_t i = 0; i < as->group_count; i++)
        auth_header_add(headers, "Impersonate-Group", as->groups[i]);
    for (size_t i = 0; i < as->extra_count; i++) {
        CLEANUP(secret_release) struct strbuf line = STRBUF_INIT(HEADER_MAX_BYTES);

        strbuf_adds(&line, "Impersonate-Extra-");
        add_escaped(&line, as->extra[i].name);
        strbuf_addf(&line, ": %s", as->extra[i].value);
        add(headers, &line);
    }
}
