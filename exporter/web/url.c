/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/url.h"

void url_add(struct strbuf *out, char separator, const char *name, const char *value)
{
    static const char plain[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";

    strbuf_addf(out, "%c%s=", separator, name);
    for (; *value; value++) {
        if (strchr(plain, *value))
            strbuf_addc(out, *value);
        else
            strbuf_addf(out, "%%%02X", (unsigned char)*value);
    }
}
