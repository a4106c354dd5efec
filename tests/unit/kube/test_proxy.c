/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/proxy.h"

#include "tests/unit/suite.h"

/* Results of Go's httpproxy (golang.org/x/net) for the same hosts, ports and NO_PROXY. */
static struct proxy_case {
    const char *host;
    const char *port;
    const char *no_proxy;
    bool used;
} proxy_cases[] = {
    {"foo.com", "443", "foo.com", false},
    {"foo.com", "443", ".foo.com", true},
    {"foo.com", "443", "*.foo.com", true},
    {"foo.com", "443", "FOO.COM", false},
    {"foo.com", "443", " foo.com ", false},
    {"foo.com", "443", "*", false},
    {"foo.com", "443", "foo.com:443", false},
    {"foo.com", "443", "foo.com:6443", true},
    {"foo.com", "443", "com", false},
    {"foo.com", "443", "oo.com", true},
    {"foo.com", "443", "*foo.com", true},
    {"foo.com", "443", "[foo.com]:443", false},
    {"foo.com", "443", "foo.com:443:1", true},
    {"foo.com", "443", ":443", true},
    {"foo.com", "443", "", true},
    {"foo.com", "443", "0.0.0.0/0", true},
    {"foo.com", "443", "api", true},
    {"bar.foo.com", "6443", "foo.com", false},
    {"bar.foo.com", "6443", ".foo.com", false},
    {"bar.foo.com", "6443", "*.foo.com", false},
    {"bar.foo.com", "6443", "foo.com:6443", false},
    {"bar.foo.com", "6443", "foo.com:443", true},
    {"bar.foo.com", "6443", ".foo.com:6443", false},
    {"bar.foo.com", "6443", "*.foo.com:443", true},
    {"bar.foo.com", "6443", "bar.foo.com,x", false},
    {"barfoo.com", "443", "foo.com", true},
    {"barfoo.com", "443", ".foo.com", true},
    {"barfoo.com", "443", "*.foo.com", true},
    {"FOO.com", "443", "foo.com", false},
    {"localhost", "443", "", false},
    {"LOCALHOST", "443", "", true},
    {"127.0.0.1", "443", "", false},
    {"127.9.9.9", "443", "", false},
    {"::1", "443", "", false},
    {"::ffff:127.0.0.1", "443", "", false},
    {"10.1.2.3", "443", "10.0.0.0/8", false},
    {"10.1.2.3", "443", "10.1.2.0/24", false},
    {"10.1.2.3", "443", "10.1.2.3", false},
    {"10.1.2.3", "443", "10.1.2.3:443", false},
    {"10.1.2.3", "443", "10.1.2.3:6443", true},
    {"10.1.2.3", "443", "10.1.2.03", true},
    {"10.1.2.3", "443", "10.0.0.0/33", true},
    {"10.1.2.3", "443", "10.0.0.1/", true},
    {"10.1.2.3", "443", "/8", true},
    {"10.1.2.3", "443", "0.0.0.0/0", false},
    {"10.1.2.3", "443", "::/0", true},
    {"10.1.2.3", "443", "10.1.2.3/8", false},
    {"10.1.2.3", "443", "::ffff:10.1.2.3", false},
    {"10.1.2.3", "443", "::ffff:10.0.0.0/104", false},
    {"10.1.2.3", "443", "0:0:0:0:0:ffff:a01:203", false},
    {"10.1.2.3", "443", ".3", true},
    {"10.1.2.3", "443", "*", false},
    {"192.168.1.7", "443", "192.168.1.7/32", false},
    {"192.168.1.7", "443", "192.168.1.7/31", false},
    {"192.168.1.7", "443", "192.168.1.6/31", false},
    {"fd00::1", "443", "fd00::1", false},
    {"fd00::1", "443", "[fd00::1]", true},
    {"fd00::1", "443", "[fd00::1]:443", false},
    {"fd00::1", "443", "[fd00::1]:6443", true},
    {"fd00::1", "443", "fd00::1:443", true},
    {"fd00::1", "443", "fd00::/16", false},
    {"fd00::1", "443", "::/0", false},
    {"fd00::1", "443", "0.0.0.0/0", true},
    {"fd00::1", "443", "2001:db8::/32", true},
    {"::ffff:10.1.2.3", "443", "10.0.0.0/8", false},
    {"kubernetes.default.svc", "443", "svc", false},
    {"kubernetes.default.svc", "443", ".svc", false},
    {"kubernetes.default.svc", "443", "default.svc", false},
    {"a.b.c", "6443", "b.c:6443", false},
    {"api", "443", "foo.com, api ,10.0.0.0/8", false},
    {"api", "443", "foo.com api", true},
};

TEST(proxy_is_used_as_in_go)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(proxy_cases); i++) {
        const struct proxy_case *c = &proxy_cases[i];

        if (proxy_is_used(c->host, c->port, c->no_proxy) != c->used)
            fail_msg("to %s port %s with NO_PROXY='%s': not as Go", c->host, c->port, c->no_proxy);
    }
}

TEST(only_loopback_hosts_bypass_the_proxy_by_default)
{
    (void)state;
    assert_true(proxy_is_used("k", "443", NULL));
    assert_false(proxy_is_used("127.0.0.1", "443", NULL));
    assert_true(host_is_loopback("localhost"));
    assert_false(host_is_loopback("localhost.example"));
    assert_false(host_is_loopback("128.0.0.1"));
    assert_false(host_is_loopback("::2"));
}
