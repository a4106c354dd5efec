/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/server.h"

#include "tests/unit/suite.h"

static struct parse_case {
    const char *name;
    const char *text;
    const char *host; /* NULL if the text is refused. */
    uint16_t port;
    const char *error;
} parse_cases[] = {
    {"a port alone is all addresses", ":19180", "", 19180, NULL},
    {"IPv4", "192.0.2.1:80", "192.0.2.1", 80, NULL},
    {"IPv6", "[::1]:19180", "::1", 19180, NULL},
    {"all IPv6 addresses", "[::]:19180", "::", 19180, NULL},
    {"IPv6 with a zone", "[fe80::1%eth0]:1", "fe80::1%eth0", 1, NULL},
    {"a host name", "exporter.example:65535", "exporter.example", 65535, NULL},
    {"any free port", "localhost:0", "localhost", 0, NULL},
    {"no port", "localhost", NULL, 0,
     "'localhost' has no port, write it as ':19180' or 'host:19180'"},
    {"empty text", "", NULL, 0, "'' has no port, write it as ':19180' or 'host:19180'"},
    {"IPv6 without a port", "[::1]", NULL, 0,
     "'[::1]' has no port, write it as ':19180' or 'host:19180'"},
    {"an open bracket", "[::1:80", NULL, 0,
     "'[::1:80' has no port, write it as ':19180' or 'host:19180'"},
    {"an empty port", "host:", NULL, 0, "the port in 'host:' is not a number from 0 to 65535"},
    {"a large port", ":65536", NULL, 0, "the port in ':65536' is not a number from 0 to 65535"},
    {"a signed port", ":+80", NULL, 0, "the port in ':+80' is not a number from 0 to 65535"},
    {"a port name", ":http", NULL, 0, "the port in ':http' is not a number from 0 to 65535"},
    {"IPv6 without brackets", "::1:19180", NULL, 0,
     "'::1:19180' has too many colons, write an IPv6 address as '[::1]:19180'"},
    {"brackets around a name", "[host]:80", NULL, 0,
     "the brackets in '[host]:80' do not hold an IPv6 address"},
    {"empty brackets", "[]:80", NULL, 0, "the brackets in '[]:80' do not hold an IPv6 address"},
    {"a URL", "http://host:80", NULL, 0,
     "'http://host:80' has too many colons, write an IPv6 address as '[::1]:19180'"},
    {"a blank", "a b:80", NULL, 0, "'a b:80' does not begin with a host's name or address"},
    {"two brackets", "[[::1]]:80", NULL, 0,
     "'[[::1]]:80' does not begin with a host's name or address"},
};

TEST_ROWS(address_is_parsed_or_refused, parse_cases, name)
{
    const struct parse_case *c = *state;
    struct address address = {.host = "untouched", .port = 7};
    struct error err;

    assert_int_equal(address_parse(c->text, &address, &err), c->host != NULL);
    assert_string_equal(address.host, c->host ? c->host : "untouched");
    assert_int_equal(address.port, c->host ? c->port : 7);
    if (!c->host)
        assert_string_equal(err.text, c->error);
}

TEST(host_that_is_too_long_is_refused)
{
    char text[ADDRESS_HOST_MAX + 8];
    struct address address;
    struct error err;

    memset(text, 'a', sizeof(text));
    memcpy(text + ADDRESS_HOST_MAX - 1, ":80", 4);
    assert_true(address_parse(text, &address, &err));
    assert_int_equal(strlen(address.host), ADDRESS_HOST_MAX - 1);
    memcpy(text + ADDRESS_HOST_MAX - 1, "a:80", 5);
    assert_false(address_parse(text, &address, &err));
}
