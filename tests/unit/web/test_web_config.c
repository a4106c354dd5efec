/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/web_config.h"

#include "exporter/system/file.h"
#include "tests/unit/suite.h"

#define FOLDER "tests/fixtures/web-config/"
#define HASH   "$2b$10$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyz01234"

/* Files with one fault each, and the error. */
static const struct fault {
    const char *file, *message;
} faults[] = {
    {"anchor_section", "web.yml:2:1: there is no 'defaults'"},
    {"auth_type_alone", "web.yml:2:1: tls_server_config: there is neither cert nor cert_file"},
    {"auth_type_unknown", "web.yml:5:3: client_auth_type: 'x' is no client auth type"},
    {"auth_type_without_ca", "web.yml:2:1: tls_server_config: client_auth_type needs client_ca or "
                             "client_ca_file to verify with"},
    {"boolean_unknown", "web.yml:5:3: prefer_server_cipher_suites: expected true or false"},
    {"burst_no_number", "web.yml:4:3: burst: expected a whole number of requests"},
    {"ca_without_auth_type", "web.yml:2:1: tls_server_config: a client CA without client_auth_type "
                             "would not verify clients"},
    {"cert_empty", "web.yml:2:1: tls_server_config: there is neither cert nor cert_file"},
    {"cert_file_empty", "web.yml:2:1: tls_server_config: there is neither cert nor cert_file"},
    {"cert_twice", "web.yml:2:1: tls_server_config: give cert inline or as a file, not both"},
    {"cipher_no_list", "web.yml:5:3: cipher_suites: expected a list"},
    {"cipher_unknown", "web.yml:5:3: cipher_suites: 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA2048' is "
                       "no cipher suite; did you mean 'TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256'?"},
    {"content_type_options", "web.yml:4:5: X-Content-Type-Options: expected nosniff"},
    {"curve_twice", "web.yml:5:3: curve_preferences: 'X25519' is set twice"},
    {"curve_unknown",
     "web.yml:5:3: curve_preferences: 'CurveP257' is no curve; did you mean 'CurveP256'?"},
    {"frame_options", "web.yml:4:5: X-Frame-Options: expected deny or sameorigin"},
    {"header_line_end",
     "web.yml:4:5: Content-Security-Policy: a header cannot have control characters"},
    {"header_not_allowed", "web.yml:4:5: 'Content-Type' is no header that can be set"},
    {"key_empty", "web.yml:2:1: tls_server_config: there is neither key nor key_file"},
    {"key_file_empty", "web.yml:2:1: tls_server_config: there is neither key nor key_file"},
    {"key_twice", "web.yml:4:3: not valid YAML: a key appears twice in one mapping"},
    {"not_a_mapping", "web.yml:2:1: expected 'key: value' lines"},
    {"not_yaml", "web.yml:4:1: not valid YAML: while parsing a flow sequence: did not find "
                 "expected ',' or ']'"},
    {"rate_negative", "web.yml:3:3: interval: expected a duration such as 100ms, 1s or 1m30s"},
    {"rate_without_burst",
     "web.yml:2:1: rate_limit: a burst of 0 would refuse every request; set burst to 1 or more"},
    {"rate_without_unit", "web.yml:3:3: interval: expected a duration such as 100ms, 1s or 1m30s"},
    {"sans_empty", "web.yml:7:3: client_allowed_sans: an empty list would reject every client"},
    {"sans_optional_certificate",
     "web.yml:2:1: tls_server_config: client_allowed_sans needs a client_auth_type that requires a "
     "certificate: RequireAnyClientCert or RequireAndVerifyClientCert"},
    {"sans_without_auth_type",
     "web.yml:2:1: tls_server_config: client_allowed_sans needs a client_auth_type that requires a "
     "certificate: RequireAnyClientCert or RequireAndVerifyClientCert"},
    {"tab", "web.yml:3:1: not valid YAML: while scanning for the next token: found character that "
            "cannot start any token"},
    {"two_documents", "web.yml:4:1: not valid YAML: more than one document"},
    {"unknown_section",
     "web.yml:2:1: there is no 'tls_sever_config'; did you mean 'tls_server_config'?"},
    {"unknown_tls_key", "web.yml:3:3: there is no 'cert_filse'; did you mean 'cert_file'?"},
    {"user_colon", "web.yml:3:3: a user's name cannot have a colon, which ends it in a request"},
    {"user_cost", "web.yml:3:3: a bcrypt cost of 19 takes too long; 18 is the most"},
    {"user_without_hash", "web.yml:3:3: not a bcrypt hash, such as 'htpasswd -nBC 10' makes"},
    {"version_unknown",
     "web.yml:5:3: min_version: 'TLS111' is no TLS version; did you mean 'TLS11'?"},
    {"versions_reversed", "web.yml:2:1: tls_server_config: min_version is above max_version"},
};

TEST_ROWS(invalid_file_is_refused_without_secrets_in_the_error, faults, file)
{
    const struct fault *fault = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(WEB_CONFIG_MAX);
    struct web_config config;
    struct error err = {""};
    char path[128];

    snprintf(path, sizeof(path), FOLDER "%s.yml", fault->file);
    assert_true(file_read(path, &text, &err));
    assert_false(web_config_parse("web.yml", text.data, text.len, &config, &err));
    assert_string_equal(err.text, fault->message);
    assert_null(strstr(err.text, "letmein"));
}

/* Appends the fields that the texts of `syntaxes` set. */
static void describe(const struct web_config *c, struct strbuf *out)
{
    if (c->cert_file)
        strbuf_addf(out, "cert %s;", c->cert_file);
    if (c->client_ca_file)
        strbuf_addf(out, "ca %s;", c->client_ca_file);
    for (unsigned i = 0; i < c->client_san_count; i++)
        strbuf_addf(out, "san %s;", c->client_sans[i]);
    for (unsigned i = 0; i < c->user_count; i++)
        strbuf_addf(out, "user %s;", c->users[i].name);
    if (c->rate_interval_ns > 0)
        strbuf_addf(out, "burst %u;", c->rate_burst);
    if (c->headers[1])
        strbuf_addf(out, "header %s;", c->headers[1]);
    strbuf_addf(out, "http2 %d", c->http2);
}

#define TLS(line)    "tls_server_config:\n  key_file: k\n" line
#define CLIENTS(san) TLS("  cert_file: c\n  client_auth_type: RequireAnyClientCert\n" san)
#define RATE(burst)  "rate_limit: {interval: 1s, burst: " burst "}\n"
#define USERS(lines) "basic_auth_users:\n" lines

/* YAML texts, and the fields that they set or the error. */
static const struct syntax {
    const char *name, *yaml, *wanted;
} syntaxes[] = {
    {"a number", RATE("7"), "burst 7;http2 1"},
    {"a number in quotes", RATE("\"7\""), "burst 7;http2 1"},
    {"a number that begins with 0", RATE("010"), "burst 10;http2 1"},
    {"a number in base 16", RATE("0x10"),
     "web.yml:1:28: burst: expected a whole number of requests"},
    {"a number with a fraction", RATE("7.0"),
     "web.yml:1:28: burst: expected a whole number of requests"},
    {"an empty text for a number", RATE("''"),
     "web.yml:1:28: burst: expected a whole number of requests"},
    {"a list for a number", RATE("[7]"),
     "web.yml:1:28: burst: expected a whole number of requests"},
    {"a boolean in capitals", "http_server_config: {http2: YES}\n", "http2 1"},
    {"a boolean in quotes", "http_server_config: {http2: 'No'}\n", "http2 0"},
    {"a boolean with a tag", "http_server_config: {http2: !!bool off}\n", "http2 0"},
    {"a letter for a boolean", "http_server_config: {http2: n}\n",
     "web.yml:1:22: http2: expected true or false"},
    {"a text like a number", TLS("  cert_file: 007\n"), "cert 007;http2 1"},
    {"a text like a float", TLS("  cert_file: 1e3\n"), "cert 1e3;http2 1"},
    {"a text like a boolean", TLS("  cert_file: yes\n"), "cert yes;http2 1"},
    {"a text like infinity", TLS("  cert_file: .inf\n"), "cert .inf;http2 1"},
    {"a text with the tag of a number", TLS("  cert_file: !!int c\n"), "cert c;http2 1"},
    {"a text with the tag of bytes", TLS("  cert_file: !!binary YQ==\n"), "cert YQ==;http2 1"},
    {"a text of several lines", TLS("  cert_file: >-\n    c\n    d\n"), "cert c d;http2 1"},
    {"user names like other types",
     USERS("  1: " HASH "\n  0x1: " HASH "\n  yes: " HASH "\n"
           "  true: " HASH "\n  null: " HASH "\n  ~: " HASH "\n"),
     "user 1;user 0x1;user yes;user true;user null;user ~;http2 1"},
    {"null", TLS("  cert_file: c\n  client_ca_file: null\n"), "cert c;http2 1"},
    {"Null", TLS("  cert_file: c\n  client_ca_file: Null\n"), "cert c;http2 1"},
    {"NULL", TLS("  cert_file: c\n  client_ca_file: NULL\n"), "cert c;http2 1"},
    {"a tilde", TLS("  cert_file: c\n  client_ca_file: ~\n"), "cert c;http2 1"},
    {"no value", TLS("  cert_file: c\n  client_ca_file:\n"), "cert c;http2 1"},
    {"null with a tag", TLS("  cert_file: c\n  client_ca_file: !!str null\n"), "cert c;http2 1"},
    {"nULL", TLS("  cert_file: nULL\n"), "cert nULL;http2 1"},
    {"null in quotes", TLS("  cert_file: 'null'\n"), "cert null;http2 1"},
    {"null in a list", CLIENTS("  client_allowed_sans: [~, null]\n"),
     "cert c;san ~;san null;http2 1"},
    {"an empty text in a list", CLIENTS("  client_allowed_sans: [a, '']\n"),
     "web.yml:5:3: client_allowed_sans: expected a list of texts"},
    {"a list in a list", CLIENTS("  client_allowed_sans:\n    - a\n    - [b]\n"),
     "web.yml:5:3: client_allowed_sans: expected a list of texts"},
    {"a user without a hash", USERS("  a:\n"),
     "web.yml:2:3: not a bcrypt hash, such as 'htpasswd -nBC 10' makes"},
    {"a user with a list", USERS("  a: []\n"), "web.yml:2:3: expected a bcrypt hash"},
    {"a mapping for a text", TLS("  cert_file: {a: b}\n"),
     "web.yml:3:3: cert_file: expected a text"},
    {"a text for a mapping", "tls_server_config:\n  c\n",
     "web.yml:1:1: tls_server_config: expected 'key: value' lines"},
    {"a list for a mapping", "basic_auth_users: []\n",
     "web.yml:1:1: basic_auth_users: expected 'key: value' lines"},
    {"a text at the top level", "letmein\n", "web.yml:1:1: expected 'key: value' lines"},
    {"null at the top level", "null\n", "http2 1"},
    {"an alias", USERS("  a: &h " HASH "\n  b: *h\n"), "user a;user b;http2 1"},
    {"an alias of null", TLS("  cert_file: c\n  cert: &n\n  client_ca_file: *n\n"),
     "cert c;http2 1"},
    {"an alias for a key", TLS("  cert_file: &c client_ca_file\n  *c :\n"),
     "cert client_ca_file;http2 1"},
    {"an anchor on a key", TLS("  &c cert_file: *c\n"), "cert cert_file;http2 1"},
    {"an error in an anchored mapping", "rate_limit: &r {interval: x}\nhttp_server_config: *r\n",
     "web.yml:1:17: interval: expected a duration such as 100ms, 1s or 1m30s"},
    {"an alias without an anchor", USERS("  a: *letmein\n"),
     "web.yml:2:6: not valid YAML: there is no anchor of this name before this alias"},
    {"an alias of its own mapping", "basic_auth_users: &u\n  a: *u\n",
     "web.yml:2:6: not valid YAML: the anchor of this alias contains itself"},
    {"a merge", TLS("  <<: {cert_file: c}\n"), "cert c;http2 1"},
    {"a merge of users", USERS("  <<: {a: " HASH "}\n"), "user a;http2 1"},
    {"a merge does not replace a key", TLS("  cert_file: c\n  <<: {cert_file: d}\n"),
     "cert c;http2 1"},
    {"a merge of an existing user", USERS("  a: " HASH "\n  <<: {a: x, b: " HASH "}\n"),
     "user a;user b;http2 1"},
    {"a merge of users without a hash", USERS("  a: " HASH "\n  <<: {b: letmein}\n"),
     "web.yml:3:8: not a bcrypt hash, such as 'htpasswd -nBC 10' makes"},
    {"a merge of an unknown key", TLS("  <<: {cert_fil: c}\n"),
     "web.yml:3:8: there is no 'cert_fil'; did you mean 'cert_file'?"},
    {"a merge of a text", USERS("  <<: " HASH "\n"),
     "web.yml:2:7: not valid YAML: '<<' needs a mapping or a list of mappings"},
    {"a merge key in quotes", USERS("  '<<': " HASH "\n"), "user <<;http2 1"},
    {"a duplicate user", USERS("  letmein: " HASH "\n  letmein: " HASH "\n"),
     "web.yml:3:3: not valid YAML: a key appears twice in one mapping"},
    {"a duplicate unknown key", "letmein: 1\nletmein: 1\n",
     "web.yml:2:1: not valid YAML: a key appears twice in one mapping"},
    {"a duplicate key in quotes", TLS("  'key_file': k\n"),
     "web.yml:3:3: not valid YAML: a key appears twice in one mapping"},
    {"a list for a key", "? [a]\n: b\n",
     "web.yml:1:3: not valid YAML: a key must be a text, a number or a boolean"},
    {"a NUL in a text", TLS("  cert_file: \"a\\0b\"\n"),
     "web.yml:3:14: not valid YAML: a NUL character in a text"},
    {"a NUL in a key", USERS("  \"letmein\\0\": " HASH "\n"),
     "web.yml:2:3: not valid YAML: a NUL character in a text"},
    {"two documents", USERS("  a: " HASH "\n---\nrate_limit:\n"),
     "web.yml:3:1: not valid YAML: more than one document"},
    {"an empty document behind", USERS("  a: " HASH "\n---\n"),
     "web.yml:3:1: not valid YAML: more than one document"},
    {"an empty document before", "---\n---\n" USERS("  a: " HASH "\n"),
     "web.yml:2:1: not valid YAML: more than one document"},
    {"invalid YAML behind the document", USERS("  a: " HASH "\n---\n]\n"),
     "web.yml:3:1: not valid YAML: more than one document"},
    {"a document with start and end markers", "---\n" USERS("  a: " HASH "\n...\n"),
     "user a;http2 1"},
    {"a version of YAML", "%YAML 1.1\n---\n" USERS("  a: " HASH "\n"), "user a;http2 1"},
    {"an unknown tag", TLS("  cert_file: !letmein c\n"), "cert c;http2 1"},
    {"an unknown prefix of tags", TLS("  cert_file: !letmein!a c\n"),
     "web.yml:3:14: not valid YAML: while parsing a node: found undefined tag handle"},
};

static void assert_syntax(const char *yaml, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf got = STRBUF_INIT(1 << 16);
    struct web_config c;
    struct error err = {""};

    if (web_config_parse("web.yml", yaml, strlen(yaml), &c, &err))
        describe(&c, &got);
    else
        strbuf_adds(&got, err.text);
    assert_string_equal(got.data, wanted);
    web_config_release(&c);
}

TEST_ROWS(yaml_sets_fields_or_is_refused, syntaxes, name)
{
    const struct syntax *row = *state;

    assert_syntax(row->yaml, row->wanted);
}

static void repeat(struct strbuf *out, const char *text, unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        strbuf_adds(out, text);
}

/* Long texts: `before` and `after` are repeated `count` times. */
static const struct limit {
    const char *name, *first, *before;
    unsigned count;
    const char *between, *after, *wanted;
} limits[] = {
    {"128 levels", "a: ", "[", 127, "", "]", "web.yml:1:1: there is no 'a'"},
    {"129 levels", "a: ", "[", 128, "", "]",
     "web.yml:1:131: not valid YAML: nested deeper than 128 levels"},
    {"aliases", CLIENTS("  client_allowed_sans:\n  - &a b\n"), "  - *a\n", 99, "", "", NULL},
    {"many aliases of a long text", CLIENTS("  client_allowed_sans:\n  - &a "), "x", 20000, "\n",
     "  - *a\n",
     "web.yml:215:5: not valid YAML: the document, with its anchors expanded, is too large"},
    {"101 names", CLIENTS("  client_allowed_sans:\n"), "  - a\n", 101, "", "",
     "web.yml:5:3: client_allowed_sans: more than 100 names"},
    {"a long text", TLS("  cert_file: "), "x", 200000, "\n", "", NULL},
};

TEST_ROWS(only_text_within_the_limits_is_accepted, limits, name)
{
    const struct limit *row = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(WEB_CONFIG_MAX);
    struct web_config c;
    struct error err = {""};

    strbuf_adds(&text, row->first);
    repeat(&text, row->before, row->count);
    strbuf_adds(&text, row->between);
    repeat(&text, row->after, row->count);
    assert_int_equal(web_config_parse("web.yml", text.data, text.len, &c, &err), !row->wanted);
    assert_string_equal(err.text, row->wanted ? row->wanted : "");
    web_config_release(&c);
}

TEST(only_100_tag_directives_are_accepted)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(WEB_CONFIG_MAX);

    for (unsigned i = 0; i < 100; i++)
        strbuf_addf(&text, "%%TAG !a%u! b\n", i);
    size_t len = text.len;

    strbuf_adds(&text, "---\n" TLS("  cert_file: !a7!x c\n"));
    assert_syntax(text.data, "cert c;http2 1");
    strbuf_cut(&text, len);
    strbuf_adds(&text, "%TAG !b! b\n---\n");
    assert_syntax(text.data,
                  "web.yml:1:1: not valid YAML: more than 100 %TAG directives in a document");
}

static void parse(const char *text, struct web_config *out)
{
    struct error err = {""};

    if (!web_config_parse("web.yml", text, strlen(text), out, &err))
        fail_msg("%s", err.text);
}

TEST(empty_file_has_the_defaults)
{
    static const char *const texts[] = {"", "# nothing\n", "tls_server_config:\n",
                                        "tls_server_config: {}\nbasic_auth_users: {}\n"};
    struct web_config c;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        parse(texts[i], &c);
        assert_false(c.tls);
        assert_int_equal(c.user_count, 0);
        assert_int_equal(c.rate_interval_ns, 0);
        assert_int_equal(c.min_version, WEB_TLS12);
        assert_int_equal(c.max_version, WEB_TLS13);
        assert_true(c.http2 && c.prefer_server_ciphers);
        web_config_release(&c);
    }
}

TEST(every_key_is_parsed)
{
    struct web_config c;

    parse("tls_server_config:\n"
          "  cert: inline\n"
          "  key_file: tls.key\n"
          "  client_ca_file: ca.crt\n"
          "  client_auth_type: RequireAndVerifyClientCert\n"
          "  client_allowed_sans: [scraper.example, 10.0.0.1]\n"
          "  min_version: TLS11\n"
          "  max_version: TLS12\n"
          "  cipher_suites: [TLS_AES_128_GCM_SHA256, TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA]\n"
          "  prefer_server_cipher_suites: off\n"
          "  curve_preferences: [X25519, CurveP256]\n"
          "http_server_config:\n"
          "  http2: false\n"
          "  headers:\n"
          "    X-Frame-Options: sameorigin\n"
          "    Strict-Transport-Security: max-age=60\n"
          "basic_auth_users:\n"
          "  alice: " HASH "\n"
          "  bob: " HASH "\n"
          "rate_limit: {interval: 1m1.25s, burst: 7}\n",
          &c);
    assert_true(c.tls);
    assert_string_equal(c.cert, "inline");
    assert_string_equal(c.key_file, "tls.key");
    assert_string_equal(c.client_ca_file, "ca.crt");
    assert_null(c.cert_file);
    assert_int_equal(c.client_auth, WEB_CLIENT_REQUIRE_AND_VERIFY);
    assert_int_equal(c.client_san_count, 2);
    assert_string_equal(c.client_sans[1], "10.0.0.1");
    assert_int_equal(c.min_version, WEB_TLS11);
    assert_int_equal(c.max_version, WEB_TLS12);
    assert_int_equal(c.ciphers, 1U << 0 | 1U << 3);
    assert_int_equal(c.curve_count, 2);
    assert_string_equal(web_curve_names[c.curves[0]], "X25519");
    assert_false(c.http2 || c.prefer_server_ciphers);
    assert_string_equal(c.headers[1], "max-age=60");
    assert_string_equal(c.headers[3], "sameorigin");
    assert_null(c.headers[0]);
    assert_int_equal(c.user_count, 2);
    assert_string_equal(c.users[1].name, "bob");
    assert_string_equal(c.users[1].hash, HASH);
    assert_int_equal(c.rate_interval_ns, 61250000000);
    assert_int_equal(c.rate_burst, 7);
    web_config_release(&c);
    assert_null(c.key_file);
}

TEST(older_name_of_an_auth_type_is_accepted)
{
    struct web_config c;

    parse("tls_server_config: {cert: c, key: k, client_auth_type: RequireClientCert}\n", &c);
    assert_int_equal(c.client_auth, WEB_CLIENT_REQUIRE_ANY);
    web_config_release(&c);
}

TEST(every_cipher_and_curve_is_parsed)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(WEB_CONFIG_MAX);
    struct web_config c;

    strbuf_adds(&text, "tls_server_config:\n  cert: c\n  key: k\n  cipher_suites:\n");
    for (size_t i = 0; i < WEB_CIPHERS; i++)
        strbuf_addf(&text, "  - %s\n", web_cipher_names[i]);
    strbuf_adds(&text, "  curve_preferences:\n");
    for (size_t i = 0; i < WEB_CURVES; i++)
        strbuf_addf(&text, "  - %s\n", web_curve_names[i]);
    parse(text.data, &c);
    assert_int_equal(c.ciphers, (1U << WEB_CIPHERS) - 1);
    assert_int_equal(c.curve_count, WEB_CURVES);
    web_config_release(&c);
}

TEST(too_many_users_or_bytes_are_refused)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(2 * WEB_CONFIG_MAX);
    struct web_config c;
    struct error err = {""};

    strbuf_adds(&text, "basic_auth_users:\n");
    for (size_t i = 0; i <= WEB_USERS_MAX; i++)
        strbuf_addf(&text, "  user%zu: %s\n", i, HASH);
    assert_false(web_config_parse("web.yml", text.data, text.len, &c, &err));
    assert_string_equal(err.text, "web.yml:102:3: more than 100 keys");
    while (text.len <= WEB_CONFIG_MAX)
        strbuf_adds(&text, "# a comment\n");
    assert_false(web_config_parse("web.yml", text.data, text.len, &c, &err));
    assert_string_equal(err.text, "web.yml: larger than 262144 bytes");
}

/* A long YAML key may be a part of a private key, which must not be logged. */
TEST(error_does_not_repeat_a_long_key)
{
    static const char text[] = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ: x\n";
    struct web_config c;
    struct error err = {""};

    assert_false(web_config_parse("web.yml", text, strlen(text), &c, &err));
    assert_string_equal(err.text, "web.yml:1:1: an unknown key");
}
