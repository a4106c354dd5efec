/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/address.h"

#include "metrics/base/number.h"
#include "metrics/base/shown.h"

bool address_parse(const char *text, struct address *out, struct error *err)
{
    static const char host_characters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789.-_:%";
    const char *colon = strrchr(text, ':');
    bool bracketed = text[0] == '[';
    struct address address = {.port = 0};
    uint64_t port;

    if (!colon || (bracketed && (colon == text || colon[-1] != ']')))
        return fail(err, "'%s' has no port, write it as ':19180' or 'host:19180'",
                    shown(text).text);
    if (!parse_uint(colon + 1, UINT16_MAX, &port))
        return fail(err, "the port in '%s' is not a number from 0 to 65535", shown(text).text);

    const char *host = bracketed ? text + 1 : text;
    size_t len = (size_t)(colon - text) - (bracketed ? 2 : 0);

    if (!bracketed && memchr(host, ':', len))
        return fail(err, "'%s' has too many colons, write an IPv6 address as '[::1]:19180'",
                    shown(text).text);
    if (bracketed && !memchr(host, ':', len))
        return fail(err, "the brackets in '%s' do not hold an IPv6 address", shown(text).text);
    if (len >= sizeof(address.host) || strspn(host, host_characters) < len)
        return fail(err, "'%s' does not begin with a host's name or address", shown(text).text);
    memcpy(address.host, host, len);
    address.port = (uint16_t)port;
    *out = address;
    return true;
}
