/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/proxy.h"

#include <arpa/inet.h>
#include <ctype.h>

#include "metrics/base/number.h"

/* IP address in network byte order. "::ffff:10.0.0.1" is stored as an IPv4 address. */
struct ip {
    unsigned char bytes[16];
    size_t len; /* 4 or 16; 0 if the text is no address. */
};

static struct ip parse_ip(const char *text)
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
    struct ip ip = parse_ip(host);

    if (ip.len == 0)
        return strcmp(host, "localhost") == 0;
    return ip.len == 4 ? ip.bytes[0] == 127 : memcmp(ip.bytes, loopback6, 16) == 0;
}

/* Item of no_proxy. */
struct no_proxy_item {
    char text[512];
    const char *port; /* Within `text`; "" for all ports. Set by split_port(). */
};

/* Splits "name:port" or "[address]:port". Returns false if the host is empty. */
static bool split_port(struct no_proxy_item *item)
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

    struct ip network = parse_ip(address);
    /* In IPv6 notation, the prefix of an IPv4 network includes the 96 bits before the address. */
    size_t offset_bits = network.len == 4 && strchr(address, ':') ? 96 : 0;
    if (network.len == 0 || network.len != ip->len ||
        !parse_uint(slash + 1, offset_bits + network.len * 8, &bits) || bits < offset_bits)
        return false;
    bits -= offset_bits;
    for (size_t i = 0; i < bits; i++) {
        if ((ip->bytes[i / 8] ^ network.bytes[i / 8]) >> (7 - i % 8) & 1)
            return false;
    }
    return true;
}

static bool matches_host(struct no_proxy_item *item, const char *host, const struct ip *ip,
                         const char *port)
{
    bool matches;

    if (strchr(item->text, '/') && is_in_network(ip, item->text))
        return true;
    if (!split_port(item))
        return false;

    struct ip address = parse_ip(item->text);
    if (address.len > 0 || ip->len > 0) {
        matches = address.len == ip->len && memcmp(address.bytes, ip->bytes, address.len) == 0;
    } else {
        /* "a.b" matches the name and its subdomains, ".a.b" and "*.a.b" only subdomains. */
        const char *name = item->text + (strncmp(item->text, "*.", 2) == 0);
        size_t host_len = strlen(host), len = strlen(name);
        bool inside = name[0] == '.' || (host_len > len && host[host_len - len - 1] == '.');

        matches = (name[0] != '.' && strcmp(host, name) == 0) ||
                  (inside && host_len > len && strcmp(host + host_len - len, name) == 0);
    }
    return matches && (item->port[0] == '\0' || strcmp(item->port, port) == 0);
}

/* Stores a text, trimmed and in lower case. Returns false if the text is empty or too long. */
static bool read_item(const char *text, size_t len, struct no_proxy_item *out)
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
    struct ip ip = parse_ip(host);
    struct no_proxy_item name;

    if (host_is_loopback(host))
        return false;
    if (!no_proxy || !read_item(host, strlen(host), &name))
        return true;
    for (const char *at = no_proxy; *at != '\0';) {
        size_t len = strcspn(at, ",");
        struct no_proxy_item item;

        if (read_item(at, len, &item) &&
            (strcmp(item.text, "*") == 0 || matches_host(&item, name.text, &ip, port)))
            return false;
        at += len + (at[len] == ',');
    }
    return true;
}
