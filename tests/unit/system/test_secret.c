/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/web/access_control.h"

#include <crypt.h>
#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "exporter/kube/auth/credentials.h"
#include "exporter/kube/auth/exec_plugin.h"
#include "exporter/kube/auth/kubeconfig.h"
#include "exporter/notify/alertmanager_access.h"
#include "exporter/system/http_request.h"
#include "exporter/web/server.h"
#include "tests/unit/folder.h"
#include "tests/unit/heap.h"

#include "tests/unit/suite.h"

/*
 * The exporter's stack, and blocks that its own code frees, contain no credential that was replaced
 * or freed. free(), realloc() and reallocarray() in this file replace those of the C library and
 * search each freed block. The exporter is linked into this program, so the address of the caller
 * shows whether the exporter or a library freed the block; both are counted.
 */
#define MARK "q8Zk3vTwYh"

/* NOLINTNEXTLINE(bugprone-reserved-identifier): the linker's name. */
extern const char __executable_start, etext;

struct copy_counts {
    _Atomic size_t own;
    _Atomic size_t libraries;
};

static struct copy_counts *copies_in_freed_blocks(void)
{
    static struct copy_counts counts;

    return &counts;
}

#if HEAP_COUNTS
/* NOLINTBEGIN(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name) */
void __libc_free(void *memory);
void *__libc_malloc(size_t size);

static void count_if_secret(const void *memory, const void *caller)
{
    const char *from = caller;

    if (!memory ||
        !memmem(memory, malloc_usable_size((void *)(uintptr_t)memory), MARK, sizeof(MARK) - 1))
        return;
    if (from >= &__executable_start && from < &etext)
        copies_in_freed_blocks()->own++;
    else
        copies_in_freed_blocks()->libraries++;
}

__attribute__((noinline)) void free(void *memory)
{
    int code = errno;

    count_if_secret(memory, __builtin_return_address(0));
    __libc_free(memory);
    errno = code;
}

/* Always moves the block, as realloc(3) may do at any time. */
__attribute__((noinline)) void *realloc(void *memory, size_t size)
{
    void *moved = __libc_malloc(size);
    size_t had = memory ? malloc_usable_size(memory) : 0;

    if (!moved)
        return NULL;
    if (memory)
        memcpy(moved, memory, had < size ? had : size);
    count_if_secret(memory, __builtin_return_address(0));
    __libc_free(memory);
    return moved;
}

__attribute__((noinline)) void *reallocarray(void *memory, size_t count, size_t size)
{
    void *moved = __libc_malloc(count * size);
    size_t had = memory ? malloc_usable_size(memory) : 0;

    if (!moved)
        return NULL;
    if (memory)
        memcpy(moved, memory, had < count * size ? had : count * size);
    count_if_secret(memory, __builtin_return_address(0));
    __libc_free(memory);
    return moved;
}
/* NOLINTEND(bugprone-reserved-identifier,readability-inconsistent-declaration-parameter-name) */
#endif

/* Returns the number of copies on the stack below this frame, left by functions that returned. */
__attribute__((noinline)) static size_t stack_copies(void)
{
    enum { DEPTH = 256 * 1024 };
    static char bytes[DEPTH];
    const char *here = __builtin_frame_address(0);
    int fd = open("/proc/self/mem", O_RDONLY | O_CLOEXEC);
    ssize_t len = pread(fd, bytes, DEPTH, (off_t)(uintptr_t)(here - DEPTH));
    size_t count = 0;

    assert_int_equal(len, DEPTH);
    close(fd);
    for (const char *at = bytes;
         (at = memmem(at, (size_t)(bytes + DEPTH - at), MARK, sizeof(MARK) - 1)); at++)
        count++;
    return count;
}

static void reset_counts(void)
{
    *copies_in_freed_blocks() = (struct copy_counts){0};
}

/* Asserts that no copy was found. `stack` is the result of stack_copies(), 0 without a search. */
static void assert_no_copies(size_t stack)
{
    if (copies_in_freed_blocks()->own > 0 || stack > 0)
        fail_msg("%zu blocks freed by the exporter hold a secret, and %zu copies are on the stack",
                 copies_in_freed_blocks()->own, stack);
    print_message("freed by libraries with a secret in it: %zu\n",
                  copies_in_freed_blocks()->libraries);
}

TEST(the_search_finds_a_copy)
{
#if HEAP_COUNTS
    char *copy = strdup("some " MARK);

    reset_counts();
    free(copy);
    assert_int_equal(copies_in_freed_blocks()->own, 1);
    copy = strdup("some " MARK);
    copy = realloc(copy, 100);
    assert_int_equal(copies_in_freed_blocks()->own, 2);
    secret_free(copy);
    assert_int_equal(copies_in_freed_blocks()->own, 2);
#else
    print_message("a sanitizer has malloc and free of its own: blocks are not counted\n");
#endif
}

__attribute__((noinline)) static void leave_a_copy(void)
{
    volatile char copy[16 * 1024];

    for (size_t i = 0; i < sizeof(copy); i++)
        copy[i] = MARK[i % sizeof(MARK)];
    assert_int_equal(copy[0], MARK[0]);
}

TEST(the_search_finds_a_copy_on_the_stack)
{
    leave_a_copy();
#if HEAP_COUNTS
    assert_true(stack_copies() > 0);
    secret_wipe_stack();
    assert_int_equal(stack_copies(), 0);
#else
    print_message("a sanitizer keeps variables elsewhere: the stack is not searched\n");
#endif
}

/* ---- texts ---- */

TEST(a_truncated_secret_is_wiped_completely)
{
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "password");
    struct error err;

    folder_write(folder, "password", "first\n" MARK "\n");
    assert_int_equal(chmod(path, 0600), 0);
    reset_counts();
    secret_free(secret_line_read(path, &err));
    assert_no_copies(0);
    folder_remove(folder);
}

TEST(a_growing_secret_buffer_leaves_no_copy)
{
    struct strbuf b = STRBUF_SECRET(1 << 20);

    reset_counts();
    for (size_t i = 0; i < 2000; i++)
        strbuf_adds(&b, MARK);
    strbuf_release(&b);
    assert_true(b.secret);
    assert_no_copies(0);
}

/* ---- the web configuration ---- */

#define CERTIFICATE_COMMAND                                                                        \
    "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3 -subj /CN=a "    \
    "-keyout %s/a.key -out %s/a.pem 2>/dev/null && (echo '" MARK "'; cat %s/a.key) > %s/b.key"

static void make_key(const char *folder)
{
    char command[1024];

    snprintf(command, sizeof(command), CERTIFICATE_COMMAND, folder, folder, folder, folder);
    /* NOLINTNEXTLINE(cert-env33-c,concurrency-mt-unsafe): no thread runs yet. */
    assert_int_equal(system(command), 0);
}

#define OLD_HASH "$2b$04$abcdefghijklmnopqrstuu" MARK "klmnopqrstuvwxyz01234"
#define NEW_HASH "$2b$04$abcdefghijklmnopqrstuuabcdefghijklmnopqrstuvwxyz01234"
#define TLS_AND  "tls_server_config: {cert_file: a.pem, key_file: b.key}\n"

/* Replaces a hash and a key while a connection still uses the old web configuration. */
__attribute__((noinline)) static void replace_hash_and_key(const char *folder, const char *path)
{
    struct error err = {""};
    bool changed;
    struct access_control *g =
        access_control_new(&(struct access_control_options){.path = path}, &err);

    if (!g)
        fail_msg("%s", err.text);
    struct active_web_config *kept = access_control_acquire_config(g, NULL);

    folder_write(folder, "b.key", "");
    folder_rename(folder, "a.key", "b.key");
    folder_replace(folder, "web.yml", TLS_AND "basic_auth_users: {a: '" NEW_HASH "'}\n");
    if (!access_control_reload(g, &changed, &err) || !changed)
        fail_msg("%s", err.text);
    assert_int_equal(kept->config.user_count, 0);
    assert_null(kept->config.key);
    assert_non_null(kept->tls);
    access_control_release_config(g, kept);
    access_control_free(g);
}

TEST(a_replaced_web_configuration_leaves_no_copy)
{
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "web.yml");

    make_key(folder);
    folder_write(folder, "web.yml", TLS_AND "basic_auth_users: {a: '" OLD_HASH "'}\n");
    reset_counts();
    replace_hash_and_key(folder, path);
    assert_no_copies(stack_copies());
    folder_remove(folder);
}

__attribute__((noinline)) static void load_invalid_config(const char *path)
{
    struct error err;

    assert_null(access_control_new(&(struct access_control_options){.path = path}, &err));
    assert_null(strstr(err.text, MARK));
}

TEST(a_refused_web_configuration_leaves_no_copy)
{
    static const char *const texts[] = {
        "basic_auth_users: {a: " MARK "}\n",
        "basic_auth_users: {a: '" OLD_HASH "', b: x}\n",
        "basic_auth_users: {'a:" MARK "': x}\n",
        "basic_auth_users: {a: '" OLD_HASH "'\n",
        "tls_server_config: {cert: a, key: \"" MARK "\"}\n",
        "tls_server_config: {cert: a, key: \"" MARK "\", key_file: x}\n",
    };
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "web.yml");

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        folder_write(folder, "web.yml", texts[i]);
        reset_counts();
        load_invalid_config(path);
        assert_no_copies(stack_copies());
    }
    folder_remove(folder);
}

static size_t discard_body(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

static void configure_password(const char *folder)
{
    struct crypt_data data = {.initialized = 0};
    char text[256];

    snprintf(text, sizeof(text), "basic_auth_users: {a: '%s'}\n",
             crypt_r(MARK, "$2b$04$abcdefghijklmnopqrstuu", &data));
    explicit_bzero(&data, sizeof(data));
    folder_write(folder, "web.yml", text);
}

static long get_status(const char *url, const char *credentials)
{
    CURL *curl = curl_easy_init();
    long status = 0;

    if (!curl)
        abort();
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_USERPWD, credentials);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard_body);
    if (curl_easy_perform(curl) == CURLE_OK)
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_cleanup(curl);
    return status;
}

/* A first login, a cached login, a wrong password, and an unknown user. */
TEST(the_password_of_a_client_leaves_no_copy)
{
    static const char *const address = "127.0.0.1:0";
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "web.yml");
    struct page_store *page_store = page_store_new();
    struct error err;
    char url[128];

    configure_password(folder);
    curl_global_init(CURL_GLOBAL_DEFAULT);
    reset_counts();
    struct access_control *g =
        access_control_new(&(struct access_control_options){.path = path}, &err);
    const struct server_options options = {.addresses = &address,
                                           .address_count = 1,
                                           .telemetry_path = "/metrics",
                                           .access_control = g};
    struct server *server = server_start(&options, page_store, &err);

    snprintf(url, sizeof(url), "http://%s/-/healthy", server_address(server, 0));
    assert_int_equal(get_status(url, "a:" MARK), 200);
    assert_int_equal(get_status(url, "a:" MARK), 200);
    assert_int_equal(get_status(url, "a:wrong " MARK), 401);
    assert_int_equal(get_status(url, "nobody:" MARK), 401);
    server_stop(server);
    access_control_free(g);
    assert_no_copies(0);
    curl_global_cleanup();
    page_store_free(page_store);
    folder_remove(folder);
}

/* ---- kubeconfigs ---- */

#define KUBECONFIG_OF(user)                                                                        \
    "apiVersion: v1\nkind: Config\ncurrent-context: a\n"                                           \
    "contexts: [{name: a, context: {cluster: a, user: a}}]\n"                                      \
    "clusters: [{name: a, cluster: {server: 'https://127.0.0.1:1', proxy-url: 'http://u:" MARK     \
    "@127.0.0.1:1'}}]\nusers: [{name: a, user: " user "}]\n"

static const struct kubeconfig_row {
    const char *title, *text;
} kubeconfigs[] = {
    {"token", KUBECONFIG_OF("{token: " MARK "}")},
    {"quoted_token", KUBECONFIG_OF("{token: \"" MARK "\"}")},
    {"tokens_of_others", KUBECONFIG_OF("{token: x}}, {name: b, user: {token: " MARK "}")},
    {"anchor", KUBECONFIG_OF("{token: &t " MARK ", as: *t}")},
    {"merged", KUBECONFIG_OF("{<<: {token: " MARK "}, as: b}")},
    {"merged_and_overruled", KUBECONFIG_OF("{<<: {token: " MARK "}, token: b}")},
    {"exec",
     KUBECONFIG_OF("{exec: {apiVersion: client.authentication.k8s.io/v1, command: /bin/false, "
                   "interactiveMode: Never, args: [--token=" MARK "], env: [{name: A, value: " MARK
                   "}]}}")},
    {"malformed", KUBECONFIG_OF("{token: " MARK ", a: [") "\n"},
    {"twice", KUBECONFIG_OF("{token: " MARK ", token: " MARK "}")},
    {"another_type", KUBECONFIG_OF("{token: [" MARK "]}")},
    {"no_user", "apiVersion: v1\nkind: Config\nusers: [{name: a, user: {token: " MARK "}}]\n"},
    {"key", KUBECONFIG_OF("{client-certificate-data: eA==, client-key-data: " MARK "}")},
};

__attribute__((noinline)) static void load_kubeconfig(const char *path)
{
    const struct kubeconfig_options options = {.files = path};
    struct rest_config config;
    struct error err = {""};

    if (kubeconfig_load(&options, &config, &err)) {
        struct credentials *c = credentials_new(&config, (const char *const[]){NULL}, 0, &err);

        if (!c)
            fail_msg("%s", err.text);
        credentials_free(c);
        rest_config_release(&config);
    }
    assert_null(strstr(err.text, MARK));
}

TEST_ROWS(a_kubeconfig_leaves_no_copy, kubeconfigs, title)
{
    const struct kubeconfig_row *row = *state;
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "config");

    folder_write(folder, "config", row->text);
    assert_int_equal(chmod(path, 0600), 0);
    reset_counts();
    load_kubeconfig(path);
    assert_no_copies(stack_copies());
    folder_remove(folder);
}

__attribute__((noinline)) static void read_answer(const char *json)
{
    struct exec_credential credential = {.token = NULL};
    struct error err;

    if (exec_credential_parse(json, strlen(json), "client.authentication.k8s.io/v1", &credential,
                              &err))
        exec_credential_release(&credential);
}

TEST(the_output_of_an_exec_plugin_leaves_no_copy)
{
    static const char head[] =
        "{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",";
    static const char *const rests[] = {"\"status\":{\"token\":\"" MARK "\"}}",
                                        "\"status\":{\"token\":\"" MARK "\"},[",
                                        "\"status\":{\"clientKeyData\":\"" MARK "\"}}"};
    static char json[256];

    for (size_t i = 0; i < ARRAY_LEN(rests); i++) {
        snprintf(json, sizeof(json), "%s%s", head, rests[i]);
        secret_wipe_stack();
        reset_counts();
        read_answer(json);
        assert_no_copies(0);
    }
}

/* ---- requests ---- */

__attribute__((noinline)) static void apply_to_request(const char *folder, bool token)
{
    CLEANUP(free_cleanup) char *path = folder_path(folder, "secret");
    static char none[] = "", user[] = "a";
    const struct options options = {
        .alertmanager_user = token ? none : user,
        .alertmanager_password_file = token ? none : path,
        .alertmanager_token_file = token ? path : none,
        .alertmanager_ca_file = none,
    };
    static const char *const environment[] = {"HTTPS_PROXY=http://u:" MARK "@127.0.0.1:1", NULL};
    struct curl_slist *headers = NULL;
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(1024);
    struct alertmanager_access access;
    struct error err;

    assert_true(
        alertmanager_access_init(&access, &options, "https://192.0.2.1", environment, &err));
    CURL *easy = alertmanager_access_request(&access, "/", &body, &headers, &err);
    assert_non_null(easy);
    curl_easy_cleanup(easy);
    http_request_free_headers(headers);
    alertmanager_access_release(&access);
}

TEST(a_request_to_an_alertmanager_leaves_no_copy)
{
    char *folder = folder_make();
    CLEANUP(free_cleanup) char *path = folder_path(folder, "secret");

    folder_write(folder, "secret", MARK "\n");
    assert_int_equal(chmod(path, 0600), 0);
    for (int token = 0; token < 2; token++) {
        reset_counts();
        apply_to_request(folder, token);
        assert_no_copies(0);
    }
    folder_remove(folder);
}

/* ---- headers ---- */

TEST(a_header_value_is_bounded_and_has_no_control_characters)
{
    static const struct {
        const char *text;
        bool fits;
    } rows[] = {
        {"", false},
        {"a b~", true},
        {"\xc3\xbc", true},
        {"\x80\xff", true},
        {"a\n", false},
        {"a\x1f", false},
        {"a\x7f"
         "b",
         false},
        {"\t", false},
    };
    CLEANUP(free_cleanup) char *longest = xcalloc(SECRET_HEADER_MAX + 2, 1);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (secret_fits_header(rows[i].text) != rows[i].fits)
            fail_msg("row %zu", i);
    }
    memset(longest, 'a', SECRET_HEADER_MAX);
    assert_true(secret_fits_header(longest));
    longest[SECRET_HEADER_MAX] = 'a';
    assert_false(secret_fits_header(longest));
}
