/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alertmanager.h"

#include <stdatomic.h>

#include "exporter/serve/alerting/access.h"
#include "exporter/system/http_request.h"
#include "exporter/system/platform.h"

enum {
    TIMEOUT_MS = 10 * 1000, /* For one request as a whole, as Prometheus. */
    BACK_OFF_MS = 1000,
    BACK_OFF_MAX_MS = 60 * 1000,
    ANSWER_MAX_BYTES = 64 * 1024 * 1024,
    IGNORED_MAX_BYTES = 64 * 1024, /* Of the answer to a POST. */
    URL_MAX_BYTES = 64 * 1024,
};

const char *const alert_result_names[] = {"sent", "failed", "dropped"};

struct alertmanager {
    struct access access;
    char *query;
    const struct log *log; /* Borrowed. */
    pthread_t thread;
    bool started;
    unsigned failures; /* In a row; of the thread. */
    _Atomic bool stopping;
    _Atomic uint64_t counts[ALERT_RESULTS];
    pthread_mutex_t lock;     /* Guards what follows. */
    pthread_cond_t work;      /* There is a batch, or the end has come. */
    struct alert_batch *next; /* NULL: nothing to send. */
    char *answer;
};

/* ---- requests ---- */

/* Anything but 0 ends the request. */
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
 * POST a request, or GET without one. The answer's status; 0 with the reason if there is none. No
 * text of it holds more of the address than its host.
 */
static unsigned ask(struct alertmanager *m, const char *path, const struct alert_request *request,
                    struct strbuf *body, struct error *err)
{
    struct curl_slist *headers = NULL;
    CURL *easy = access_request(&m->access, path, body, &headers, err);
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
        fail(err, "it answers %ld", status);
    curl_easy_cleanup(easy);
    http_request_free_headers(headers);
    return code == CURLE_OK ? (unsigned)status : 0;
}

static bool succeeded(unsigned status)
{
    return status / 100 == 2;
}

/* Whether the same again could be understood: what it refuses is said anew with the next batch. */
static bool is_final(unsigned status)
{
    return succeeded(status) || (status / 100 == 4 && status != 429);
}

/* ---- the thread ---- */

/* Wait for a batch, or for the end of `wait_ms`; NULL if there is none. Moved to the caller. */
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

/* Say how it is with the other side, when that changes. */
static void note(struct alertmanager *m, bool well, const struct error *err)
{
    if (well && m->failures > 0)
        log_write(m->log, LOG_LEVEL_INFO, "Alertmanager takes alerts again", "alertmanager",
                  m->access.host);
    if (!well && m->failures == 0 && !atomic_load(&m->stopping))
        log_write(m->log, LOG_LEVEL_WARN, "Alertmanager does not take alerts; trying again",
                  "alertmanager", m->access.host, "error", err->text);
    m->failures = well ? 0 : m->failures + 1;
}

/* Up to a minute, and not as all others: from half to the whole of it. */
static int64_t back_off_ms(const struct alertmanager *m)
{
    int64_t ms = BACK_OFF_MAX_MS;

    if (m->failures < 7)
        ms = earlier_of(ms, (int64_t)BACK_OFF_MS << (m->failures > 0 ? m->failures - 1 : 0));
    return ms / 2 + (int64_t)(platform_random_seed() % (uint64_t)(ms / 2 + 1));
}

/* Ask what it has of us, until it answers. */
static void fetch(struct alertmanager *m)
{
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(ANSWER_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(URL_MAX_BYTES);
    struct error err = {""};
    bool answered = false;

    strbuf_addf(&path, "/api/v2/alerts?%s", m->query);
    while (!answered && !atomic_load(&m->stopping)) {
        strbuf_reset(&body);
        answered = is_final(ask(m, path.data, NULL, &body, &err));
        note(m, answered, &err);
        /* What fires meanwhile waits here: without the answer nothing could be carried on. */
        if (!answered)
            wait_for_batch(m, back_off_ms(m), false);
    }
    pthread_mutex_lock(&m->lock);
    m->answer = strbuf_take(&body, NULL);
    pthread_mutex_unlock(&m->lock);
}

/* Send all of it, or up to a newer one. */
static void send_batch(struct alertmanager *m, const struct alert_batch *batch)
{
    for (size_t i = 0; i < batch->count && !atomic_load(&m->stopping);) {
        CLEANUP(strbuf_release) struct strbuf ignored = STRBUF_INIT(IGNORED_MAX_BYTES);
        const struct alert_request *request = &batch->requests[i];
        struct error err = {""};

        pthread_mutex_lock(&m->lock);
        bool replaced = m->next != NULL;

        pthread_mutex_unlock(&m->lock);
        if (replaced) {
            atomic_fetch_add(&m->counts[ALERT_DROPPED], request->alerts);
            i++;
            continue;
        }
        unsigned status = ask(m, "/api/v2/alerts", request, &ignored, &err);

        atomic_fetch_add(&m->counts[succeeded(status) ? ALERT_SENT : ALERT_FAILED],
                         request->alerts);
        note(m, succeeded(status), &err);
        i += is_final(status);
        if (!is_final(status))
            wait_for_batch(m, back_off_ms(m), false);
    }
}

static void *run(void *context)
{
    struct alertmanager *m = context;

    fetch(m);
    while (!atomic_load(&m->stopping)) {
        struct alert_batch *batch = wait_for_batch(m, BACK_OFF_MAX_MS, true);

        if (batch)
            send_batch(m, batch);
        alert_batch_drop(batch);
    }
    return NULL;
}

/* ---- from outside ---- */

struct alertmanager *alertmanager_new(const struct alertmanager_settings *settings,
                                      struct error *err)
{
    struct alertmanager *m = xcalloc(1, sizeof(*m));
    int code;

    m->log = settings->log;
    m->query = xstrdup(settings->query);
    pthread_mutex_init(&m->lock, NULL);
    condition_init(&m->work);
    if (!access_init(&m->access, settings->options, settings->url, settings->environment, err)) {
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
    access_release(&m->access);
    free(m->answer);
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

char *alertmanager_take_answer(struct alertmanager *m)
{
    pthread_mutex_lock(&m->lock);
    char *answer = m->answer;

    m->answer = NULL;
    pthread_mutex_unlock(&m->lock);
    return answer;
}

const char *alertmanager_host(const struct alertmanager *m)
{
    return m->access.host;
}

uint64_t alertmanager_count(const struct alertmanager *m, enum alert_result result)
{
    return atomic_load(&m->counts[result]);
}
