/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/wire.h"

#include <strings.h>

const char *wire_target(const char *uri)
{
    static const char version[] = "HTTP/";

    /* The library ends the line, and the version before it, in place: there is something behind. */
    return strncmp(uri + strlen(uri) + 1, version, strlen(version)) == 0 ? uri : "%00";
}

const char *wire_path(const char *target)
{
    static const char *const schemes[] = {"http://", "https://"};

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++) {
        size_t len = strlen(schemes[i]);
        const char *path;

        if (strncasecmp(target, schemes[i], len) != 0)
            continue;
        path = strchr(target + len, '/');
        return path ? path : "/";
    }
    return target;
}

static bool is_token(const char *name, size_t len)
{
    static const char characters[] = "!#$%&'*+-.^_`|~0123456789"
                                     "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

    return len > 0 && strspn(name, characters) == len;
}

static bool is_printable(const char *value, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        if (((unsigned char)value[i] < ' ' && value[i] != '\t') || value[i] == 0x7F)
            return false;
    }
    return true;
}

/* NOLINTNEXTLINE(readability-function-size): the signature is the library's. */
static enum MHD_Result look_at(void *context, enum MHD_ValueKind kind, const char *name,
                               size_t name_len, const char *value, size_t value_len)
{
    bool *sound = context;

    (void)kind;
    *sound = is_token(name, name_len) && (!value || is_printable(value, value_len));
    return *sound ? MHD_YES : MHD_NO;
}

bool wire_headers_are_sound(struct MHD_Connection *connection)
{
    bool sound = true;

    MHD_get_connection_values_n(connection, MHD_HEADER_KIND, look_at, &sound);
    return sound;
}
