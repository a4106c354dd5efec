/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/credentials.h"

#include <unistd.h>

#include "exporter/kube/auth/exec_plugin.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/*
 * Handshakes with a TLS server that wants a client certificate: what
 * credentials_apply() sets is what curl does, in the version at hand.
 */

/* A wait for so many milliseconds is a failure. */
enum { PATIENCE = 60 * 1000 };

static char *const environment[] = {(char[]){"PATH=/usr/bin:/bin"}, NULL};
static const char *const plugin_environment[] = {NULL};

/*
 * Two authorities; for each a server certificate of the same name, and a client's. "roots" has
 * the first as OpenSSL looks for it in a folder.
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

struct site {
    char *folder;
    struct child server;
    char port[8];
};

static void wait_for(int fd)
{
    struct pollfd wanted = {.fd = fd, .events = POLLIN};

    assert_true(poll(&wanted, 1, PATIENCE) > 0);
}

static bool has_openssl(void)
{
    return access("/usr/bin/openssl", X_OK) == 0;
}

static void make(const char *folder)
{
    CLEANUP(free_cleanup) char *script = xstrdup(make_certificates);
    CLEANUP(free_cleanup) char *where = xstrdup(folder);
    struct child c;
    struct child_status end;
    struct error err;

    assert_true(child_start(
        &c, "sh", (char *[]){(char[]){"sh"}, (char[]){"-c"}, script, (char[]){"sh"}, where, NULL},
        environment, &err));
    wait_for(c.end);
    assert_true(child_try_wait(&c, &end));
    assert_true(end.exited && end.code == 0);
    child_release(&c);
}

/* "ACCEPT 127.0.0.1:34567" */
static void read_port(struct site *site)
{
    char text[1024] = "";
    size_t len = 0;
    const char *port;

    do {
        wait_for(site->server.out);
        ssize_t n = read(site->server.out, text + len, sizeof(text) - 1 - len);
        assert_true(n > 0);
        len += (size_t)n;
        text[len] = '\0';
        port = strstr(text, "ACCEPT 127.0.0.1:");
    } while (!port || !strchr(port, '\n'));
    port += strlen("ACCEPT 127.0.0.1:");
    snprintf(site->port, sizeof(site->port), "%.*s", (int)strspn(port, "0123456789"), port);
}

static struct row {
    const char *name;
    const char *ca; /* These are files of the site. */
    const char *certificate;
    const char *key;
    const char *server_name;
    bool insecure;
    bool trusts_folder; /* Something has left "roots" as what curl trusts besides. */
    bool works;
    struct site *site; /* The same for all. */
    CURLcode code;     /* If not, and if curl always says the same. */
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
        .name = "no name but the address",
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
        .name = "no CA: what the system trusts, which is not this one",
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
        .name = "a key that is another certificate's",
        .ca = "ca",
        .certificate = "ca.client",
        .key = "other.client.key",
        .server_name = "api.example",
        .code = CURLE_SSL_CERTPROBLEM,
    },
};

static int open_site(void **state)
{
    struct site *site = xcalloc(1, sizeof(*site));
    struct error err;

    /* Through the rows, as a state of the group would come instead of them. */
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        rows[i].site = site;
    site->server = CHILD_NONE;
    if (!has_openssl())
        return 0;
    site->folder = folder_make();
    make(site->folder);

    char *ca = folder_path(site->folder, "ca");
    char *certificate = folder_path(site->folder, "ca.server");
    char *key = folder_path(site->folder, "ca.server.key");
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
    assert_true(child_start(&site->server, "openssl", arguments, environment, &err));
    free(ca);
    free(certificate);
    free(key);
    read_port(site);
    return 0;
}

static int close_site(void **state)
{
    struct site *site = rows[0].site;

    (void)state;
    child_release(&site->server);
    if (site->folder)
        folder_remove(site->folder);
    free(site);
    return 0;
}

static char *file_of(const struct site *site, const char *name)
{
    return name ? folder_path(site->folder, name) : NULL;
}

static size_t drop(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

static CURLcode request(const struct row *row, struct credentials *c)
{
    CLEANUP(free_cleanup) char *roots = file_of(row->site, "roots");
    CURL *easy = curl_easy_init();
    struct curl_slist *headers = NULL;
    struct error err;

    curl_easy_setopt(easy, CURLOPT_URL, credentials_url(c));
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(easy, CURLOPT_CAPATH, row->trusts_folder ? roots : NULL);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)PATIENCE);
    assert_true(credentials_apply(c, easy, &headers, &err));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    CURLcode code = curl_easy_perform(easy);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    return code;
}

TEST_ROWS(shake_hands, rows, name)
{
    const struct row *row = *state;
    struct rest_config config = {.insecure = row->insecure};
    struct error err;

    if (!has_openssl())
        skip();
    config.origin = xstrdup("the test");
    assert_true(asprintf(&config.server, "https://127.0.0.1:%s", row->site->port) > 0);
    config.tls_server_name = row->server_name ? xstrdup(row->server_name) : NULL;
    config.ca.file = file_of(row->site, row->ca);
    config.certificate.file = file_of(row->site, row->certificate);
    config.key.file = file_of(row->site, row->key);

    struct credentials *c = credentials_new(&config, plugin_environment, 0, &err);
    if (!c)
        fail_msg("%s", err.text);
    CURLcode code = request(row, c);
    credentials_free(c);
    rest_config_release(&config);
    if (row->works || row->code)
        assert_int_equal(code, row->works ? CURLE_OK : row->code);
    else
        assert_int_not_equal(code, CURLE_OK);
}

SUITE_WITH(open_site, close_site);
