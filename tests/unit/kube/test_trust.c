/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/credentials.h"

#include <unistd.h>

#include "exporter/kube/auth/exec_plugin.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/*
 * Handshakes of the installed version of curl, configured by credentials_apply(), with a TLS server
 * that requires a client certificate.
 */

/* Milliseconds; a longer wait fails the test. */
enum { WAIT_MAX = 60 * 1000 };

static char *const environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
static const char *const plugin_environment[] = {NULL};

/*
 * Script that creates two CAs, each with a server certificate for api.example and a client
 * certificate. The folder "roots" has the first CA in the form that OpenSSL reads from folders.
 */
static const char make_certificates[] =
    "set -e; cd \"$1\"\n"
    "for ca in ca other; do\n"
    "  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 \\\n"
    "    -subj \"/CN=$ca\" -keyout $ca.key -out $ca\n"
    "  for who in server client; do\n"
    "    openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=$who \\\n"
    "      -keyout $ca.$who.key -out $ca.$who.csr\n"
    "    printf 'subjectAltName=DNS:api.example\\n' >ext\n"
    "    openssl x509 -req -in $ca.$who.csr -CA $ca -CAkey $ca.key -CAcreateserial -days 2 \\\n"
    "      -extfile ext -out $ca.$who\n"
    "  done\n"
    "done\n"
    "mkdir roots; cp ca roots/ca.pem; openssl rehash roots\n";

struct tls_server {
    char *folder;
    struct child server;
    char port[8];
};

static void wait_for_input(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    assert_true(poll(&wanted, 1, WAIT_MAX) > 0);
}

static bool has_openssl(void)
{
    return access("/usr/bin/openssl", X_OK) == 0;
}

static void create_certificates(const char *folder)
{
    CLEANUP(free_cleanup) char *script = xstrdup(make_certificates);
    CLEANUP(free_cleanup) char *where = xstrdup(folder);
    struct child c;
    struct child_status end;
    struct error err;

    assert_true(child_start(
        &c, "sh", (char *[]){(char[]){"sh"}, (char[]){"-c"}, script, (char[]){"sh"}, where, NULL},
        environment, &err));
    wait_for_input(c.end);
    assert_true(child_try_wait(&c, &end));
    assert_true(end.exited && end.code == 0);
    child_release(&c);
}

/* Reads the port from the server's line "ACCEPT 127.0.0.1:34567". */
static void read_port(struct tls_server *tls_server)
{
    char text[1024] = "";
    size_t len = 0;
    const char *port;

    do {
        wait_for_input(tls_server->server.out);
        ssize_t n = read(tls_server->server.out, text + len, sizeof(text) - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
        text[len] = '\0';
        port = strstr(text, "ACCEPT 127.0.0.1:");
    } while (!port || !strchr(port, '\n'));
    port += strlen("ACCEPT 127.0.0.1:");
    snprintf(tls_server->port, sizeof(tls_server->port), "%.*s", (int)strspn(port, "0123456789"),
             port);
}

static struct row {
    const char *name;
    /* `ca`, `certificate` and `key` are files in the server's folder; may be NULL. */
    const char *ca;
    const char *certificate;
    const char *key;
    const char *server_name;
    bool insecure;
    bool trusts_folder; /* CURLOPT_CAPATH is the folder "roots" beforehand. */
    bool works;
    struct tls_server *tls_server; /* Set by start_tls_server(), for all rows. */
    CURLcode code;                 /* Expected error unless `works`; 0: any error. */
} rows[] = {
    {
        .name = "the right CA, name and certificate",
        .ca = "ca",
        .certificate = "ca.client",
        .key = "ca.client.key",
        .server_name = "api.example",
        .works = true,
    },
    {
        .name = "another CA",
        .ca = "other",
        .certificate = "ca.client",
        .key = "ca.client.key",
        .server_name = "api.example",
        .code = CURLE_PEER_FAILED_VERIFICATION,
    },
    {
        .name = "another CA, while curl trusts a folder with the right one",
        .ca = "other",
        .certificate = "ca.client",
        .key = "ca.client.key",
        .server_name = "api.example",
        .trusts_folder = true,
        .code = CURLE_PEER_FAILED_VERIFICATION,
    },
    {
        .name = "another name",
        .ca = "ca",
        .certificate = "ca.client",
        .key = "ca.client.key",
        .server_name = "other.example",
        .code = CURLE_PEER_FAILED_VERIFICATION,
    },
    {
        .name = "no name, only the address",
        .ca = "ca",
        .certificate = "ca.client",
        .key = "ca.client.key",
        .code = CURLE_PEER_FAILED_VERIFICATION,
    },
    {
        .name = "no verification",
        .certificate = "ca.client",
        .key = "ca.client.key",
        .insecure = true,
        .works = true,
    },
    {
        .name = "no CA, so that only CAs of the system count",
        .certificate = "ca.client",
        .key = "ca.client.key",
        .server_name = "api.example",
        .code = CURLE_PEER_FAILED_VERIFICATION,
    },
    {.name = "no certificate", .ca = "ca", .server_name = "api.example"},
    {
        .name = "a certificate of another CA",
        .ca = "ca",
        .certificate = "other.client",
        .key = "other.client.key",
        .server_name = "api.example",
    },
    {
        .name = "a key of another certificate",
        .ca = "ca",
        .certificate = "ca.client",
        .key = "other.client.key",
        .server_name = "api.example",
        .code = CURLE_SSL_CERTPROBLEM,
    },
};

static int start_tls_server(void **state)
{
    struct tls_server *tls_server = xcalloc(1, sizeof(*tls_server));
    struct error err;

    /* A group state would replace the rows, so the rows pass the server to the tests. */
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        rows[i].tls_server = tls_server;
    tls_server->server = CHILD_NONE;
    if (!has_openssl())
        return 0;
    tls_server->folder = folder_make();
    create_certificates(tls_server->folder);

    char *ca = folder_path(tls_server->folder, "ca");
    char *certificate = folder_path(tls_server->folder, "ca.server");
    char *key = folder_path(tls_server->folder, "ca.server.key");
    char *arguments[] = {
        (char[]){"openssl"},
        (char[]){"s_server"},
        (char[]){"-accept"},
        (char[]){"127.0.0.1:0"},
        (char[]){"-www"},
        (char[]){"-Verify"},
        (char[]){"1"},
        (char[]){"-CAfile"},
        ca,
        (char[]){"-cert"},
        certificate,
        (char[]){"-key"},
        key,
        (char[]){"-verify_return_error"},
        NULL,
    };
    assert_true(child_start(&tls_server->server, "openssl", arguments, environment, &err));
    free(ca);
    free(certificate);
    free(key);
    read_port(tls_server);
    return 0;
}

static int stop_tls_server(void **state)
{
    struct tls_server *tls_server = rows[0].tls_server;

    (void)state;
    child_release(&tls_server->server);
    if (tls_server->folder)
        folder_remove(tls_server->folder);
    free(tls_server);
    return 0;
}

static char *path_of(const struct tls_server *tls_server, const char *name)
{
    return name ? folder_path(tls_server->folder, name) : NULL;
}

static size_t discard_body(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

static CURLcode perform_request(const struct row *row, struct credentials *c)
{
    CLEANUP(free_cleanup) char *roots = path_of(row->tls_server, "roots");
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = NULL;
    struct error err;

    curl_easy_setopt(easy, CURLOPT_URL, credentials_url(c));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, discard_body);
    curl_easy_setopt(easy, CURLOPT_CAPATH, row->trusts_folder ? roots : NULL);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)WAIT_MAX);
    assert_true(credentials_apply(c, easy, &headers, &err));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(easy);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    return code;
}

TEST_ROWS(handshake_verifies_server_and_client, rows, name)
{
    const struct row *row = *state;
    struct rest_config config = {.insecure = row->insecure};
    struct error err;

    if (!has_openssl())
        skip();
    config.origin = xstrdup("the test");
    assert_true(asprintf(&config.server, "https://127.0.0.1:%s", row->tls_server->port) > 0);
    config.tls_server_name = row->server_name ? xstrdup(row->server_name) : NULL;
    config.ca.file = path_of(row->tls_server, row->ca);
    config.certificate.file = path_of(row->tls_server, row->certificate);
    config.key.file = path_of(row->tls_server, row->key);

    struct credentials *c = credentials_new(&config, plugin_environment, 0, &err);
    if (!c)
        fail_msg("%s", err.text);
    CURLcode code = perform_request(row, c);
    credentials_free(c);
    rest_config_release(&config);
    if (row->works || row->code)
        assert_int_equal(code, row->works ? CURLE_OK : row->code);
    else
        assert_int_not_equal(code, CURLE_OK);
}

SUITE_WITH(start_tls_server, stop_tls_server);
