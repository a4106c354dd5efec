/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/alert_sender.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/system/platform.h"
#include "metrics/base/json.h"
#include "metrics/rules/engine.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum {
    SECOND = 1000,
    MINUTE = 60 * SECOND,
    REQUEST_MAX_BYTES = 8 * 1024 * 1024,
    POSTS_MAX = 64,
    PATIENCE_MS = 20 * SECOND,
};

/* ---- an Alertmanager on a thread ---- */

/* Accepts every POST, and responds to GET with `earlier`. */
struct fake_alertmanager {
    int fd;
    char url[64];
    const char *earlier;
    pthread_t thread;
    pthread_mutex_t lock; /* Protects the members below. */
    cJSON *posts[POSTS_MAX];
    size_t count;
    size_t reads; /* Number of GET requests. */
    bool stopping;
};

/* Reads a request with its body, if Content-Length announces one. */
static void read_request(int fd, struct strbuf *request)
{
    char chunk[16384];
    ssize_t n;

    while ((n = recv(fd, chunk, sizeof(chunk), 0)) > 0) {
        strbuf_add(request, chunk, (size_t)n);
        const char *end = strstr(request->data, "\r\n\r\n");
        const char *length = strcasestr(request->data, "Content-Length: ");

        if (end && (!length || length > end ||
                    strlen(end + 4) >= (size_t)strtod(length + strlen("Content-Length: "), NULL)))
            return;
    }
}

static void respond(struct fake_alertmanager *f, int fd)
{
    CLEANUP(strbuf_release) struct strbuf request = STRBUF_INIT(REQUEST_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf response = STRBUF_INIT(REQUEST_MAX_BYTES);
    const char *body = "";
    struct error err;

    read_request(fd, &request);
    pthread_mutex_lock(&f->lock);
    if (strncmp(request.data, "GET ", 4) == 0) {
        assert_non_null(strstr(request.data, "/api/v2/alerts?filter=product%3D%22karmada"));
        body = f->earlier;
        f->reads++;
    } else if (strncmp(request.data, "POST ", 5) == 0) {
        const char *json = strstr(request.data, "\r\n\r\n") + 4;

        f->posts[f->count++ % POSTS_MAX] = json_parse(json, strlen(json), NULL, &err);
    }
    pthread_mutex_unlock(&f->lock);
    strbuf_addf(&response, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
                strlen(body), body);
    send(fd, response.data, response.len, MSG_NOSIGNAL);
}

static void *serve(void *context)
{
    struct fake_alertmanager *f = context;

    for (;;) {
        int fd = accept(f->fd, NULL, NULL);

        pthread_mutex_lock(&f->lock);
        bool stopping = f->stopping;

        pthread_mutex_unlock(&f->lock);
        if (fd >= 0 && !stopping)
            respond(f, fd);
        if (fd >= 0)
            close(fd);
        if (stopping)
            return NULL;
    }
}

/* Listens on a free port and stores its URL. */
static int listen_locally(char url[static 64])
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(url, 64, "http://127.0.0.1:%d", ntohs(address.sin_port));
    return fd;
}

static void fake_start(struct fake_alertmanager *f, const char *earlier)
{
    *f = (struct fake_alertmanager){.earlier = earlier};
    f->fd = listen_locally(f->url);
    pthread_mutex_init(&f->lock, NULL);
    assert_int_equal(pthread_create(&f->thread, NULL, serve, f), 0);
}

static void fake_stop(struct fake_alertmanager *f)
{
    pthread_mutex_lock(&f->lock);
    f->stopping = true;
    pthread_mutex_unlock(&f->lock);
    shutdown(f->fd, SHUT_RDWR);
    pthread_join(f->thread, NULL);
    close(f->fd);
    for (size_t i = 0; i < f->count && i < POSTS_MAX; i++)
        cJSON_Delete(f->posts[i]);
    pthread_mutex_destroy(&f->lock);
}

static size_t post_count(struct fake_alertmanager *f)
{
    pthread_mutex_lock(&f->lock);
    size_t count = f->count;

    pthread_mutex_unlock(&f->lock);
    return count;
}

/* ---- the sender in virtual time ---- */

struct lab {
    struct fake_alertmanager fake;
    struct world world;
    struct problem_options options;
    struct evaluation evaluation;
    struct options flags;
    struct log log;
    struct alert_sender *sender;
    int64_t steady_ms; /* Start of the sender, on both clocks. */
    int64_t clock_ms;
};

#define EARLIER                                                                                    \
    "[{\"labels\":{\"product\":\"karmada-policy-exporter\",\"job\":\"karmada-policy-exporter\","   \
    "\"severity\":\"warning\",\"alertname\":\"KarmadaNotPropagated\","                             \
    "\"problem\":\"not_propagated\",\"reason\":\"stuck\",\"namespace\":\"shop\"},"                 \
    "\"annotations\":{\"summary\":\"old\"},\"startsAt\":\"2025-12-31T23:00:00.500Z\"}]"

static void lab_start(struct lab *lab, const char *earlier)
{
    struct alert_sender_settings settings = {.site_url = "", .environment = platform_environment()};
    struct error err;

    *lab = (struct lab){.log = {.level = LOG_LEVEL_NONE, .stream = stderr}};
    fake_start(&lab->fake, earlier);
    world_init(&lab->world, &rules_options_default, 1);
    problem_settings_reset(&lab->options.settings);
    lab->options.snapshot = true;
    world_run(&lab->world, platform_now_ms());
    engine_judge_problems(lab->world.engine, &lab->options);
    world_run(&lab->world, platform_now_ms());
    lab->evaluation = (struct evaluation){.engine = lab->world.engine, .caught_up = true};
    options_init(&lab->flags);
    text_list_add(&lab->flags.alertmanager_urls, lab->fake.url);
    settings.options = &lab->flags;
    settings.log = &lab->log;
    lab->sender = alert_sender_new(&settings, &err);
    assert_non_null(lab->sender);
    lab->steady_ms = platform_steady_ms();
    lab->clock_ms = platform_now_ms();
}

static void lab_stop(struct lab *lab)
{
    alert_sender_free(lab->sender);
    fake_stop(&lab->fake);
    options_release(&lab->flags);
    world_release(&lab->world);
}

/* Runs one turn `ms` after the start; without an evaluation unless `synced`. */
static void turn(struct lab *lab, bool synced, int64_t ms)
{
    alert_sender_turn(lab->sender, synced ? &lab->evaluation : NULL, lab->steady_ms + ms,
                      lab->clock_ms + ms);
}

/* Repeats the turn until the number of requests to post alerts is `count`. */
static void turn_until(struct lab *lab, bool synced, int64_t ms, size_t count)
{
    int64_t until_ms = platform_steady_ms() + PATIENCE_MS;

    while (post_count(&lab->fake) < count && platform_steady_ms() < until_ms) {
        turn(lab, synced, ms);
        usleep(1000);
    }
    assert_int_equal(post_count(&lab->fake), count);
}

/* Asserts that the turn sends nothing. */
static void turn_without_post(struct lab *lab, bool synced, int64_t ms)
{
    size_t count = post_count(&lab->fake);

    turn(lab, synced, ms);
    usleep(50 * 1000);
    assert_int_equal(post_count(&lab->fake), count);
}

/* Adds the names of the alerts in the last request, each followed by a blank. */
static void add_last_post(struct lab *lab, struct strbuf *names)
{
    const cJSON *alert;

    pthread_mutex_lock(&lab->fake.lock);
    if (lab->fake.count > 0) {
        cJSON_ArrayForEach (alert, lab->fake.posts[lab->fake.count - 1])
            strbuf_addf(names, "%s ", json_str(json_get(alert, "labels"), "alertname", "?"));
    }
    pthread_mutex_unlock(&lab->fake.lock);
}

/* Asserts the names in the format of add_last_post(). */
static void assert_last_post(struct lab *lab, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(REQUEST_MAX_BYTES);

    add_last_post(lab, &names);
    assert_string_equal(names.data, wanted);
}

/*
 * Repeats the turn at the start until the last request has these names. The sender asks for the
 * earlier alerts and sends its first request at the same time, and sends again after the response:
 * the number of requests until then is one or two.
 */
static void turn_until_last_post(struct lab *lab, const char *wanted)
{
    int64_t until_ms = platform_steady_ms() + PATIENCE_MS;
    bool equal = false;

    while (!equal && platform_steady_ms() < until_ms) {
        CLEANUP(strbuf_release) struct strbuf names = STRBUF_INIT(REQUEST_MAX_BYTES);

        turn(lab, true, 0);
        usleep(1000);
        add_last_post(lab, &names);
        equal = names.data && strcmp(names.data, wanted) == 0;
    }
    assert_last_post(lab, wanted);
}

/* Repeats the turn without an evaluation until the sender has taken the earlier alerts. */
static void turn_until_earlier_are_taken(struct lab *lab)
{
    int64_t until_ms = platform_steady_ms() + PATIENCE_MS;
    int64_t due_ms = alert_sender_due(lab->sender);

    while (alert_sender_due(lab->sender) == due_ms && platform_steady_ms() < until_ms) {
        turn(lab, false, 0);
        usleep(1000);
    }
    assert_true(alert_sender_due(lab->sender) == lab->steady_ms + MINUTE);
}

static const struct external_subject pods = {"", "Source", "", "pods"};

static void report_problem(struct lab *lab)
{
    problems_report(engine_problems(lab->world.engine), &pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE,
                    0);
    world_run(&lab->world, platform_now_ms());
}

TEST(problems_are_sent_once_a_minute_beside_the_watchdog)
{
    static struct lab lab;

    lab_start(&lab, "[]");
    report_problem(&lab);
    turn_until(&lab, true, 0, 1);
    assert_last_post(&lab, "KarmadaPolicyExporterWatchdog KarmadaPolicyExporterDataIncomplete ");
    turn_without_post(&lab, true, MINUTE - 1);
    turn_until(&lab, true, MINUTE, 2);
    assert_last_post(&lab, "KarmadaPolicyExporterWatchdog KarmadaPolicyExporterDataIncomplete ");
    assert_true(alert_sender_due(lab.sender) == lab.steady_ms + 2 * MINUTE);
    lab_stop(&lab);
}

TEST(earlier_alerts_are_renewed_for_fifteen_minutes)
{
    static struct lab lab;
    size_t count;

    lab_start(&lab, EARLIER);
    turn_until_last_post(&lab, "KarmadaPolicyExporterWatchdog KarmadaNotPropagated ");
    count = post_count(&lab.fake);
    turn_until(&lab, true, 14 * MINUTE, count + 1);
    assert_last_post(&lab, "KarmadaPolicyExporterWatchdog KarmadaNotPropagated ");
    turn_until(&lab, true, 15 * MINUTE, count + 2);
    assert_last_post(&lab, "KarmadaPolicyExporterWatchdog ");
    lab_stop(&lab);
}

TEST(a_replica_without_data_sends_only_that_it_is_degraded)
{
    static struct lab lab;

    lab_start(&lab, EARLIER);
    report_problem(&lab);
    turn_until_earlier_are_taken(&lab);
    turn_without_post(&lab, false, 11 * SECOND);
    turn_until(&lab, false, 71 * SECOND, 1);
    assert_last_post(&lab, "KarmadaPolicyExporterDegraded ");
    turn_until(&lab, false, 131 * SECOND, 2);
    assert_last_post(&lab, "KarmadaPolicyExporterDegraded ");
    /* It has data again: at once, with the alerts of the earlier run. */
    turn_until(&lab, true, 140 * SECOND, 3);
    assert_last_post(&lab, "KarmadaPolicyExporterWatchdog KarmadaPolicyExporterDataIncomplete "
                           "KarmadaNotPropagated ");
    turn_without_post(&lab, false, 200 * SECOND);
    turn_until(&lab, false, 260 * SECOND, 4);
    assert_last_post(&lab, "KarmadaPolicyExporterDegraded ");
    lab_stop(&lab);
}

TEST(a_long_evaluation_does_not_end_alerts)
{
    static struct lab lab;

    lab_start(&lab, "[]");
    report_problem(&lab);
    turn_until(&lab, true, 0, 1);
    lab.evaluation.caught_up = false;
    turn_without_post(&lab, true, MINUTE);
    turn_without_post(&lab, true, 2 * MINUTE - 1);
    turn_until(&lab, true, 2 * MINUTE, 2);
    assert_last_post(&lab, "KarmadaPolicyExporterWatchdog KarmadaPolicyExporterDataIncomplete ");
    lab_stop(&lab);
}

/* ---- batches ---- */

static struct problem_alert_list many_alerts(size_t count, size_t text_len)
{
    struct problem_alert_list list = {.items = NULL};
    char *text = xmalloc(text_len + 1);
    char name[32];

    memset(text, 'x', text_len);
    text[text_len] = '\0';
    for (size_t i = 0; i < count; i++) {
        struct problem_alert alert = {.labels = cJSON_CreateObject(),
                                      .annotations = cJSON_CreateObject(),
                                      .starts_ms =
                                          INT64_C(1767225600000) + (int64_t)i * 60 * MINUTE};

        snprintf(name, sizeof(name), "alert-%zu", i);
        cJSON_AddStringToObject(alert.labels, "name", name);
        cJSON_AddStringToObject(alert.annotations, "description", text);
        problem_alert_list_add(&list, alert);
    }
    free(text);
    return list;
}

TEST(alerts_end_five_minutes_after_the_sending)
{
    const int64_t now_ms = INT64_C(1767225600250); /* 2026-01-01T00:00:00.250Z */
    struct problem_alert_list list = many_alerts(2, 1);
    const struct problem_alert_list *const lists[] = {&list};
    struct alert_batch *batch = alert_batch_new(lists, 1, now_ms);
    struct error err;

    assert_int_equal(batch->count, 1);
    assert_int_equal(batch->alerts, 2);
    cJSON *json = json_parse(batch->requests[0].json, batch->requests[0].len, NULL, &err);
    const cJSON *first = cJSON_GetArrayItem(json, 0);
    const cJSON *second = cJSON_GetArrayItem(json, 1);

    assert_string_equal(json_str(first, "startsAt", ""), "2026-01-01T00:00:00.000Z");
    assert_string_equal(json_str(first, "endsAt", ""), "2026-01-01T00:05:00.250Z");
    /* The clock was set back after the opening. */
    assert_string_equal(json_str(second, "startsAt", ""), "2026-01-01T00:00:00.250Z");
    assert_string_equal(json_str(json_get(second, "labels"), "name", ""), "alert-1");
    cJSON_Delete(json);
    alert_batch_drop(batch);
    problem_alert_list_release(&list);
}

TEST(requests_have_a_limit)
{
    struct problem_alert_list few = many_alerts(3, 16 * 1024);
    struct problem_alert_list many = many_alerts(1000, 5000);
    const struct problem_alert_list *const lists[] = {&few, &many};
    struct alert_batch *batch = alert_batch_new(lists, 2, platform_now_ms());
    size_t alerts = 0;
    struct error err;

    assert_true(batch->count >= 5);
    assert_int_equal(batch->alerts, 1003);
    for (size_t i = 0; i < batch->count; i++) {
        const struct alert_request *request = &batch->requests[i];
        cJSON *json = json_parse(request->json, request->len, NULL, &err);

        assert_true(request->len <= ALERT_REQUEST_MAX_BYTES);
        assert_int_equal(cJSON_GetArraySize(json), request->alerts);
        alerts += request->alerts;
        cJSON_Delete(json);
    }
    assert_int_equal(alerts, 1003);
    alert_batch_drop(batch);
    problem_alert_list_release(&few);
    problem_alert_list_release(&many);
}

/* ---- one Alertmanager ---- */

static struct alertmanager *connect_to(const char *url, struct options *options,
                                       const struct log *log)
{
    const struct alertmanager_settings settings = {options, url, "filter=product%3D%22karmada%22",
                                                   platform_environment(), log};
    struct error err;
    struct alertmanager *m;

    options_init(options);
    m = alertmanager_new(&settings, &err);
    assert_non_null(m);
    assert_string_equal(alertmanager_host(m), url + strlen("http://"));
    return m;
}

static void hand_one(struct alertmanager *m, int64_t clock_ms)
{
    struct problem_alert_list list = many_alerts(1, 1);
    const struct problem_alert_list *const lists[] = {&list};
    struct alert_batch *batch = alert_batch_new(lists, 1, clock_ms);

    alertmanager_hand(m, batch);
    alert_batch_drop(batch);
    problem_alert_list_release(&list);
}

/* The server accepts connections and sends no response: only the latest batch waits for it. */
TEST(a_server_that_hangs_drops_old_batches)
{
    const struct log log = {.level = LOG_LEVEL_NONE, .stream = stderr};
    struct options options;
    char url[64];
    int fd = listen_locally(url);
    struct alertmanager *m = connect_to(url, &options, &log);

    for (int i = 0; i < 3; i++)
        hand_one(m, platform_now_ms());
    assert_int_equal(alertmanager_count(m, ALERT_DROPPED), 2);
    assert_int_equal(alertmanager_count(m, ALERT_SENT), 0);
    assert_null(alertmanager_take_response(m));
    alertmanager_free(m);
    options_release(&options);
    close(fd);
}

TEST(a_batch_whose_alerts_have_ended_is_not_sent)
{
    const struct log log = {.level = LOG_LEVEL_NONE, .stream = stderr};
    int64_t until_ms = platform_steady_ms() + PATIENCE_MS;
    struct fake_alertmanager fake;
    struct options options;

    fake_start(&fake, "[]");
    struct alertmanager *m = connect_to(fake.url, &options, &log);

    hand_one(m, platform_now_ms() - ALERT_LIFETIME_MS);
    while (alertmanager_count(m, ALERT_DROPPED) == 0 && platform_steady_ms() < until_ms)
        usleep(1000);
    assert_int_equal(alertmanager_count(m, ALERT_DROPPED), 1);
    hand_one(m, platform_now_ms());
    while (alertmanager_count(m, ALERT_SENT) == 0 && platform_steady_ms() < until_ms)
        usleep(1000);
    assert_int_equal(alertmanager_count(m, ALERT_SENT), 1);
    assert_int_equal(post_count(&fake), 1);
    alertmanager_free(m);
    options_release(&options);
    fake_stop(&fake);
}
