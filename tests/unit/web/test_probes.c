/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/system/platform.h"
#include "exporter/web/server.h"
#include "tests/unit/http_client.h"
#include "tests/unit/suite.h"

/* A server with a heartbeat of the event loop. */
struct probed {
    struct heartbeat heartbeat;
    struct page_store *page_store;
    struct server *server;
};

static void start_server(struct probed *p, int64_t age_ms)
{
    const char *address = "127.0.0.1:0";
    const struct server_options options = {
        .addresses = &address,
        .address_count = 1,
        .telemetry_path = "/metrics",
        .heartbeat = &p->heartbeat,
    };
    struct error err;

    heartbeat_update(&p->heartbeat, platform_steady_ms() - age_ms);
    p->page_store = page_store_new();
    p->server = server_start(&options, p->page_store, &err);
    assert_non_null(p->server);
}

static void stop_server(struct probed *p)
{
    server_stop(p->server);
    page_store_free(p->page_store);
}

static void get(const struct probed *p, const char *path, struct strbuf *answer)
{
    char request[128];

    snprintf(request, sizeof(request), "GET %s HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
             path);
    strbuf_reset(answer);
    assert_true(http_talk(server_address(p->server, 0), request, answer));
}

static struct health_case {
    const char *name;
    int64_t age_ms;
    const char *status;
    const char *text;
} health_cases[] = {
    {"healthy with a new heartbeat", 0, "HTTP/1.1 200 ", "karmada-policy-exporter is Healthy.\n"},
    {"healthy with a heartbeat of 5 s ago", 5000, "HTTP/1.1 200 ",
     "karmada-policy-exporter is Healthy.\n"},
    {"unhealthy with a heartbeat of 1 h ago", 3600 * 1000, "HTTP/1.1 503 ",
     "karmada-policy-exporter is not healthy: its event loop is blocked for 360"},
};

TEST_ROWS(health_endpoints_follow_the_heartbeat, health_cases, name)
{
    static const char *const paths[] = {"/-/healthy", "/livez", "/healthz"};
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    const struct health_case *c = *state;
    struct probed p;

    start_server(&p, c->age_ms);
    for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
        get(&p, paths[i], &answer);
        assert_memory_equal(answer.data, c->status, strlen(c->status));
        assert_memory_equal(http_body(&answer), c->text, strlen(c->text));
    }
    stop_server(&p);
}

TEST(ready_endpoints_return_the_last_state_and_text)
{
    static const char *const paths[] = {"/-/ready", "/readyz"};
    CLEANUP(strbuf_release) struct strbuf answer = STRBUF_INIT(HTTP_ANSWER_MAX);
    struct probed p;

    start_server(&p, 0);
    for (int ready = 1; ready >= 0; ready--) {
        char text[] = "As said:\nin two lines\n";

        server_set_ready(p.server, ready == 1, text);
        memset(text, '?', sizeof(text) - 1);
        for (size_t i = 0; i < ARRAY_LEN(paths); i++) {
            get(&p, paths[i], &answer);
            assert_memory_equal(answer.data, ready ? "HTTP/1.1 200 " : "HTTP/1.1 503 ", 13);
            assert_int_equal(strstr(answer.data, "\r\nRetry-After: 5\r\n") == NULL, ready);
            assert_string_equal(http_body(&answer), "As said:\nin two lines\n");
        }
    }
    stop_server(&p);
}
