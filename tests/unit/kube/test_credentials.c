/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/kube/auth/credentials.h"

#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exporter/kube/auth/exec_plugin.h"
#include "exporter/kube/auth/tls_files.h"
#include "tests/unit/folder.h"
#include "tests/unit/suite.h"

/* Blocks that pass for PEM; their content is neither a certificate nor a key. */
#define CERTIFICATE(body) "-----BEGIN CERTIFICATE-----\n" body "\n-----END CERTIFICATE-----\n"
#define KEY(body)         "-----BEGIN PRIVATE KEY-----\n" body "\n-----END PRIVATE KEY-----\n"

/* Milliseconds. A plugin that takes WAIT_MAX or longer fails the test. */
enum { WAIT_MAX = 20 * 1000, START = 1000, SECOND = 1000, MINUTE = 60 * 1000 };
/* 2030-01-01T00:00:00Z */
static const int64_t wall_start = 1893456000000;

static const char *const environment[] = {"PATH=/usr/bin:/bin", NULL};

/* Literal for members of type char *. */
#define TEXT(text) ((char[]){text})

/* ---- URL and headers of requests ---- */

/* Returns one line for each header, or "error: " and the text of `err`. The caller frees it. */
static char *describe_headers(struct credentials *c, struct error *err)
{
    struct strbuf out = STRBUF_INIT(1 << 20);
    struct curl_slist *headers = NULL;
    CURL *easy = curl_easy_init();
    size_t len;

    if (!credentials_apply(c, easy, &headers, err)) {
        strbuf_release(&out);
        strbuf_addf(&out, "error: %s\n", err->text);
    } else {
        for (const struct curl_slist *at = headers; at; at = at->next)
            strbuf_addf(&out, "%s\n", at->data);
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    return strbuf_take(&out, &len);
}

static void assert_headers(struct credentials *c, const char *wanted)
{
    struct error err = {""};
    char *found = describe_headers(c, &err);

    assert_string_equal(found, wanted);
    free(found);
}

static char *groups[] = {TEXT("a"), TEXT("b c")};
static struct rest_config_pair extra[] = {
    {TEXT("Scopes"), TEXT("view")},
    {TEXT("x.example/y%"), TEXT("\xc3\xa4")},
};

static struct apply_case {
    const char *name;
    struct rest_config config;
    const char *url;
    const char *headers;
} apply_cases[] = {
    {
        .name = "no credentials",
        .config = {.server = TEXT("https://k:6443/a")},
        .url = "https://k:6443/a",
        .headers = "",
    },
    {
        .name = "a token",
        .config = {.server = TEXT("https://k"), .token = TEXT("abc")},
        .url = "https://k",
        .headers = "Authorization: Bearer abc\n",
    },
    {
        .name = "impersonation",
        .config = {.server = TEXT("https://k"),
                   .token = TEXT("abc"),
                   .as = {TEXT("jo"), TEXT("7"), groups, ARRAY_LEN(groups), extra,
                          ARRAY_LEN(extra)}},
        .url = "https://k",
        .headers = "Authorization: Bearer abc\nImpersonate-User: jo\nImpersonate-Uid: 7\n"
                   "Impersonate-Group: a\nImpersonate-Group: b c\n"
                   "Impersonate-Extra-Scopes: view\nImpersonate-Extra-x.example%2Fy%25: \xc3\xa4\n",
    },
    {
        .name = "no credentials without TLS",
        .config = {.server = TEXT("http://k:8001"),
                   .token = TEXT("abc"),
                   .as = {.user = TEXT("jo")}},
        .url = "http://k:8001",
        .headers = "",
    },
    {
        .name = "a tls-server-name",
        .config = {.server = TEXT("https://10.0.0.1:6443/a"), .tls_server_name = TEXT("k.example")},
        .url = "https://k.example:6443/a",
        .headers = "Host: 10.0.0.1:6443\n",
    },
    {
        .name = "a tls-server-name and the default port",
        .config = {.server = TEXT("https://[fd00::1]"), .tls_server_name = TEXT("10.0.0.2")},
        .url = "https://10.0.0.2",
        .headers = "Host: [fd00::1]\n",
    },
};

TEST_ROWS(url_and_headers_follow_the_configuration, apply_cases, name)
{
    const struct apply_case *row = *state;
    struct error err;
    struct credentials *c = credentials_new(&row->config, environment, START, &err);

    assert_non_null(c);
    credentials_advance(c, START, wall_start);
    assert_true(credentials_ready(c));
    assert_string_equal(credentials_problem(c), "");
    assert_string_equal(credentials_url(c), row->url);
    assert_headers(c, row->headers);
    assert_true(credentials_due(c) == INT64_MAX);
    credentials_free(c);
}

/* ---- proxy ---- */

/* Proxy for one connection: records its request for a tunnel, and closes the connection. */
struct test_proxy {
    int listener;
    uint16_t port;
    pthread_t thread;
    char request[1024];
};

static void *serve_proxy(void *context)
{
    struct test_proxy *s = context;
    int fd = accept(s->listener, NULL, NULL);

    recv(fd, s->request, sizeof(s->request) - 1, 0);
    if (s->request[0] == 5) { /* SOCKS5: accept the client without authentication. */
        send(fd, "\5", 2, MSG_NOSIGNAL);
        memset(s->request, 0, sizeof(s->request));
        recv(fd, s->request, sizeof(s->request) - 1, 0);
    }
    close(fd);
    return NULL;
}

static void test_proxy_start(struct test_proxy *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(address);

    *s = (struct test_proxy){.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    assert_int_equal(bind(s->listener, (struct sockaddr *)&address, len), 0);
    assert_int_equal(listen(s->listener, 1), 0);
    assert_int_equal(getsockname(s->listener, (struct sockaddr *)&address, &len), 0);
    s->port = ntohs(address.sin_port);
    assert_int_equal(pthread_create(&s->thread, NULL, serve_proxy, s), 0);
}

static void request_through_proxy(struct test_proxy *proxy, const char *scheme)
{
    char url[64];
    const struct rest_config config = {
        .server = TEXT("https://k.example"), .token = TEXT("abc"), .proxy_url = url};
    struct error err;
    struct curl_slist *headers = NULL;
    CURL *easy = curl_easy_init();

    test_proxy_start(proxy);
    snprintf(url, sizeof(url), "%s://127.0.0.1:%u", scheme, proxy->port);
    struct credentials *c = credentials_new(&config, environment, START, &err);
    assert_non_null(c);
    assert_true(credentials_apply(c, easy, &headers, &err));
    curl_easy_setopt(easy, CURLOPT_URL, credentials_url(c));
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)WAIT_MAX);
    assert_int_not_equal(curl_easy_perform(easy), CURLE_OK);
    shutdown(proxy->listener, SHUT_RDWR);
    pthread_join(proxy->thread, NULL);
    close(proxy->listener);
    curl_slist_free_all(headers);
    curl_easy_cleanup(easy);
    credentials_free(c);
}

TEST(proxy_resolves_the_server_and_gets_no_token)
{
    static const char connect[] = "CONNECT k.example:443 HTTP/1.1\r\n";
    static const char socks_connect[] = "\5\1\0\3\x09k.example\x01\xbb"; /* Port 443. */
    struct test_proxy proxy;

    request_through_proxy(&proxy, "http");
    assert_memory_equal(proxy.request, connect, sizeof(connect) - 1);
    assert_null(strstr(proxy.request, "abc"));
    request_through_proxy(&proxy, "socks5");
    assert_memory_equal(proxy.request, socks_connect, sizeof(socks_connect));
}

/* ---- unusable files ---- */

/* Credentials under test, and the folder of the files or of the plugin that provide them. */
struct fixture {
    char *folder;
    struct rest_config config;
    struct credentials *c;
    struct error err;
};

static void write_files(struct fixture *s)
{
    *s = (struct fixture){.folder = folder_make()};
    folder_write(s->folder, "token", "one\n");
    folder_write(s->folder, "ca", CERTIFICATE("Y2E="));
    folder_write(s->folder, "crt", CERTIFICATE("Y3J0"));
    folder_write(s->folder, "key", KEY("a2V5"));
    s->config = (struct rest_config){
        .origin = xstrdup("the test"),
        .server = xstrdup("https://k"),
        .token_file = folder_path(s->folder, "token"),
        .ca = {.file = folder_path(s->folder, "ca")},
        .certificate = {.file = folder_path(s->folder, "crt")},
        .key = {.file = folder_path(s->folder, "key")},
    };
}

static void create_credentials(struct fixture *s)
{
    s->c = credentials_new(&s->config, environment, START, &s->err);
    if (!s->c)
        fail_msg("%s", s->err.text);
}

static void free_fixture(struct fixture *s)
{
    credentials_free(s->c);
    rest_config_release(&s->config);
    folder_remove(s->folder);
}

static struct file_case {
    const char *name;
    const char *file;
    const char *text; /* NULL: the file is missing. */
    const char *error;
} file_cases[] = {
    {"no token", "token", NULL,
     "the test: the token: cannot open the named file in '@/' (its name is not shown): No such "
     "file or directory"},
    {"an empty token", "token", " \n", "the test: the token in '@/token' is empty"},
    {"a token of two lines", "token", "hidden\nX: y",
     "the test: the token in '@/token' holds control"},
    {"no CA", "ca", NULL, "the test: the CA: cannot open '@/ca': No such file or directory"},
    {"an empty CA", "ca", "", "the test: the CA: '@/ca': there is no PEM certificate in it"},
    {"a truncated CA", "ca", "-----BEGIN CERTIFICATE-----\nhidd",
     "the test: the CA: '@/ca': a PEM block is cut"},
    {"a key in place of the CA", "ca", KEY("hidden"), "'@/ca': there is no PEM certificate in it"},
    {"a certificate with a wrong END line", "crt",
     "-----BEGIN CERTIFICATE-----\nhidden\n-----END X-----",
     "the client certificate: '@/crt': a PEM block is cut off"},
    {"no key", "key", NULL,
     "the client key: cannot open the named file in '@/' (its name is not shown)"},
    {"an empty key", "key", KEY(" "), "the client key: '@/key': there is no PEM private key in it"},
    {"a key with a passphrase", "key",
     "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nhidden\n-----END RSA PRIVATE "
     "KEY-----",
     "'@/key': the private key needs a passphrase, and the exporter cannot ask for it: use a key "
     "without a passphrase"},
};

TEST_ROWS(unusable_file_is_rejected, file_cases, name)
{
    const struct file_case *row = *state;
    struct strbuf wanted = STRBUF_INIT(1000);
    struct fixture s;

    write_files(&s);
    if (row->text)
        folder_write(s.folder, row->file, row->text);
    else
        folder_unlink(s.folder, row->file);
    for (const char *at = row->error; *at; at++) {
        if (*at == '@')
            strbuf_adds(&wanted, s.folder);
        else
            strbuf_addc(&wanted, *at);
    }
    assert_null(credentials_new(&s.config, environment, START, &s.err));
    if (!strstr(s.err.text, wanted.data) || strstr(s.err.text, "hidd"))
        fail_msg("'%s' is not '%s'", s.err.text, wanted.data);
    strbuf_release(&wanted);
    free_fixture(&s);
}

TEST(key_that_others_can_write_is_rejected)
{
    struct fixture s;

    write_files(&s);
    assert_int_equal(chmod(s.config.key.file, 0660), 0);
    assert_null(credentials_new(&s.config, environment, START, &s.err));
    assert_non_null(
        strstr(s.err.text, "(mode 660), and could make the exporter connect to another server"));
    free_fixture(&s);
}

/* ---- rotation ---- */

static void advance_to(struct fixture *s, int64_t at)
{
    credentials_advance(s->c, START + at, wall_start + at);
}

TEST(token_file_is_read_again_once_a_minute)
{
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    assert_headers(s.c, "Authorization: Bearer one\n");
    folder_replace(s.folder, "token", "two");
    advance_to(&s, MINUTE - 1);
    assert_headers(s.c, "Authorization: Bearer one\n");
    advance_to(&s, MINUTE);
    assert_headers(s.c, "Authorization: Bearer two\n");
    free_fixture(&s);
}

TEST(new_tokens_close_connections_at_most_every_30_s)
{
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    advance_to(&s, MINUTE);
    assert_int_equal(credentials_version(s.c), 0);
    folder_replace(s.folder, "token", "two");
    advance_to(&s, 2 * MINUTE);
    assert_int_equal(credentials_version(s.c), 1);

    /*
     * A new token closes all connections. With a new token every few seconds, no list would be
     * completed without a minimum interval.
     */
    folder_replace(s.folder, "token", "three");
    credentials_note_unauthorized(s.c);
    for (int64_t at = 2 * MINUTE + SECOND; at < 2 * MINUTE + 30 * SECOND; at += SECOND) {
        advance_to(&s, at);
        assert_headers(s.c, "Authorization: Bearer three\n");
        assert_int_equal(credentials_version(s.c), 1);
    }
    advance_to(&s, 2 * MINUTE + 30 * SECOND);
    assert_int_equal(credentials_version(s.c), 2);
    advance_to(&s, 20 * MINUTE);
    assert_int_equal(credentials_version(s.c), 2);
    free_fixture(&s);
}

TEST(token_file_is_read_again_after_a_401)
{
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    advance_to(&s, 5 * SECOND);
    folder_replace(s.folder, "token", "two");
    credentials_note_unauthorized(s.c);
    assert_true(credentials_due(s.c) <= START + 5 * SECOND);
    advance_to(&s, 5 * SECOND);
    assert_headers(s.c, "Authorization: Bearer two\n");

    /* The minimum interval between two reads also applies after a 401. */
    folder_replace(s.folder, "token", "three");
    credentials_note_unauthorized(s.c);
    advance_to(&s, 5 * SECOND + TOKEN_READ_GAP_MS - 1);
    assert_headers(s.c, "Authorization: Bearer two\n");
    advance_to(&s, 5 * SECOND + TOKEN_READ_GAP_MS);
    assert_headers(s.c, "Authorization: Bearer three\n");
    free_fixture(&s);
}

TEST(token_stays_while_its_file_is_unusable)
{
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    folder_replace(s.folder, "token", "hidden\ntoken");
    advance_to(&s, MINUTE);
    assert_headers(s.c, "Authorization: Bearer one\n");
    assert_non_null(strstr(credentials_problem(s.c), "/token' holds control characters"));
    folder_unlink(s.folder, "token");
    advance_to(&s, 2 * MINUTE);
    assert_headers(s.c, "Authorization: Bearer one\n");
    assert_non_null(strstr(credentials_problem(s.c), "No such file or directory"));
    folder_write(s.folder, "token", "two");
    advance_to(&s, 3 * MINUTE);
    assert_headers(s.c, "Authorization: Bearer two\n");
    assert_string_equal(credentials_problem(s.c), "");
    free_fixture(&s);
}

TEST(kubeconfig_token_is_used_while_the_file_is_missing)
{
    struct fixture s;

    write_files(&s);
    s.config.token = xstrdup("inline");
    folder_unlink(s.folder, "token");
    create_credentials(&s);
    assert_headers(s.c, "Authorization: Bearer inline\n");
    folder_write(s.folder, "token", "two");
    advance_to(&s, MINUTE);
    assert_headers(s.c, "Authorization: Bearer two\n");
    free_fixture(&s);
}

TEST(new_ca_is_used_once_its_file_is_stable)
{
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    folder_replace(s.folder, "ca", CERTIFICATE("Y2Ey"));
    advance_to(&s, TLS_CHECK_MS);
    assert_int_equal(credentials_version(s.c), 0);
    assert_true(credentials_due(s.c) == START + TLS_CHECK_MS + TLS_STABLE_MS);
    /* Another change restarts the wait for a stable file. */
    folder_replace(s.folder, "ca", CERTIFICATE("Y2Ez"));
    advance_to(&s, TLS_CHECK_MS + TLS_STABLE_MS);
    assert_int_equal(credentials_version(s.c), 0);
    advance_to(&s, TLS_CHECK_MS + 2 * TLS_STABLE_MS);
    assert_int_equal(credentials_version(s.c), 1);
    advance_to(&s, TLS_CHECK_MS + 2 * TLS_STABLE_MS + TLS_CHECK_MS);
    assert_int_equal(credentials_version(s.c), 1);
    assert_string_equal(credentials_problem(s.c), "");
    free_fixture(&s);
}

TEST(new_certificate_and_key_are_used_together)
{
    int64_t at = TLS_CHECK_MS;
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    folder_replace(s.folder, "crt", CERTIFICATE("Y3J0Mg=="));
    for (; at < TLS_CHECK_MS + TLS_PAIR_STABLE_MS; at += SECOND)
        advance_to(&s, at);
    assert_int_equal(credentials_version(s.c), 0);
    folder_replace(s.folder, "key", KEY("a2V5Mg=="));
    advance_to(&s, at);
    assert_int_equal(credentials_version(s.c), 0);
    advance_to(&s, at + TLS_STABLE_MS);
    assert_int_equal(credentials_version(s.c), 1);
    free_fixture(&s);
}

TEST(renewed_certificate_is_used_with_the_old_key)
{
    int64_t at = TLS_CHECK_MS;
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    folder_replace(s.folder, "crt", CERTIFICATE("Y3J0Mg=="));
    for (; at <= TLS_CHECK_MS + TLS_PAIR_STABLE_MS; at += SECOND)
        advance_to(&s, at);
    assert_int_equal(credentials_version(s.c), 1);
    free_fixture(&s);
}

TEST(swapped_symlink_is_a_change)
{
    struct fixture s;

    write_files(&s);
    folder_mkdir(s.folder, "v1");
    folder_mkdir(s.folder, "v2");
    folder_write(s.folder, "v1/ca", CERTIFICATE("Y2E="));
    folder_write(s.folder, "v2/ca", CERTIFICATE("Y2Iy"));
    folder_link(s.folder, "v1", "..data");
    free(s.config.ca.file);
    s.config.ca.file = folder_path(s.folder, "..data/ca");
    create_credentials(&s);
    folder_swap(s.folder, "v2", "..data");
    advance_to(&s, TLS_CHECK_MS);
    advance_to(&s, TLS_CHECK_MS + TLS_STABLE_MS);
    assert_int_equal(credentials_version(s.c), 1);
    free_fixture(&s);
}

TEST(replaced_ca_file_with_the_same_content_is_no_change)
{
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    folder_replace(s.folder, "ca", CERTIFICATE("Y2E="));
    for (int64_t at = TLS_CHECK_MS; at < MINUTE; at += SECOND)
        advance_to(&s, at);
    assert_int_equal(credentials_version(s.c), 0);
    assert_true(credentials_due(s.c) >= START + MINUTE - SECOND + TLS_STABLE_MS);
    free_fixture(&s);
}

TEST(invalid_ca_is_not_used)
{
    int64_t at = TLS_CHECK_MS;
    struct fixture s;

    write_files(&s);
    create_credentials(&s);
    folder_replace(s.folder, "ca", "");
    for (; at < MINUTE; at += SECOND)
        advance_to(&s, at);
    assert_int_equal(credentials_version(s.c), 0);
    assert_non_null(strstr(credentials_problem(s.c), "/ca': there is no PEM certificate in it"));
    folder_unlink(s.folder, "ca");
    advance_to(&s, at);
    assert_non_null(strstr(credentials_problem(s.c), "the CA: cannot read"));
    folder_replace(s.folder, "ca", CERTIFICATE("Y2Ey"));
    advance_to(&s, at += TLS_CHECK_MS);
    advance_to(&s, at += TLS_STABLE_MS);
    assert_int_equal(credentials_version(s.c), 1);
    assert_string_equal(credentials_problem(s.c), "");
    free_fixture(&s);
}

/* ---- exec plugins ---- */

/*
 * Prints the file "answer" of its folder; fails if the file "fails" exists. Appends an x to the
 * file "runs", and stores $KUBERNETES_EXEC_INFO in the file "info".
 */
static const char plugin_script[] = "#!/bin/sh\ncd \"${0%/*}\"\nprintf x >>runs\n"
                                    "printf '%s' \"$KUBERNETES_EXEC_INFO\" >info\n"
                                    "[ -e fails ] && echo 'no login' >&2 && exit 1\ncat answer\n";

#define ANSWER_OF(version, status)                                                                 \
    "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/" version          \
    "\",\"status\":{" status "}}"
#define ANSWER(status) ANSWER_OF("v1", status)
#define UNTIL(minutes) "\"expirationTimestamp\":\"2030-01-01T00:" minutes ":00Z\","

static void create_plugin_credentials(struct fixture *s, const char *answer)
{
    *s = (struct fixture){.folder = folder_make()};
    folder_write(s->folder, "plugin", plugin_script);
    folder_write(s->folder, "answer", answer);
    s->config = (struct rest_config){
        .origin = xstrdup("the test"),
        .server = xstrdup("https://k"),
        .exec = xcalloc(1, sizeof(struct rest_config_exec)),
    };
    s->config.exec->api_version = xstrdup("client.authentication.k8s.io/v1");
    s->config.exec->command = folder_path(s->folder, "plugin");
    assert_int_equal(chmod(s->config.exec->command, 0755), 0);
    create_credentials(s);
}

/* Advances to `at`; if the plugin runs, waits for its end. */
static void advance_and_wait_for_plugin(struct fixture *s, int64_t at)
{
    struct pollfd fds[CREDENTIALS_FDS];
    size_t count;

    advance_to(s, at);
    while ((count = credentials_fds(s->c, fds)) > 0) {
        assert_true(poll(fds, count, WAIT_MAX) > 0);
        advance_to(s, at);
    }
}

static void assert_file(const struct fixture *s, const char *name, const char *wanted)
{
    CLEANUP(free_cleanup) char *path = folder_path(s->folder, name);
    CLEANUP(secret_cleanup) char *text = NULL;
    struct error err;

    text = secret_file_read(path, 1 << 16, NULL, &err);
    assert_non_null(text);
    assert_string_equal(text, wanted);
}

TEST(credentials_are_not_ready_before_the_plugin_ends)
{
    char wanted[256];
    struct fixture s;

    create_plugin_credentials(&s, ANSWER("\"token\":\"one\""));
    assert_false(credentials_ready(s.c));
    snprintf(wanted, sizeof(wanted), "error: the exec plugin '%s' has not responded yet\n",
             s.config.exec->command);
    assert_headers(s.c, wanted);
    assert_true(credentials_due(s.c) <= START);
    advance_and_wait_for_plugin(&s, 0);
    assert_true(credentials_ready(s.c));
    assert_headers(s.c, "Authorization: Bearer one\n");
    assert_file(&s, "info",
                "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
                "\"spec\":{\"interactive\":false}}");
    /* Without an expirationTimestamp, only a 401 makes the plugin run again. */
    assert_true(credentials_due(s.c) == INT64_MAX);
    advance_and_wait_for_plugin(&s, 1000LL * MINUTE);
    assert_file(&s, "runs", "x");
    free_fixture(&s);
}

TEST(plugin_gets_cluster_info_if_configured)
{
    struct fixture s;

    create_plugin_credentials(&s, ANSWER("\"token\":\"one\""));
    credentials_free(s.c);
    s.config.exec->provide_cluster_info = true;
    s.config.tls_server_name = xstrdup("k.example");
    s.config.ca.data = xstrdup(CERTIFICATE("MAA="));
    s.config.proxy_url = xstrdup("http://p");
    s.config.disable_compression = true;
    s.config.exec_config = xstrdup("{\"a\":1}");
    create_credentials(&s);
    advance_and_wait_for_plugin(&s, 0);
    assert_file(&s, "info",
                "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\","
                "\"spec\":{\"cluster\":{\"server\":\"https://k\",\"tls-server-name\":\"k.example\","
                "\"certificate-authority-data\":\"LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1BQT0KLS0t"
                "LS1FTkQgQ0VSVElGSUNBVEUtLS0tLQo=\",\"proxy-url\":\"http://p\","
                "\"disable-compression\":true,\"config\":{\"a\":1}},\"interactive\":false}}");
    free_fixture(&s);
}

TEST(plugin_runs_again_before_its_token_expires)
{
    struct fixture s;

    create_plugin_credentials(&s, ANSWER(UNTIL("30") "\"token\":\"one\""));
    advance_and_wait_for_plugin(&s, 0);
    assert_true(credentials_due(s.c) == START + 29 * MINUTE);
    folder_write(s.folder, "answer", ANSWER(UNTIL("50") "\"token\":\"two\""));
    advance_and_wait_for_plugin(&s, 29 * MINUTE - 1);
    assert_headers(s.c, "Authorization: Bearer one\n");
    advance_and_wait_for_plugin(&s, 29 * MINUTE);
    assert_headers(s.c, "Authorization: Bearer two\n");
    assert_file(&s, "runs", "xx");
    assert_int_equal(credentials_version(s.c), 1);
    free_fixture(&s);
}

TEST(token_of_a_failed_plugin_stays_until_it_expires)
{
    int64_t at = 29 * MINUTE;
    struct fixture s;

    create_plugin_credentials(&s, ANSWER(UNTIL("30") "\"token\":\"one\""));
    advance_and_wait_for_plugin(&s, 0);
    folder_write(s.folder, "fails", "");
    advance_and_wait_for_plugin(&s, at);
    assert_non_null(strstr(credentials_problem(s.c),
                           "failed with exit code 1; its standard error ends in 'no login'"));
    assert_headers(s.c, "Authorization: Bearer one\n");
    assert_true(credentials_due(s.c) == START + at + EXEC_RETRY_MIN_MS);
    advance_and_wait_for_plugin(&s, at + EXEC_RETRY_MIN_MS - 1);
    assert_file(&s, "runs", "xx");
    advance_and_wait_for_plugin(&s, at += EXEC_RETRY_MIN_MS);
    assert_file(&s, "runs", "xxx");
    assert_true(credentials_due(s.c) == START + at + 2 * EXEC_RETRY_MIN_MS);
    for (unsigned i = 0; i < 10; i++)
        advance_and_wait_for_plugin(&s, at += EXEC_RETRY_MAX_MS);
    assert_true(credentials_due(s.c) == START + at + EXEC_RETRY_MAX_MS);
    assert_false(credentials_ready(s.c));
    folder_unlink(s.folder, "fails");
    folder_write(s.folder, "answer", ANSWER("\"token\":\"two\""));
    advance_and_wait_for_plugin(&s, at + EXEC_RETRY_MAX_MS);
    assert_headers(s.c, "Authorization: Bearer two\n");
    assert_string_equal(credentials_problem(s.c), "");
    free_fixture(&s);
}

TEST(plugin_runs_again_after_a_401)
{
    struct fixture s;

    create_plugin_credentials(&s, ANSWER("\"token\":\"one\""));
    advance_and_wait_for_plugin(&s, 0);
    folder_write(s.folder, "answer", ANSWER("\"token\":\"two\""));
    credentials_note_unauthorized(s.c);
    credentials_note_unauthorized(s.c);
    advance_and_wait_for_plugin(&s, EXEC_RUN_GAP_MS - 1);
    assert_headers(s.c, "Authorization: Bearer one\n");
    advance_and_wait_for_plugin(&s, EXEC_RUN_GAP_MS);
    assert_headers(s.c, "Authorization: Bearer two\n");
    advance_and_wait_for_plugin(&s, MINUTE);
    assert_file(&s, "runs", "xx");
    free_fixture(&s);
}

#define PEM_LINES(kind, body) "-----BEGIN " kind "-----\\n" body "\\n-----END " kind "-----\\n"
#define PAIR(body)                                                                                 \
    "\"clientCertificateData\":\"" PEM_LINES(                                                      \
        "CERTIFICATE", body) "\",\"clientKeyData\":\"" PEM_LINES("EC PRIVATE KEY", body) "\""

TEST(new_certificate_of_a_plugin_changes_the_version)
{
    struct fixture s;

    create_plugin_credentials(&s, ANSWER(PAIR("b25l")));
    advance_and_wait_for_plugin(&s, 0);
    assert_headers(s.c, "");
    uint64_t version = credentials_version(s.c);
    credentials_note_unauthorized(s.c);
    advance_and_wait_for_plugin(&s, EXEC_RUN_GAP_MS);
    assert_true(credentials_version(s.c) == version);
    folder_write(s.folder, "answer", ANSWER(PAIR("dHdv")));
    credentials_note_unauthorized(s.c);
    advance_and_wait_for_plugin(&s, 2 * EXEC_RUN_GAP_MS);
    assert_file(&s, "runs", "xxx");
    assert_true(credentials_version(s.c) != version);
    free_fixture(&s);
}

static struct answer_case {
    const char *name;
    const char *answer;
    const char *error;
} answer_cases[] = {
    {"no JSON", "hidden", "its output is not JSON"},
    {"empty output", "", "its output is not JSON"},
    {"two JSON values", ANSWER("\"token\":\"hidden\"") "{}", "its output is not JSON"},
    {"a list", "[\"hidden\"]", "its output is not an ExecCredential"},
    {"another apiVersion", ANSWER_OF("v1beta1", "\"token\":\"hidden\""),
     "its output does not have the apiVersion 'client.authentication.k8s.io/v1' of the kubeconfig"},
    {"no status",
     "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\"}",
     "no status"},
    {"an empty status", ANSWER(""), "its status has neither a token nor a client certificate"},
    {"an empty token", ANSWER("\"token\":\"\""), "its status has neither a token nor"},
    {"a token that is a number", ANSWER("\"token\":1"), "its status.token is not a string"},
    {"a token with a line break", ANSWER("\"token\":\"hidden\\r\\nX: y\""),
     "its status.token holds control characters"},
    {"a certificate without a key", ANSWER("\"clientCertificateData\":\"hidden\""),
     "its status has clientCertificateData without clientKeyData"},
    {"a key without a certificate", ANSWER("\"token\":\"t\",\"clientKeyData\":\"hidden\""),
     "its status has clientKeyData without clientCertificateData"},
    {"a certificate that is not PEM",
     ANSWER("\"clientCertificateData\":\"hidden\",\"clientKeyData\":\"hidden\""),
     "its status.clientCertificateData: there is no PEM certificate in it"},
    {"an invalid expirationTimestamp",
     ANSWER("\"token\":\"hidden\",\"expirationTimestamp\":\"soon\""),
     "its status.expirationTimestamp is not a time in RFC 3339"},
    {"an expirationTimestamp in the past",
     ANSWER("\"token\":\"hidden\",\"expirationTimestamp\":\"2029-12-31T23:59:59Z\""),
     "its credential has expired already: compare the clocks"},
};

TEST_ROWS(invalid_plugin_output_is_rejected, answer_cases, name)
{
    const struct answer_case *row = *state;
    struct strbuf wanted = STRBUF_INIT(2000);
    struct fixture s;

    create_plugin_credentials(&s, row->answer);
    advance_and_wait_for_plugin(&s, 0);
    assert_false(credentials_ready(s.c));
    strbuf_addf(&wanted, "the exec plugin '%s': %s", s.config.exec->command, row->error);
    if (!strstr(credentials_problem(s.c), wanted.data) ||
        strstr(credentials_problem(s.c), "hidden"))
        fail_msg("'%s' is not '%s'", credentials_problem(s.c), wanted.data);

    /* Requests fail with the same reason. */
    CLEANUP(free_cleanup) char *headers = describe_headers(s.c, &s.err);
    assert_non_null(strstr(headers, row->error));
    strbuf_release(&wanted);
    free_fixture(&s);
}
