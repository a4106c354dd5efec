/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/alertmanager.h"

#include <stdatomic.h>

#include "exporter/notify/alertmanager_access.h"
#include "exporter/system/http_request.h"
#include "exporter/system/platform.h"
#include "metrics/base/strbuf.h"
#include "metrics/base/timestamp.h"

enum {
    TIMEOUT_MS = 10 * 1000, /* For one request, as in Prometheus. */
    BACK_OFF_MS = 1000,
    BACK_OFF_MAX_MS = 60 * 1000,
    RESPONSE_MAX_BYTES = 64 * 1024 * 1024,
    IGNORED_MAX_BYTES = 64 * 1024, /* Maximum of the response to a POST. */
    URL_MAX_BYTES = 64 * 1024,
    TIME_LEN = 40,
};

const char *const alert_result_names[] = {"sent", "failed", "dropped"};

struct alertmanager {
    struct alertmanager_access access;
    char *query;
    const struct log *log; /* Borrowed. */
    pthread_t thread;
    bool started;
    unsigned failures; /* Failed requests in a row; used by the thread only. */
    _Atomic bool stopping;
    _Atomic uint64_t counts[ALERT_RESULTS];
    pthread_mutex_t lock;     /* Protects the members below. */
    pthread_cond_t work;      /* Signals a new batch, or `stopping`. */
    struct alert_batch *next; /* NULL: nothing to send. */
    char *response;
};

/* ---- batches ---- */

static void add_time(cJSON *json, const char *name, int64_t ms)
{
    char seconds[32];
    char text[TIME_LEN];

    format_timestamp(ms, seconds);
    snprintf(text, sizeof(text), "%.19s.%03dZ", seconds, (int)((ms % 1000 + 1000) % 1000));
    cJSON_AddStringToObject(json, name, text);
}

/* Returns the alert as JSON text; free with cJSON_free(). */
static char *print_alert(const struct problem_alert *alert, int64_t clock_ms, int64_t ends_ms)
{
    cJSON *json = cJSON_CreateObject();
    char *text;

    cJSON_AddItemReferenceToObject(json, "labels", alert->labels);
    cJSON_AddItemReferenceToObject(json, "annotations", alert->annotations);
    add_time(json, "startsAt", earlier_of(alert->starts_ms, clock_ms));
    add_time(json, "endsAt", ends_ms);
    text = cJSON_PrintUnformatted(json);
    cJSON_Delete(json);
    if (!text)
        memory_exhausted(ALERT_REQUEST_MAX_BYTES);
    return text;
}

static void add_request(struct alert_batch *b, struct strbuf *text, size_t alerts)
{
    struct alert_request *request;

    strbuf_addc(text, ']');
    b->requests = xreallocarray(b->requests, b->count + 1, sizeof(*b->requests));
    request = &b->requests[b->count++];
    request->alerts = alerts;
    request->json = strbuf_take(text, &request->len);
}

struct alert_batch *alert_batch_new(const struct problem_alert_list *const *lists, size_t count,
                                    int64_t clock_ms)
{
    struct alert_batch *b = xcalloc(1, sizeof(*b));
    /* The limit has space for one more alert of any size, and for the brackets. */
    struct strbuf text = STRBUF_INIT(2 * ALERT_REQUEST_MAX_BYTES);
    size_t alerts = 0;

    atomic_init(&b->holders, 1);
    b->ends_ms = clock_ms + ALERT_LIFETIME_MS;
    for (size_t list = 0; list < count; list++) {
        for (size_t i = 0; i < lists[list]->count; i++) {
            char *printed = print_alert(&lists[list]->items[i], clock_ms, b->ends_ms);

            if (alerts > 0 && text.len + strlen(printed) + 2 > ALERT_REQUEST_MAX_BYTES) {
                add_request(b, &text, alerts);
                alerts = 0;
            }
            strbuf_addc(&text, alerts++ == 0 ? '[' : ',');
            strbuf_adds(&text, printed);
            cJSON_free(printed);
            b->alerts++;
        }
    }
    if (alerts > 0)
        add_request(b, &text, alerts);
    strbuf_release(&text);
    return b;
}

struct alert_batch *alert_batch_hold(struct alert_batch *b)
{
    atomic_fetch_add(&b->holders, 1);
    return b;
}

void alert_batch_drop(struct alert_batch *b)
{
    if (!b || atomic_fetch_sub(&b->holders, 1) > 1)
        return;
    for (size_t i = 0; i < b->count; i++)
        free(b->requests[i].json);
    free(b->requests);
    free(b);
}

/* Returns true if a request that begins now may arrive after the end of its alerts. */
static bool is_too_late(const struct alert_batch *b)
{
    return platform_now_ms() + TIMEOUT_MS >= b->ends_ms;
}

/* ---- requests ---- */

/* Callback of libcurl: a result other than 0 cancels the request. */
static int progress(void *context, curl_off_t total, curl_off_t now, curl_off_t up, curl_off_t sent)
{
    struct alertmanager *m = context;

    (void)total;
    (void)now;
    (void)up;
    (void)sent;
    return atomic_load(&m->stopping);
}

/*
 * Sends a POST with the body of `request`, or a GET if it is NULL. Returns the status of the
 * response; 0 with the reason without a response. No error text contains more of the URL than the
 * host.
 */
static unsigned send_request(struct alertmanager *m, const char *path,
                             const struct alert_request *request, struct strbuf *body,
                             struct error *err)
{
    struct curl_slist *headers = NULL;
    CURL *easy = alertmanager_access_request(&m->access, path, body, &headers, err);
    CURLcode code;
    long status = 0;

    if (!easy)
        return 0;
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, m);
    if (request) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->json);
    }
    code = curl_easy_perform(easy);
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    if (code != CURLE_OK)
        fail(err, "%s", curl_easy_strerror(code));
    else if (status / 100 != 2)
        fail(err, "status %ld", status);
    curl_easy_cleanup(easy);
    http_request_free_headers(headers);
    return code == CURLE_OK ? (unsigned)status : 0;
}

static bool succeeded(unsigned status)
{
    return status / 100 == 2;
}

/* Returns true if a retry is useless: a rejected batch is followed by the next batch. */
static bool is_final(unsigned status)
{
    return succeeded(status) || (status / 100 == 4 && status != 429);
}

/* ---- the thread ---- */

/*
 * Waits for a batch, if `take`, or for the end of `wait_ms`. Returns the batch, which the caller
 * holds, or NULL.
 */
static struct alert_batch *wait_for_batch(struct alertmanager *m, int64_t wait_ms, bool take)
{
    int64_t until_ms = platform_steady_ms() + wait_ms;
    struct alert_batch *batch = NULL;
    bool waits = true;

    pthread_mutex_lock(&m->lock);
    while (!atomic_load(&m->stopping) && !(take && m->next) && waits)
        waits = condition_wait(&m->work, &m->lock, until_ms);
    if (take && !atomic_load(&m->stopping)) {
        batch = m->next;
        m->next = NULL;
    }
    pthread_mutex_unlock(&m->lock);
    return batch;
}

/* Logs the first failure, and the first success after failures. */
static void note_result(struct alertmanager *m, bool well, const struct error *err)
{
    if (well && m->failures > 0)
        log_write(m->log, LOG_LEVEL_INFO, "Alertmanager accepts requests again", "alertmanager",
                  m->access.host);
    if (!well && m->failures == 0 && !atomic_load(&m->stopping))
        log_write(m->log, LOG_LEVEL_WARN, "a request to Alertmanager failed; retrying",
                  "alertmanager", m->access.host, "error", err->text);
    m->failures = well ? 0 : m->failures + 1;
}

/* Returns a delay that doubles up to a minute, of which a random part of up to a half is cut. */
static int64_t back_off_ms(const struct alertmanager *m)
{
    int64_t ms = BACK_OFF_MAX_MS;

    if (m->failures < 7)
        ms = earlier_of(ms, (int64_t)BACK_OFF_MS << (m->failures > 0 ? m->failures - 1 : 0));
    return ms / 2 + (int64_t)(platform_random_seed() % (uint64_t)(ms / 2 + 1));
}

/* Reads the alerts of earlier runs, until Alertmanager responds. */
static void read_earlier_alerts(struct alertmanager *m)
{
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(RESPONSE_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(URL_MAX_BYTES);
    struct error err = {""};
    bool responded = false;

    strbuf_addf(&path, "/api/v2/alerts?%s", m->query);
    while (!responded && !atomic_load(&m->stopping)) {
        strbuf_reset(&body);
        responded = is_final(send_request(m, path.data, NULL, &body, &err));
        note_result(m, responded, &err);
        /* Batches wait meanwhile: they must renew the alerts in the response. */
        if (!responded)
            wait_for_batch(m, back_off_ms(m), false);
    }
    pthread_mutex_lock(&m->lock);
    m->response = strbuf_take(&body, NULL);
    pthread_mutex_unlock(&m->lock);
}

/* Sends the requests of a batch until a newer batch arrives or the batch is too late. */
static void send_batch(struct alertmanager *m, const struct alert_batch *batch)
{
    for (size_t i = 0; i < batch->count && !atomic_load(&m->stopping);) {
        CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(IGNORED_MAX_BYTES);
        const struct alert_request *request = &batch->requests[i];
        struct error err = {""};

        pthread_mutex_lock(&m->lock);
        bool replaced = m->next != NULL;

        pthread_mutex_unlock(&m->lock);
        if (replaced || is_too_late(batch)) {
            atomic_fetch_add(&m->counts[ALERT_DROPPED], request->alerts);
            i++;
            continue;
        }
        unsigned status = send_request(m, "/api/v2/alerts", request, &ignored, &err);

        atomic_fetch_add(&m->counts[succeeded(status) ? ALERT_SENT : ALERT_FAILED],
                         request->alerts);
        note_result(m, succeeded(status), &err);
        i += is_final(status);
        if (!is_final(status))
            wait_for_batch(m, back_off_ms(m), false);
    }
}

static void *run(void *context)
{
    struct alertmanager *m = context;

    read_earlier_alerts(m);
    while (!atomic_load(&m->stopping)) {
        struct alert_batch *batch = wait_for_batch(m, BACK_OFF_MAX_MS, true);

        if (batch)
            send_batch(m, batch);
        alert_batch_drop(batch);
    }
    return NULL;
}

/* ---- interface ---- */

struct alertmanager *alertmanager_new(const struct alertmanager_settings *settings,
                                      struct error *err)
{
    struct alertmanager *m = xcalloc(1, sizeof(*m));
    int code;

    m->log = settings->log;
    m->query = xstrdup(settings->query);
    pthread_mutex_init(&m->lock, NULL);
    condition_init(&m->work);
    if (!alertmanager_access_init(&m->access, settings->options, settings->url,
                                  settings->environment, err)) {
        alertmanager_free(m);
        return NULL;
    }
    code = thread_start(&m->thread, run, m);
    m->started = code == 0;
    if (m->started)
        return m;
    fail(err, "cannot start a thread for Alertmanager: %s", strerror(code));
    alertmanager_free(m);
    return NULL;
}

void alertmanager_free(struct alertmanager *m)
{
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    atomic_store(&m->stopping, true);
    pthread_cond_signal(&m->work);
    pthread_mutex_unlock(&m->lock);
    if (m->started)
        pthread_join(m->thread, NULL);
    alert_batch_drop(m->next);
    pthread_cond_destroy(&m->work);
    pthread_mutex_destroy(&m->lock);
    alertmanager_access_release(&m->access);
    free(m->response);
    free(m->query);
    free(m);
}

void alertmanager_hand(struct alertmanager *m, struct alert_batch *batch)
{
    pthread_mutex_lock(&m->lock);
    struct alert_batch *old = m->next;

    m->next = alert_batch_hold(batch);
    pthread_cond_signal(&m->work);
    pthread_mutex_unlock(&m->lock);
    if (old)
        atomic_fetch_add(&m->counts[ALERT_DROPPED], old->alerts);
    alert_batch_drop(old);
}

char *alertmanager_take_response(struct alertmanager *m)
{
    pthread_mutex_lock(&m->lock);
    char *response = m->response;

    m->response = NULL;
    pthread_mutex_unlock(&m->lock);
    return response;
}

const char *alertmanager_host(const struct alertmanager *m)
{
    return m->access.host;
}

uint64_t alertmanager_count(const struct alertmanager *m, enum alert_result result)
{
    return atomic_load(&m->counts[result]);
}
