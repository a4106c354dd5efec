/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/server_tls.h"

#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "exporter/web/access_control.h"
#include "tests/unit/folder.h"

#include "tests/unit/suite.h"

/* Handshakes over a pair of sockets, between a server with the settings and a GnuTLS client. */

enum { TEXT_MAX = 1024, DAYS = 3, DAY_S = 24 * 60 * 60, ROUNDS_MAX = 100 };

static char *folder; /* Temporary folder of the certificates and of the web configuration. */

static void make_certificate(const char *name, const char *alternative_names)
{
    char command[TEXT_MAX];

    snprintf(command, sizeof(command),
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days %d -subj "
             "/CN=%s -addext subjectAltName=%s -keyout %s/%s.key -out %s/%s.pem 2>/dev/null",
             DAYS, name, alternative_names, folder, name, folder, name);
    /* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): no thread runs. */
    assert_int_equal(system(command), 0);
}

static int set_up(void **state)
{
    (void)state;
    folder = folder_make();
    make_certificate("server", "DNS:server");
    make_certificate("client",
                     "IP:127.0.0.2,IP:fd00::2,DNS:client,email:a@b.example,URI:spiffe://a/b");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    folder_remove(folder);
    return 0;
}

SUITE_WITH(set_up, tear_down);

static struct active_web_config *read_config(const char *settings)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, "web.yml");
    struct active_web_config *a;
    char text[TEXT_MAX];
    struct error err;

    snprintf(text, sizeof(text),
             "tls_server_config: {cert_file: server.pem, key_file: server.key, %s}\n", settings);
    folder_write(folder, "web.yml", text);
    a = active_web_config_read(path, &err);
    if (a)
        a->tls = server_tls_new(&a->config, &err);
    if (!a || !a->tls)
        fail_msg("%s", err.text);
    return a;
}

static gnutls_certificate_credentials_t client_credentials(bool has_certificate)
{
    CLEANUP(free_cleanup) char *cert = folder_path(folder, "client.pem");
    CLEANUP(free_cleanup) char *key = folder_path(folder, "client.key");
    gnutls_certificate_credentials_t credentials;

    assert_int_equal(gnutls_certificate_allocate_credentials(&credentials), 0);
    if (has_certificate)
        assert_int_equal(
            gnutls_certificate_set_x509_key_file(credentials, cert, key, GNUTLS_X509_FMT_PEM), 0);
    return credentials;
}

/* Continues the handshake unless it has ended. Returns false if it fails. */
static bool continue_handshake(gnutls_session_t session, int *result)
{
    if (*result != 0)
        *result = gnutls_handshake(session);
    return *result == 0 || !gnutls_error_is_fatal(*result);
}

static bool shake_hands(gnutls_session_t client, gnutls_session_t server)
{
    int client_result = GNUTLS_E_AGAIN, server_result = GNUTLS_E_AGAIN;

    for (unsigned i = 0; i < ROUNDS_MAX; i++) {
        if (!continue_handshake(client, &client_result) ||
            !continue_handshake(server, &server_result))
            return false;
        if (client_result == 0 && server_result == 0)
            return true;
    }
    return false;
}

#define TLS12      "NORMAL:-VERS-ALL:+VERS-TLS1.2"
#define TLS13      "NORMAL:-VERS-ALL:+VERS-TLS1.3"
#define ANY(name)  "client_auth_type: RequireAnyClientCert, client_allowed_sans: [" name "]"
#define VERIFY(ca) "client_auth_type: RequireAndVerifyClientCert, client_ca_file: " ca ".pem"
#define IF_GIVEN   "client_auth_type: VerifyClientCertIfGiven, client_ca_file: server.pem"
#define REQUEST    "client_auth_type: RequestClientCert"

static const struct handshake {
    const char *title, *settings, *priority;
    bool has_certificate, accepted;
} handshakes[] = {
    {"TLS 1.2 by default", "", TLS12, false, true},
    {"TLS 1.3 by default", "", TLS13, false, true},
    {"TLS 1.2 as maximum", "max_version: TLS12", TLS12, false, true},
    {"TLS 1.3 above the maximum", "max_version: TLS12", TLS13, false, false},
    {"TLS 1.2 below the minimum", "min_version: TLS13", TLS12, false, false},
    {"a curve that is not allowed", "curve_preferences: [CurveP384]", TLS13 ":-GROUP-SECP384R1",
     false, false},
    {"an allowed cipher suite",
     "max_version: TLS12, cipher_suites: [TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384]", TLS12, false,
     true},
    {"a cipher suite that is not allowed",
     "max_version: TLS12, cipher_suites: [TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384]", TLS12, false,
     false},
    {"a requested certificate that is missing", REQUEST, TLS13, false, true},
    {"a required certificate that is missing", VERIFY("client"), TLS13, false, false},
    {"a trusted certificate", VERIFY("client"), TLS13, true, true},
    {"an unknown certificate", VERIFY("server"), TLS13, true, false},
    {"an unknown optional certificate", IF_GIVEN, TLS13, true, false},
    {"an optional certificate that is missing", IF_GIVEN, TLS13, false, true},
    {"an IPv4 address", ANY("127.0.0.2"), TLS13, true, true},
    {"an IPv6 address", ANY("'fd00::2'"), TLS13, true, true},
    {"a DNS name", ANY("other, client"), TLS12, true, true},
    {"an e-mail address", ANY("a@b.example"), TLS13, true, true},
    {"a URI", ANY("'spiffe://a/b'"), TLS13, true, true},
    {"no allowed name", ANY("other, clien, client2"), TLS13, true, false},
};

/* The client offers HTTP/2 and HTTP/1.1; it does not verify the server. */
TEST_ROWS(client_is_accepted_or_refused, handshakes, title)
{
    static unsigned char http2[] = "h2", http1[] = "http/1.1";
    const gnutls_datum_t protocols[] = {{http2, sizeof(http2) - 1}, {http1, sizeof(http1) - 1}};
    const struct handshake *row = *state;
    gnutls_certificate_credentials_t credentials = client_credentials(row->has_certificate);
    struct active_web_config *a = read_config(row->settings);
    gnutls_session_t client, server;
    gnutls_datum_t protocol = {.size = 0};
    int fds[2];

    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, fds), 0);
    gnutls_init(&client, GNUTLS_CLIENT | GNUTLS_NONBLOCK | GNUTLS_FORCE_CLIENT_CERT);
    gnutls_init(&server, GNUTLS_SERVER | GNUTLS_NONBLOCK);
    gnutls_transport_set_int(client, fds[0]);
    gnutls_transport_set_int(server, fds[1]);
    gnutls_priority_set_direct(client, row->priority, NULL);
    gnutls_credentials_set(client, GNUTLS_CRD_CERTIFICATE, credentials);
    gnutls_alpn_set_protocols(client, protocols, ARRAY_LEN(protocols), 0);
    server_tls_apply(a->tls, server);
    bool accepted = shake_hands(client, server);

    assert_int_equal(accepted, row->accepted);
    if (accepted) {
        assert_int_equal(gnutls_alpn_get_selected_protocol(client, &protocol), 0);
        assert_int_equal(protocol.size, protocols[1].size);
    }
    gnutls_deinit(client);
    gnutls_deinit(server);
    gnutls_certificate_free_credentials(credentials);
    active_web_config_free(a);
    close(fds[0]);
    close(fds[1]);
}

TEST(certificate_has_the_time_of_its_expiry)
{
    struct active_web_config *a = read_config("");
    int64_t left_s = server_tls_not_after(a->tls) - time(NULL);

    assert_in_range(left_s, (DAYS - 1) * DAY_S, DAYS * DAY_S);
    active_web_config_free(a);
}
