/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/security/admission.h"

#include <crypt.h>
#include <curl/curl.h>
#include <pthread.h>

#include "exporter/web/server.h"
#include "tests/unit/folder.h"

#include "tests/unit/suite.h"

/*
 * A server over TLS whose certificates, users and headers are replaced while clients connect: each
 * is answered by one of the configurations. The sanitizers look at what is shared meanwhile.
 */
enum { CLIENTS = 3, ASKS = 20, CERTIFICATES = 2, TEXT_MAX = 4096, PATIENCE_S = 60 };

struct fixture {
    char *folder;
    char *path; /* Of the web configuration. */
    struct snapshot *snapshot;
    struct admission *admission;
    struct server *server;
};

static void make_certificate(const char *folder, unsigned number)
{
    char command[TEXT_MAX];

    snprintf(command, sizeof(command),
             "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3 -subj "
             "/CN=server-%u -keyout %s/%u.key -out %s/%u.pem 2>/dev/null",
             number, folder, number, folder, number);
    /* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): no thread runs yet. */
    assert_int_equal(system(command), 0);
}

/* Each round has another certificate, another cost of the hash and another header. */
static void configure(const struct fixture *f, unsigned round)
{
    struct crypt_data data = {.initialized = 0};
    char salt[64], text[TEXT_MAX];
    const char *hash;

    snprintf(salt, sizeof(salt), "$2b$%02u$abcdefghijklmnopqrstuu", 4 + round % 2);
    hash = crypt_r("secret", salt, &data);
    assert_non_null(hash);
    snprintf(text, sizeof(text),
             "tls_server_config: {cert_file: %u.pem, key_file: %u.key}\n"
             "http_server_config: {headers: {Strict-Transport-Security: max-age=%u}}\n"
             "basic_auth_users: {scraper: '%s'}\n",
             round % CERTIFICATES, round % CERTIFICATES, round, hash);
    folder_replace(f->folder, "web.yml", text);
}

static int set_up(void **state)
{
    static const char *const address = "127.0.0.1:0";
    struct fixture *f = xcalloc(1, sizeof(*f));
    struct error err;

    *state = f;
    f->folder = folder_make();
    f->path = folder_path(f->folder, "web.yml");
    for (unsigned i = 0; i < CERTIFICATES; i++)
        make_certificate(f->folder, i);
    configure(f, 0);
    f->admission = admission_new(&(struct admission_options){.path = f->path}, &err);
    f->snapshot = snapshot_new();
    const struct server_options options = {
        .addresses = &address,
        .address_count = 1,
        .telemetry_path = "/metrics",
        .admission = f->admission,
    };

    f->server = f->admission ? server_start(&options, f->snapshot, &err) : NULL;
    if (!f->server)
        fprintf(stderr, "%s\n", err.text);
    return f->server ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    server_stop(f->server);
    admission_free(f->admission);
    snapshot_free(f->snapshot);
    folder_remove(f->folder);
    free(f->path);
    free(f);
    return 0;
}

struct client {
    pthread_t thread;
    char url[128];
    const char *credentials;
    unsigned statuses[600];
};

static size_t ignore(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* A connection of its own each time; 0 counts those that were not answered. */
static void ask(struct client *c)
{
    CURL *curl = curl_easy_init();
    long status = 0;

    if (!curl)
        abort();
    curl_easy_setopt(curl, CURLOPT_URL, c->url);
    curl_easy_setopt(curl, CURLOPT_USERPWD, c->credentials);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)PATIENCE_S);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    c->statuses[status]++;
    curl_easy_cleanup(curl);
}

static void *keep_asking(void *context)
{
    struct client *c = context;

    for (unsigned i = 0; i < ASKS; i++)
        ask(c);
    return NULL;
}

static void start(const struct fixture *f, struct client clients[CLIENTS])
{
    static const char *const credentials[CLIENTS] = {"scraper:secret", "scraper:secret",
                                                     "scraper:guess"};

    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.credentials = credentials[i]};
        snprintf(clients[i].url, sizeof(clients[i].url), "https://%s/-/healthy",
                 server_address(f->server, 0));
        assert_int_equal(pthread_create(&clients[i].thread, NULL, keep_asking, &clients[i]), 0);
    }
}

/* Until a client has ended: how many rounds were put in force. */
static unsigned reload_until_end(struct fixture *f, pthread_t thread)
{
    unsigned put = 0;

    for (unsigned round = 1; pthread_tryjoin_np(thread, NULL) != 0; round++) {
        bool changed, broken = round % 5 == 0;
        struct error err;

        if (broken)
            folder_replace(f->folder, "web.yml", "tls_server_config: [\n");
        else
            configure(f, round);
        assert_int_equal(admission_reload(f->admission, &changed, &err), !broken);
        put += changed;
    }
    return put;
}

TEST_WITH(clients_connect_while_it_is_replaced, set_up, tear_down)
{
    struct fixture *f = *state;
    struct client clients[CLIENTS];
    unsigned put;

    curl_global_init(CURL_GLOBAL_DEFAULT);
    start(f, clients);
    put = reload_until_end(f, clients[0].thread);
    for (size_t i = 1; i < CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    assert_true(put > 1);
    for (size_t i = 0; i + 1 < CLIENTS; i++)
        assert_int_equal(clients[i].statuses[200] + clients[i].statuses[429], ASKS);
    assert_true(clients[0].statuses[200] > 0);
    assert_int_equal(clients[CLIENTS - 1].statuses[401] + clients[CLIENTS - 1].statuses[429], ASKS);
    curl_global_cleanup();
}
