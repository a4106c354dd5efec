/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/access_control.h"

#include <crypt.h>
#include <curl/curl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/web/server.h"
#include "tests/unit/folder.h"

#include "tests/unit/suite.h"

/*
 * Clients connect over TLS while the web configuration is reloaded with other certificates,
 * password hashes and headers. The sanitizers check the data that threads share.
 */

enum { CLIENTS = 3, REQUESTS = 20, CERTIFICATES = 2, TEXT_MAX = 4096, TIMEOUT_S = 60 };

struct fixture {
    char *folder;
    char *path; /* Path of the web configuration file. */
    struct page_store *page_store;
    struct access_control *access_control;
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

/* Writes a web configuration. Certificate, bcrypt cost and header depend on the round. */
static void write_config(const struct fixture *f, unsigned round)
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
    write_config(f, 0);
    f->access_control = access_control_new(&(struct access_control_options){.path = f->path}, &err);
    f->page_store = page_store_new();
    const struct server_options options = {
        .addresses = &address,
        .address_count = 1,
        .telemetry_path = "/metrics",
        .access_control = f->access_control,
    };

    f->server = f->access_control ? server_start(&options, f->page_store, &err) : NULL;
    if (!f->server)
        fprintf(stderr, "%s\n", err.text);
    return f->server ? 0 : -1;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    server_stop(f->server);
    access_control_free(f->access_control);
    page_store_free(f->page_store);
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

/* Sends a request on a new connection and counts its status; 0 if there was no response. */
static void send_request(struct client *c)
{
    CURL *curl = curl_easy_init();
    long status = 0;

    if (!curl)
        abort();
    curl_easy_setopt(curl, CURLOPT_URL, c->url);
    curl_easy_setopt(curl, CURLOPT_USERPWD, c->credentials);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, ignore);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    c->statuses[status]++;
    curl_easy_cleanup(curl);
}

static void *send_requests(void *context)
{
    struct client *c = context;

    for (unsigned i = 0; i < REQUESTS; i++)
        send_request(c);
    return NULL;
}

static void start_clients(const struct fixture *f, struct client clients[CLIENTS])
{
    static const char *const credentials[CLIENTS] = {"scraper:secret", "scraper:secret",
                                                     "scraper:guess"};

    for (size_t i = 0; i < CLIENTS; i++) {
        clients[i] = (struct client){.credentials = credentials[i]};
        snprintf(clients[i].url, sizeof(clients[i].url), "https://%s/-/healthy",
                 server_address(f->server, 0));
        assert_int_equal(pthread_create(&clients[i].thread, NULL, send_requests, &clients[i]), 0);
    }
}

/*
 * Reloads valid and broken configurations until the thread ends. Returns the number of reloads that
 * changed the active configuration.
 */
static unsigned reload_until_end(struct fixture *f, pthread_t thread)
{
    unsigned activated = 0;

    for (unsigned round = 1; pthread_tryjoin_np(thread, NULL) != 0; round++) {
        bool changed, broken = round % 5 == 0;
        struct error err;

        if (broken)
            folder_replace(f->folder, "web.yml", "tls_server_config: [\n");
        else
            write_config(f, round);
        assert_int_equal(access_control_reload(f->access_control, &changed, &err), !broken);
        activated += changed;
    }
    return activated;
}

TEST_WITH(clients_connect_while_the_configuration_is_reloaded, set_up, tear_down)
{
    struct fixture *f = *state;
    struct client clients[CLIENTS];
    unsigned activated;

    curl_global_init(CURL_GLOBAL_DEFAULT);
    start_clients(f, clients);
    activated = reload_until_end(f, clients[0].thread);
    for (size_t i = 1; i < CLIENTS; i++)
        pthread_join(clients[i].thread, NULL);
    assert_true(activated > 1);
    for (size_t i = 0; i + 1 < CLIENTS; i++)
        assert_int_equal(clients[i].statuses[200] + clients[i].statuses[429], REQUESTS);
    assert_true(clients[0].statuses[200] > 0);
    assert_int_equal(clients[CLIENTS - 1].statuses[401] + clients[CLIENTS - 1].statuses[429],
                     REQUESTS);
    curl_global_cleanup();
}

/* ---- reloads that would weaken the active configuration ---- */

#define HASH_4 "$2b$04$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyz01234"

#define TLS_PART                                                                                   \
    "tls_server_config:\n"                                                                         \
    "  min_version: TLS13\n"                                                                       \
    "  cert_file: 0.pem\n"                                                                         \
    "  key_file: 0.key\n"                                                                          \
    "  client_auth_type: RequireAndVerifyClientCert\n"                                             \
    "  client_ca_file: 1.pem\n"                                                                    \
    "  client_allowed_sans: [one.example, two.example]\n"
#define TLS_PART_REVERSED                                                                          \
    "tls_server_config:\n"                                                                         \
    "  client_ca_file: 1.pem\n"                                                                    \
    "  client_auth_type: RequireAndVerifyClientCert\n"                                             \
    "  key_file: 0.key\n"                                                                          \
    "  cert_file: 0.pem\n"                                                                         \
    "  client_allowed_sans:\n"                                                                     \
    "  - one.example\n"                                                                            \
    "  - two.example\n"                                                                            \
    "  min_version: TLS13\n"
#define USERS_PART                                                                                 \
    "basic_auth_users:\n"                                                                          \
    "  alice: " HASH_4 "\n"                                                                        \
    "  bob: '" HASH_4 "'\n"
#define HTTP_PART "http_server_config: {headers: {Strict-Transport-Security: max-age=60}}\n"

/* A folder with two certificates and a web configuration, without a server. */
struct bare {
    char *folder, *path;
    struct access_control *access_control;
};

static void bare_start(struct bare *b, const char *text)
{
    struct error err;

    b->folder = folder_make();
    b->path = folder_path(b->folder, "web.yml");
    for (unsigned i = 0; i < CERTIFICATES; i++)
        make_certificate(b->folder, i);
    folder_replace(b->folder, "web.yml", text);
    b->access_control = access_control_new(&(struct access_control_options){.path = b->path}, &err);
    if (!b->access_control)
        fail_msg("%s", err.text);
}

static void bare_end(struct bare *b)
{
    access_control_free(b->access_control);
    folder_remove(b->folder);
    free(b->path);
}

/* Returns true if `fresh` is at least as strict about TLS, client certificates and users. */
static bool is_as_strict(const struct web_config *fresh, const struct web_config *old)
{
    return fresh->tls == old->tls && fresh->min_version >= old->min_version &&
           fresh->client_auth == old->client_auth &&
           (old->client_ca == NULL || strcmp(fresh->client_ca, old->client_ca) == 0) &&
           (old->client_san_count == 0 || fresh->client_san_count > 0) &&
           fresh->client_san_count <= old->client_san_count &&
           (old->user_count == 0 || fresh->user_count > 0) && fresh->user_count <= old->user_count;
}

static void check_truncated(struct bare *b, const struct web_config *whole, const char *text,
                            size_t len)
{
    char cut[TEXT_MAX];
    bool changed;
    struct error err = {""};

    snprintf(cut, sizeof(cut), "%.*s", (int)len, text);
    folder_replace(b->folder, "web.yml", cut);
    bool accepted = access_control_reload(b->access_control, &changed, &err);
    struct active_web_config *now = access_control_acquire_config(b->access_control, NULL);

    if (!is_as_strict(&now->config, whole))
        fail_msg("cut at byte %zu, the file weakens the active configuration:\n%s", len, cut);
    access_control_release_config(b->access_control, now);
    assert_true(accepted || (!changed && *err.text != '\0'));
    folder_replace(b->folder, "web.yml", text);
    assert_true(access_control_reload(b->access_control, &changed, &err));
}

static const struct layout {
    const char *title, *text;
} layouts[] = {
    {"users", USERS_PART},
    {"TLS_users", TLS_PART USERS_PART HTTP_PART},
    {"users_TLS", USERS_PART HTTP_PART TLS_PART},
    {"users_TLS_reversed", USERS_PART TLS_PART_REVERSED},
    {"flow", "{basic_auth_users: {alice: '" HASH_4 "'}, tls_server_config: {cert_file: 0.pem, "
             "key_file: 0.key}}\n"},
};

TEST_ROWS(truncated_file_does_not_weaken_access_control, layouts, title)
{
    const struct layout *layout = *state;
    struct error err;
    struct bare b;

    bare_start(&b, layout->text);
    struct active_web_config *whole = active_web_config_read(b.path, &err);

    assert_non_null(whole);

    for (size_t len = 0; len < strlen(layout->text); len++)
        check_truncated(&b, &whole->config, layout->text, len);
    active_web_config_free(whole);
    bare_end(&b);
}

#define MINIMAL_TLS "tls_server_config:\n  cert_file: 0.pem\n  key_file: 0.key\n"
#define MUTUAL(type)                                                                               \
    MINIMAL_TLS "  client_ca_file: 1.pem\n"                                                        \
                "  client_auth_type: " type "\n"
#define REFUSED(title, old, fresh, why)                                                            \
    {                                                                                              \
        title, old, fresh, why                                                                     \
    }
#define ALLOWED(title, old, fresh)                                                                 \
    {                                                                                              \
        title, old, fresh, NULL                                                                    \
    }

static const struct reload {
    const char *title, *old, *fresh, *why;
} reloads[] = {
    REFUSED("an_empty_file", USERS_PART, "", "restart to turn authentication off"),
    REFUSED("only_a_comment", USERS_PART, "# nothing\n", "restart to turn authentication off"),
    REFUSED("users_without_value", USERS_PART, "basic_auth_users:\n", "restart to turn auth"),
    REFUSED("users_empty_mapping", USERS_PART, "basic_auth_users: {}\n", "restart to turn auth"),
    REFUSED("users_null", USERS_PART, "basic_auth_users: null\n", "restart to turn auth"),
    REFUSED("users_tilde", USERS_PART, "basic_auth_users: ~\n", "restart to turn auth"),
    REFUSED("users_commented_out", USERS_PART, "#" USERS_PART, "web.yml:"),
    REFUSED("users_replaced_by_TLS", MINIMAL_TLS USERS_PART, MINIMAL_TLS, "restart to turn auth"),
    REFUSED("last_user_removed", "basic_auth_users: {alice: '" HASH_4 "'}\n",
            "basic_auth_users: {}\n", "restart to turn authentication off"),
    REFUSED("TLS_off", MINIMAL_TLS, "", "restart to switch TLS off"),
    REFUSED("TLS_off_users_stay", MINIMAL_TLS USERS_PART, USERS_PART, "restart to switch TLS off"),
    REFUSED("TLS_on", USERS_PART, MINIMAL_TLS USERS_PART, "restart to switch TLS on"),
    REFUSED("client_certificate_not_required_any_more", MUTUAL("RequireAndVerifyClientCert"),
            MINIMAL_TLS, "restart to apply it"),
    REFUSED("client_certificate_only_requested", MUTUAL("RequireAndVerifyClientCert"),
            MUTUAL("RequestClientCert"), "restart to apply it"),
    REFUSED("client_certificate_not_verified", MUTUAL("RequireAndVerifyClientCert"),
            MUTUAL("RequireAnyClientCert"), "restart to apply it"),
    REFUSED("client_certificate_optional", MUTUAL("RequireAndVerifyClientCert"),
            MUTUAL("VerifyClientCertIfGiven"), "restart to apply it"),
    REFUSED("required_to_verified_if_given", MUTUAL("RequireAnyClientCert"),
            MUTUAL("VerifyClientCertIfGiven"), "restart to apply it"),
    REFUSED("verified_if_given_to_required", MUTUAL("VerifyClientCertIfGiven"),
            MUTUAL("RequireAnyClientCert"), "restart to apply it"),
    REFUSED("client_certificate_not_requested", MUTUAL("RequestClientCert"), MINIMAL_TLS,
            "restart to apply it"),
    REFUSED("client_CA_removed", MUTUAL("RequireAndVerifyClientCert"),
            MINIMAL_TLS "  client_auth_type: RequireAndVerifyClientCert\n",
            "client_auth_type needs client_ca"),
    REFUSED("allowed_SANs_removed",
            MUTUAL("RequireAndVerifyClientCert") "  client_allowed_sans: [one.example]\n",
            MUTUAL("RequireAndVerifyClientCert"), "restart to accept certificates of any name"),
    REFUSED("older_TLS_versions", MINIMAL_TLS "  min_version: TLS13\n", MINIMAL_TLS,
            "restart to accept older versions of TLS"),
    ALLOWED("a_user_added", "basic_auth_users: {alice: '" HASH_4 "'}\n", USERS_PART),
    ALLOWED("a_user_removed", USERS_PART, "basic_auth_users: {alice: '" HASH_4 "'}\n"),
    ALLOWED("a_user_renamed", "basic_auth_users: {alice: '" HASH_4 "'}\n",
            "basic_auth_users: {carol: '" HASH_4 "'}\n"),
    ALLOWED("first_users_added", "", USERS_PART),
    ALLOWED("client_CA_replaced", MUTUAL("RequireAndVerifyClientCert"),
            MINIMAL_TLS "  client_ca_file: 0.pem\n"
                        "  client_auth_type: RequireAndVerifyClientCert\n"),
    ALLOWED("stricter_for_client_certificates", MUTUAL("VerifyClientCertIfGiven"),
            MUTUAL("RequireAndVerifyClientCert") "  client_allowed_sans: [one.example]\n"),
    ALLOWED("allowed_SAN_replaced",
            MUTUAL("RequireAndVerifyClientCert") "  client_allowed_sans: [one.example]\n",
            MUTUAL("RequireAndVerifyClientCert") "  client_allowed_sans: [two.example]\n"),
    ALLOWED("empty_file_stays_empty", "", "# nothing\n"),
};

TEST_ROWS(reload_is_accepted_or_refused, reloads, title)
{
    const struct reload *reload = *state;
    struct error err = {""};
    bool changed;
    struct bare b;

    bare_start(&b, reload->old);
    folder_replace(b.folder, "web.yml", reload->fresh);
    bool accepted = access_control_reload(b.access_control, &changed, &err);

    if (accepted != (reload->why == NULL) || (reload->why && !strstr(err.text, reload->why)))
        fail_msg("accepted: %d, '%s'", accepted, err.text);
    assert_int_equal(changed, accepted);
    bare_end(&b);
}

/* The path leads to no file, to a directory, and to an empty device. */
TEST(missing_file_does_not_turn_authentication_off)
{
    struct error err = {""};
    bool changed;
    struct bare b;

    bare_start(&b, USERS_PART);
    assert_int_equal(unlink(b.path), 0);
    assert_false(access_control_reload(b.access_control, &changed, &err));
    assert_int_equal(mkdir(b.path, 0700), 0);
    assert_false(access_control_reload(b.access_control, &changed, &err));
    assert_int_equal(rmdir(b.path), 0);
    assert_int_equal(symlink("/dev/null", b.path), 0);
    assert_false(access_control_reload(b.access_control, &changed, &err));
    assert_non_null(strstr(err.text, "restart to turn authentication off"));
    bare_end(&b);
}
