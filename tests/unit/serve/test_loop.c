/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/loop.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/stat.h>

#include "exporter/web/api.h"
#include "exporter/web/page_index.h"
#include "tests/unit/http_client.h"
#include "tests/unit/suite.h"

/*
 * Tests turn a loop that has manifests in a temporary folder and a server on a free port. Raised
 * signals stay pending for the loop, which blocks them. Waits are limited by TURNS_MAX.
 */

enum { TURNS_MAX = 2000, PATH_MAX_BYTES = 256 };

struct bench {
    char folder[64];
    char manifests[PATH_MAX_BYTES];
    char config[PATH_MAX_BYTES];
    const char *argv[8];
    int argc;
    struct log log;
    struct loop *loop;
};

static const char config_map[] = "apiVersion: v1\n"
                                 "kind: ConfigMap\n"
                                 "metadata: {name: settings, namespace: default}\n";
static const char policy[] = "apiVersion: policy.karmada.io/v1alpha1\n"
                             "kind: PropagationPolicy\n"
                             "metadata: {name: all, namespace: default}\n"
                             "spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n";

static const char one_unbound[] =
    "karmada_templates{api_group=\"\",kind=\"ConfigMap\",state=\"unbound\"} 1\n";
static const char one_pending[] =
    "karmada_templates{api_group=\"\",kind=\"ConfigMap\",state=\"pending\"} 1\n";

/* Replaces the file by a rename, as editors do. */
static void write_file(const char *path, const char *text)
{
    char temporary[PATH_MAX_BYTES];

    snprintf(temporary, sizeof(temporary), "%s~", path);
    FILE *file = fopen(temporary, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(temporary, path), 0);
}

static void write_manifest(const struct bench *b, const char *name, const char *text)
{
    char path[PATH_MAX_BYTES + 32];

    snprintf(path, sizeof(path), "%s/%s", b->manifests, name);
    write_file(path, text);
}

static void remove_manifest(const struct bench *b, const char *name)
{
    char path[PATH_MAX_BYTES + 32];

    snprintf(path, sizeof(path), "%s/%s", b->manifests, name);
    assert_int_equal(unlink(path), 0);
}

static struct loop *start_loop(struct bench *b, struct error *err)
{
    const struct loop_settings settings = {
        .argc = b->argc, .argv = b->argv, .log = &b->log, .refresh_ms = 50};

    return loop_new(&settings, err);
}

static int set_up(void **state)
{
    struct bench *b = xcalloc(1, sizeof(*b));
    const char *argv[] = {"serve",      "--web.listen-address", "127.0.0.1:0", "--manifests",
                          b->manifests, "--config.file",        b->config};

    snprintf(b->folder, sizeof(b->folder), "/tmp/test_loop.XXXXXX");
    if (!mkdtemp(b->folder))
        return -1;
    snprintf(b->manifests, sizeof(b->manifests), "%s/manifests", b->folder);
    snprintf(b->config, sizeof(b->config), "%s/config.yaml", b->folder);
    if (mkdir(b->manifests, 0700) < 0)
        return -1;
    memcpy(b->argv, argv, sizeof(argv));
    b->argc = (int)ARRAY_LEN(argv);
    b->log = (struct log){
        .level = LOG_LEVEL_ERROR, .format = LOG_FORMAT_LOGFMT, .stream = fopen("/dev/null", "we")};
    write_file(b->config, "rules.grace: 5m\n");
    write_manifest(b, "a.yaml", config_map);
    write_manifest(b, "b.yaml", policy);
    *state = b;
    return 0;
}

static int tear_down(void **state)
{
    struct bench *b = *state;
    char command[PATH_MAX_BYTES];

    loop_free(b->loop);
    snprintf(command, sizeof(command), "rm -rf '%s'", b->folder);
    fclose(b->log.stream);
    int status = system(command);

    free(b);
    return status;
}

/* Returns the answer to a GET request, including its headers. The caller frees the answer. */
static char *get_answer(const struct bench *b, const char *path)
{
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    char request[256];
    size_t len;

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
             path);
    assert_true(http_talk(loop_address(b->loop, 0), request, &answer));
    return strbuf_take(&answer, &len);
}

static bool answer_contains(const struct bench *b, const char *path, const char *wanted)
{
    CLEANUP(free_cleanup) char *answer = get_answer(b, path);

    return strstr(answer, wanted) != NULL;
}

static void turn_loop(const struct bench *b)
{
    struct error err = {""};

    assert_int_equal(loop_turn(b->loop, &err), LOOP_CONTINUES);
}

static void turn_until(const struct bench *b, const char *path, const char *wanted)
{
    for (unsigned i = 0; i < TURNS_MAX; i++) {
        if (answer_contains(b, path, wanted))
            return;
        turn_loop(b);
    }
    CLEANUP(free_cleanup) char *answer = get_answer(b, path);

    assert_string_equal(answer, wanted);
}

/* Does the same as get_answer(), but turns the loop, which must answer the request. */
static char *get_api_answer(const struct bench *b, const char *path)
{
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    int fd = http_connect(loop_address(b->loop, 0));
    char request[256], chunk[4096];
    ssize_t n = -1;
    size_t len;

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
             path);
    assert_true(http_send(fd, request, strlen(request)));
    while (n != 0) {
        turn_loop(b);
        while ((n = recv(fd, chunk, sizeof(chunk), MSG_DONTWAIT)) > 0)
            strbuf_add(&answer, chunk, (size_t)n);
    }
    close(fd);
    return strbuf_take(&answer, &len);
}

/* Turns the loop until it answers a request with a text that contains `wanted`. */
static void await_api_answer(const struct bench *b, const char *path, const char *wanted)
{
    for (unsigned i = 0; i < TURNS_MAX; i++) {
        CLEANUP(free_cleanup) char *answer = get_api_answer(b, path);

        if (strstr(answer, wanted))
            return;
    }
    fail_msg("%s never has %s", path, wanted);
}

static void start_until_ready(struct bench *b)
{
    struct error err = {""};

    b->loop = start_loop(b, &err);
    assert_string_equal(err.text, "");
    assert_non_null(b->loop);
    turn_until(b, "/-/ready", "HTTP/1.1 200");
}

TEST_WITH(loop_is_not_ready_before_the_first_read, set_up, tear_down)
{
    struct bench *b = *state;
    struct error err = {""};

    b->loop = start_loop(b, &err);
    assert_non_null(b->loop);
    assert_true(answer_contains(b, "/-/ready", "HTTP/1.1 503"));
    assert_true(answer_contains(b, "/-/healthy", "HTTP/1.1 200"));
    assert_true(answer_contains(b, "/metrics", "\nkarmada_policy_exporter_up 0\n"));
    assert_false(answer_contains(b, "/metrics", "\nkarmada_templates"));
    turn_until(b, "/-/ready", "HTTP/1.1 200");
    assert_true(answer_contains(b, "/metrics", "\nkarmada_policy_exporter_up 1\n"));
    assert_true(answer_contains(b, "/metrics", one_unbound));
}

TEST_WITH(changed_manifest_changes_the_metrics, set_up, tear_down)
{
    struct bench *b = *state;

    start_until_ready(b);
    remove_manifest(b, "b.yaml");
    turn_until(b, "/metrics", one_pending);
    write_manifest(b, "c.yaml", policy);
    turn_until(b, "/metrics", one_unbound);
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_manifest_files 2\n");
}

TEST_WITH(explain_endpoint_answers_200_404_and_400, set_up, tear_down)
{
    struct bench *b = *state;

    start_until_ready(b);
    CLEANUP(free_cleanup)
    char *found =
        get_api_answer(b, "/api/v1/explain?kind=configmap&namespace=default&name=settings");

    assert_memory_equal(found, "HTTP/1.1 200 ", 13);
    assert_non_null(strstr(found, "\r\nCache-Control: no-store\r\n"));
    assert_non_null(strstr(found, "\"state\":\"unbound\""));
    CLEANUP(free_cleanup)
    char *missing =
        get_api_answer(b, "/api/v1/explain?kind=configmap&namespace=default&name=setting");

    assert_memory_equal(missing, "HTTP/1.1 404 ", 13);
    assert_non_null(strstr(missing, "{\"error\":\"there is no 'configmap/default/setting'"));
    CLEANUP(free_cleanup)
    char *slash = get_api_answer(b, "/api/v1/explain?kind=cm&name=default%2fsettings");

    assert_memory_equal(slash, "HTTP/1.1 400 ", 13);
    assert_non_null(strstr(slash, "must not contain '/'"));
}

TEST_WITH(lists_are_answered_while_manifests_change, set_up, tear_down)
{
    struct bench *b = *state;
    static const char *const paths[] = {
        "/api/v1/templates",       "/api/v1/report",       "/api/v1/policies?limit=1",
        "/api/v1/pending?limit=1", "/api/v1/openapi.json", "/api/v1/templates?format=csv",
    };

    start_until_ready(b);
    for (unsigned i = 0; i < 60; i++) {
        CLEANUP(free_cleanup)
        char *answer = get_api_answer(b, paths[i % ARRAY_LEN(paths)]);

        assert_memory_equal(answer, "HTTP/1.1 200 ", 13);
        write_manifest(b, i % 2 ? "extra.yaml" : "policy.yaml", i % 4 < 2 ? policy : config_map);
        if (i == 30)
            assert_int_equal(kill(getpid(), SIGHUP), 0);
    }
    CLEANUP(free_cleanup)
    char *gone = get_api_answer(b, "/api/v1/templates?continue=0-0-0-0");

    assert_memory_equal(gone, "HTTP/1.1 410 ", 13);
}

/* ---- a client that reads lists while the loop changes the objects ---- */

enum {
    LISTED = 300,     /* Number of ConfigMaps. */
    LIST_ROUNDS = 16, /* Rounds over all paths. */
    PAGE_ROWS = 120,
    PAGES_MAX = 4,
    LISTED_MAX_BYTES = 128 * 1024,
    TOKEN_MAX_BYTES = 128,
};

struct list_reader {
    const char *address;
    atomic_bool ended;
    unsigned continued;          /* Number of pages read after the first ones of their lists. */
    char refused[LOG_VALUE_MAX]; /* Path with a status other than 200 and 410; else "". */
};

/*
 * Requests the path. Stores the token of the next page in `token`; "" after the last page. Stores
 * the path in r->refused if the status is neither 200 nor 410.
 */
static void read_page(struct list_reader *r, const char *path, char token[TOKEN_MAX_BYTES])
{
    static const char mark[] = "continue=";
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    char request[LOG_VALUE_MAX * 2];

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
             path);
    if (!http_talk(r->address, request, &answer) ||
        (strncmp(answer.data, "HTTP/1.1 200 ", 13) != 0 &&
         strncmp(answer.data, "HTTP/1.1 410 ", 13) != 0))
        snprintf(r->refused, sizeof(r->refused), "%s", path);

    const char *next = strstr(answer.data, mark);

    token[0] = '\0';
    if (next)
        snprintf(token, TOKEN_MAX_BYTES, "%.*s",
                 (int)strspn(next + strlen(mark), "0123456789abcdef-"), next + strlen(mark));
}

static void read_list(struct list_reader *r, const struct endpoint *endpoint)
{
    char path[LOG_VALUE_MAX], token[TOKEN_MAX_BYTES];

    if (endpoint->needs == NEEDS_NOTHING || !(endpoint->known & PARAMETER_BIT(LIMIT))) {
        read_page(r, endpoint->path, token);
        return;
    }
    snprintf(path, sizeof(path), "%s?limit=%d", endpoint->path,
             endpoint->needs == NEEDS_ROWS ? PAGE_ROWS : 1);
    read_page(r, path, token);
    for (unsigned i = 1; i < PAGES_MAX && *token; i++) {
        char next[LOG_VALUE_MAX + TOKEN_MAX_BYTES + 16];

        snprintf(next, sizeof(next), "%s&continue=%s", path, token);
        read_page(r, next, token);
        r->continued++;
    }
}

/* Reads some pages and every endpoint that the API answers without the live evaluation. */
static void *read_lists(void *context)
{
    static const char *const pages[] = {"/exporter",  "/metrics",   "/readyz?verbose", "/templates",
                                        "/templates", "/templates", "/templates"};
    struct list_reader *r = context;
    char token[TOKEN_MAX_BYTES];

    for (unsigned round = 0; round < LIST_ROUNDS; round++) {
        for (unsigned i = 0; i < ENDPOINT_COUNT; i++) {
            if ((endpoints[i].needs == NEEDS_NOTHING || endpoints[i].needs >= NEEDS_LINES) &&
                endpoints[i].required == 0)
                read_list(r, &endpoints[i]);
        }
        for (size_t i = 0; i < ARRAY_LEN(pages); i++)
            read_page(r, pages[i], token);
    }
    atomic_store(&r->ended, true);
    return NULL;
}

/* Writes LISTED ConfigMaps with a label of value `number`. */
static void write_config_maps(const struct bench *b, unsigned number)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(LISTED_MAX_BYTES);

    for (unsigned i = 0; i < LISTED; i++)
        strbuf_addf(&text,
                    "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings-%u, "
                    "namespace: default, labels: {number: '%u', "
                    "propagationpolicy.karmada.io/namespace: default, "
                    "propagationpolicy.karmada.io/name: policy-%u}}\n",
                    i, number, i % 2);
    assert_true(strbuf_ok(&text));
    write_manifest(b, "many.yaml", text.data);
}

static void write_policy(const struct bench *b, unsigned number)
{
    char text[1024], name[32];

    snprintf(name, sizeof(name), "policy-%u.yaml", number % 2);
    snprintf(text, sizeof(text),
             "apiVersion: policy.karmada.io/v1alpha1\nkind: PropagationPolicy\n"
             "metadata: {name: policy-%u, namespace: default, labels: {number: '%u'}}\n"
             "spec: {resourceSelectors: [{apiVersion: v1, kind: ConfigMap}]}\n",
             number % 2, number);
    write_manifest(b, name, text);
}

/*
 * Adds or removes a ConfigMap of another API group and one in a namespace of its own, so that
 * entries, partitions and the ambiguity of the kind come and go.
 */
static void write_passing_objects(const struct bench *b, unsigned number)
{
    char text[512];

    snprintf(text, sizeof(text),
             "apiVersion: example.com/v1\nkind: ConfigMap\n"
             "metadata: {name: settings-0, namespace: default}\n"
             "---\napiVersion: v1\nkind: ConfigMap\n"
             "metadata: {name: settings-0, namespace: passing-%u}\n",
             number);
    write_manifest(b, "passing.yaml", number % 2 ? text : "");
}

/*
 * The worker thread answers lists of rows, and the later pages of all lists, while the loop changes
 * the store. ThreadSanitizer reports data that both threads access.
 */
TEST_WITH(lists_read_no_data_that_the_loop_writes, set_up, tear_down)
{
    struct bench *b = *state;
    struct list_reader reader = {.continued = 0};
    pthread_t thread;

    write_config_maps(b, 0);
    write_policy(b, 0);
    start_until_ready(b);
    reader.address = loop_address(b->loop, 0);
    assert_int_equal(pthread_create(&thread, NULL, read_lists, &reader), 0);
    for (unsigned i = 0; !atomic_load(&reader.ended); i++) {
        write_config_maps(b, i);
        write_policy(b, i);
        write_passing_objects(b, i);
        if (i % 16 == 15)
            assert_int_equal(kill(getpid(), SIGHUP), 0);
        for (unsigned k = 0; k < 8; k++)
            turn_loop(b);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_string_equal(reader.refused, "");
    assert_true(reader.continued > 0);
}

/* ---- clients that keep requests in the queue ---- */

enum { FLOODERS = 8 };

struct flooder {
    const char *address;
    const char *path;
    atomic_bool ended;
    atomic_uint running; /* Number of threads that wait for an answer. */
};

static void *send_requests(void *context)
{
    struct flooder *f = context;
    char request[256];

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
             f->path);
    atomic_fetch_add(&f->running, 1);
    while (!atomic_load(&f->ended)) {
        CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);

        (void)!http_talk(f->address, request, &answer);
    }
    atomic_fetch_sub(&f->running, 1);
    return NULL;
}

static struct flood_case {
    const char *name;
    const char *path;
} flood_cases[] = {
    {"lists that read the evaluation", "/policies"},
    {"lists of rows", "/templates"},
    {"an endpoint without data", "/api/v1/openapi.json"},
};

/* Clients have requests in the queue at any time: the loop reads changes and reloads anyway. */
TEST_ROWS(requests_delay_no_change_and_no_reload, flood_cases, name)
{
    const struct flood_case *c = *state;
    struct flooder flooder = {.path = c->path};
    pthread_t threads[FLOODERS];
    void *own;

    assert_int_equal(set_up(&own), 0);
    struct bench *b = own;

    write_config_maps(b, 0);
    start_until_ready(b);
    flooder.address = loop_address(b->loop, 0);
    for (size_t i = 0; i < FLOODERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, send_requests, &flooder), 0);
    remove_manifest(b, "a.yaml");
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_manifest_files 2\n");
    write_file(b->config, "skipped-propagating-namespaces: def.*\n");
    raise(SIGHUP);
    turn_until(b, "/metrics", "\nkarmada_templates_ignored{reason=\"skipped_namespace\"} 300\n");
    atomic_store(&flooder.ended, true);
    while (atomic_load(&flooder.running) > 0)
        turn_loop(b);
    for (size_t i = 0; i < FLOODERS; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    assert_int_equal(tear_down(&own), 0);
}

TEST_WITH(broken_manifest_is_counted_and_keeps_its_objects, set_up, tear_down)
{
    struct bench *b = *state;

    start_until_ready(b);
    write_manifest(b, "b.yaml", "a: [\n");
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_manifest_errors 1\n");
    assert_true(answer_contains(b, "/metrics", one_unbound));
    turn_until(b, "/exporter", "b.yaml:2:1");
    await_api_answer(b, "/", "b.yaml");
    write_manifest(b, "b.yaml", policy);
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_manifest_errors 0\n");
}

TEST_WITH(own_metrics_are_refreshed_without_changes, set_up, tear_down)
{
    struct bench *b = *state;

    start_until_ready(b);
    await_api_answer(b, "/", "No open problems.");
    turn_until(b, "/metrics",
               "\nkarmada_policy_exporter_http_requests_total{handler=\"index\",code=\"200\"} 1\n");
}

TEST_WITH(reload_applies_changed_options, set_up, tear_down)
{
    struct bench *b = *state;

    start_until_ready(b);
    write_file(b->config, "skipped-propagating-namespaces: def.*\n");
    raise(SIGHUP);
    turn_until(b, "/metrics", "\nkarmada_templates_ignored{reason=\"skipped_namespace\"} 1\n");
    assert_true(answer_contains(b, "/metrics",
                                "\nkarmada_policy_exporter_config_last_reload_successful 1\n"));
}

/* Invalid configurations; different stages of a reload reject them. */
static struct reload_case {
    const char *name;
    const char *config;
} reload_cases[] = {
    {"reload with an unknown key", "rules.graze: 5m\n"},
    {"reload with an invalid value", "rules.takeover: sometimes\n"},
    {"reload with an invalid expression", "skipped-propagating-namespaces: '['\n"},
    {"reload with invalid YAML", "a: [\n"},
};

TEST_ROWS(failed_reload_keeps_the_running_state, reload_cases, name)
{
    struct reload_case *c = *state;
    void *own;

    assert_int_equal(set_up(&own), 0);
    struct bench *b = own;

    start_until_ready(b);
    write_file(b->config, c->config);
    raise(SIGHUP);
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_config_last_reload_successful 0\n");
    assert_true(answer_contains(b, "/metrics", one_unbound));
    await_api_answer(b, "/", "The last reload failed");
    assert_true(answer_contains(b, "/-/ready", "HTTP/1.1 200"));
    remove_manifest(b, "b.yaml");
    turn_until(b, "/metrics", one_pending);
    write_file(b->config, "rules.grace: 1m\n");
    raise(SIGHUP);
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_config_last_reload_successful 1\n");
    assert_int_equal(tear_down(&own), 0);
}

TEST_WITH(reload_without_manifests_keeps_the_running_state, set_up, tear_down)
{
    struct bench *b = *state;

    start_until_ready(b);
    remove_manifest(b, "a.yaml");
    remove_manifest(b, "b.yaml");
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_manifest_files 0\n");
    assert_int_equal(rmdir(b->manifests), 0);
    raise(SIGHUP);
    turn_until(b, "/metrics", "\nkarmada_policy_exporter_config_last_reload_successful 0\n");
    assert_true(answer_contains(b, "/-/ready", "HTTP/1.1 200"));
}

static struct signal_case {
    const char *name;
    int number;
} signal_cases[] = {
    {"SIGTERM stops the loop", SIGTERM},
    {"SIGINT stops the loop", SIGINT},
};

TEST_ROWS(signal_stops_the_loop, signal_cases, name)
{
    const struct signal_case *c = *state;
    struct error err = {""};
    sigset_t before;
    sigset_t after;
    void *own;

    assert_int_equal(set_up(&own), 0);
    struct bench *b = own;

    pthread_sigmask(SIG_SETMASK, NULL, &before);
    start_until_ready(b);
    raise(c->number);
    assert_int_equal(loop_turn(b->loop, &err), LOOP_STOPPED);
    loop_free(b->loop);
    b->loop = NULL;
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    assert_int_equal(sigismember(&after, c->number), sigismember(&before, c->number));
    assert_int_equal(tear_down(&own), 0);
}

TEST_WITH(missing_manifest_path_fails_the_first_read, set_up, tear_down)
{
    struct bench *b = *state;
    struct error err = {""};
    enum loop_result step = LOOP_CONTINUES;

    b->argv[4] = "/nonexistent";
    b->loop = start_loop(b, &err);
    assert_non_null(b->loop);
    while (step == LOOP_CONTINUES)
        step = loop_turn(b->loop, &err);
    assert_int_equal(step, LOOP_FAILED);
    assert_non_null(strstr(err.text, "/nonexistent"));
}

static struct start_case {
    const char *name;
    const char *address;
    const char *config;
    const char *text;
} start_cases[] = {
    {"invalid address", "nowhere", "", "'nowhere'"},
    {"unknown configuration key", "127.0.0.1:0", "x: y\n", "unknown option 'x'"},
    {"invalid regular expression", "127.0.0.1:0", "skipped-propagating-namespaces: '['\n", "["},
};

TEST_ROWS(invalid_option_prevents_the_start, start_cases, name)
{
    const struct start_case *c = *state;
    struct error err = {""};
    void *own;

    assert_int_equal(set_up(&own), 0);
    struct bench *b = own;

    b->argv[2] = c->address;
    write_file(b->config, c->config);
    b->loop = start_loop(b, &err);
    assert_null(b->loop);
    if (!strstr(err.text, c->text))
        assert_string_equal(err.text, c->text);
    assert_int_equal(tear_down(&own), 0);
}
