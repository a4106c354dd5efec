/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/proxy.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "metrics/base/number.h"

/* An address in network order; one of IPv4 in IPv6 ("::ffff:10.0.0.1") is one of IPv4. */
struct ip {
    unsigned char bytes[16];
    size_t len; /* 0: it is none. */
};

static struct ip read_ip(const char *text)
{
    static const unsigned char mapped[12] = {[10] = 0xFF, [11] = 0xFF};
    struct ip ip = {.len = 0};

    if (inet_pton(AF_INET, text, ip.bytes) == 1) {
        ip.len = 4;
    } else if (inet_pton(AF_INET6, text, ip.bytes) == 1) {
        ip.len = 16;
        if (memcmp(ip.bytes, mapped, sizeof(mapped)) == 0) {
            memmove(ip.bytes, ip.bytes + sizeof(mapped), 4);
            ip.len = 4;
        }
    }
    return ip;
}

bool host_is_loopback(const char *host)
{
    static const unsigned char loopback6[16] = {[15] = 1};
    struct ip ip = read_ip(host);

    if (ip.len == 0)
        return strcmp(host, "localhost") == 0;
    return ip.len == 4 ? ip.bytes[0] == 127 : memcmp(ip.bytes, loopback6, 16) == 0;
}

/* An item of the list, as text of our own. */
struct item {
    char text[512];
    const char *port; /* "" for any. */
};

/* Cut off the port that "name:port" and "[address]:port" have; false if there is no host before it.
 */
static bool split_port(struct item *item)
{
    char *text = item->text;
    char *colon = strrchr(text, ':');
    char *closing = text[0] == '[' ? strchr(text, ']') : NULL;

    item->port = "";
    if (!colon || (text[0] == '[' && closing + 1 != colon) ||
        (text[0] != '[' && strchr(text, ':') != colon))
        return true;
    if (strpbrk(text + (closing ? 1 : 0), "[") ||
        (closing ? strchr(closing + 1, ']') : strchr(text, ']')))
        return true;
    *colon = '\0';
    item->port = colon + 1;
    if (closing) {
        *closing = '\0';
        memmove(text, text + 1, strlen(text));
    }
    return text[0] != '\0';
}

static bool is_in_network(const struct ip *ip, const char *text)
{
    const char *slash = strchr(text, '/');
    char address[64];
    uint64_t bits;

    if (!slash || (size_t)(slash - text) >= sizeof(address))
        return false;
    snprintf(address, sizeof(address), "%.*s", (int)(slash - text), text);

    struct ip network = read_ip(address);
    /* Of IPv4 in IPv6, what comes before the address counts as well. */
    size_t before = network.len == 4 && strchr(address, ':') ? 96 : 0;
    if (network.len == 0 || network.len != ip->len ||
        !parse_uint(slash + 1, before + network.len * 8, &bits) || bits < before)
        return false;
    bits -= before;
    for (size_t i = 0; i < bits; i++) {
        if ((ip->bytes[i / 8] ^ network.bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    }
    return true;
}

static bool matches(struct item *item, const char *host, const struct ip *ip, const char *port)
{
    bool same;

    if (strchr(item->text, '/') && is_in_network(ip, item->text))
        return true;
    if (!split_port(item))
        return false;

    struct ip own = read_ip(item->text);
    if (own.len > 0 || ip->len > 0) {
        same = own.len == ip->len && memcmp(own.bytes, ip->bytes, own.len) == 0;
    } else {
        /* "a.b" is itself and all below, ".a.b" and "*.a.b" are what is below. */
        const char *name = item->text + (strncmp(item->text, "*.", 2) == 0);
        size_t host_len = strlen(host), len = strlen(name);
        bool inside = name[0] == '.' || (host_len > len && host[host_len - len - 1] == '.');

        same = (name[0] != '.' && strcmp(host, name) == 0) ||
               (inside && host_len > len && strcmp(host + host_len - len, name) == 0);
    }
    return same && (item->port[0] == '\0' || strcmp(item->port, port) == 0);
}

/* In small letters and without the spaces around it; false if it is empty or too long for a name.
 */
static bool read_item(const char *text, size_t len, struct item *out)
{
    while (len > 0 && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    if (len == 0 || len >= sizeof(out->text))
        return false;
    for (size_t i = 0; i < len; i++)
        out->text[i] = (char)tolower((unsigned char)text[i]);
    out->text[len] = '\0';
    return true;
}

bool proxy_is_used(const char *host, const char *port, const char *no_proxy)
{
    struct ip ip = read_ip(host);
    struct item name;

    if (host_is_loopback(host))
        return false;
    if (!no_proxy || !read_item(host, strlen(host), &name))
        return true;
    for (const char *at = no_proxy; *at != '\0';) {
        size_t len = strcspn(at, ",");
        struct item item;

        if (read_item(at, len, &item) &&
            (strcmp(item.text, "*") == 0 || matches(&item, name.text, &ip, port)))
            return false;
        at += len + (at[len] == ',');
    }
    return true;
}
