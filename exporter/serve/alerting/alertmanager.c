/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alertmanager.h"

#include <errno.h>
#include <stdatomic.h>

#include <curl/curl.h>

#include "exporter/kube/auth/locate.h"
#include "exporter/kube/auth/proxy_rules.h"
#include "exporter/kube/auth/tls_files.h"
#include "exporter/kube/http/easy.h"
#include "exporter/system/platform.h"
#include "exporter/system/thread.h"
#include "exporter/version.h"

enum {
    TIMEOUT_MS = 10 * 1000, /* For one request as a whole, as Prometheus. */
    BACK_OFF_MS = 1000,
    BACK_OFF_MAX_MS = 60 * 1000,
    ANSWER_MAX_BYTES = 64 * 1024 * 1024,
    IGNORED_MAX_BYTES = 64 * 1024, /* Of the answer to a POST. */
    HEADER_MAX_BYTES = 64 * 1024,
    URL_MAX_BYTES = 64 * 1024,
};

const char *const alert_result_names[] = {"sent", "failed", "dropped"};

struct alertmanager {
    struct alertmanager_settings settings;
    struct server_url url;
    char *host;  /* With its port. */
    char *proxy; /* NULL without one. May hold a password. */
    struct tls_files tls;
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

/* ---- options ---- */

static bool has(const char *option)
{
    return *option != '\0';
}

/* The line of a file as a secret; NULL with the reason. */
static char *read_secret(const char *option, const char *path, struct error *err)
{
    char *secret = secret_line_read(path, err);

    if (!secret)
        fail_in(err, "%s", option);
    else if (secret_fits_header(secret))
        return secret;
    else
        fail(err, "%s: the first line of '%s' fits no header", option, path);
    secret_free(secret);
    return NULL;
}

/* What says who we are: "" without credentials, NULL with the reason. */
static char *read_credentials(const struct options *o, struct error *err)
{
    if (has(o->alertmanager_user))
        return read_secret("--alertmanager.password-file", o->alertmanager_password_file, err);
    if (has(o->alertmanager_token_file))
        return read_secret("--alertmanager.bearer-token-file", o->alertmanager_token_file, err);
    return xstrdup("");
}

static bool check_options(struct alertmanager *m, struct error *err)
{
    const struct options *o = m->settings.options;
    const struct kube_config files = {
        .ca.file = has(o->alertmanager_ca_file) ? o->alertmanager_ca_file : NULL,
    };
    bool secret = has(o->alertmanager_user) || has(o->alertmanager_token_file);

    if (has(o->alertmanager_user) != has(o->alertmanager_password_file))
        return fail(err, "--alertmanager.user and --alertmanager.password-file are given together "
                         "or not");
    if (has(o->alertmanager_user) && has(o->alertmanager_token_file))
        return fail(err, "--alertmanager.user or --alertmanager.bearer-token-file, not both");
    if (strchr(o->alertmanager_user, ':'))
        return fail(err, "--alertmanager.user: a user's name has no ':'");
    if (!server_url_parse(m->settings.url, NULL, &m->url, err))
        return fail_in(err, "--alertmanager.url");
    if (asprintf(&m->host, "%s:%s", m->url.address, m->url.port) < 0)
        abort();
    if (secret && !m->url.tls && !host_is_loopback(m->url.address))
        return fail(err, "--alertmanager.url: a password or a token goes over https:// alone, or "
                         "to this machine");
    CLEANUP(secret_cleanup) char *credentials = read_credentials(o, err);

    return credentials && kube_inherited_proxy(m->settings.environment, &m->url, &m->proxy, err) &&
           (!m->url.tls || tls_files_load(&m->tls, &files, platform_steady_ms(), err));
}

/* ---- requests ---- */

static size_t receive(char *bytes, size_t size, size_t count, void *body)
{
    strbuf_add(body, bytes, size * count);
    return strbuf_ok(body) ? size * count : 0;
}

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

static bool add_identity(struct alertmanager *m, CURL *easy, struct curl_slist **headers,
                         struct error *err)
{
    const struct options *o = m->settings.options;
    CLEANUP(secret_cleanup) char *credentials = read_credentials(o, err);
    CLEANUP(secret_release) struct strbuf line = STRBUF_INIT(HEADER_MAX_BYTES);

    if (!credentials)
        return false;
    if (has(o->alertmanager_user)) {
        curl_easy_setopt(easy, CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        curl_easy_setopt(easy, CURLOPT_USERNAME, o->alertmanager_user);
        curl_easy_setopt(easy, CURLOPT_PASSWORD, credentials);
    } else if (has(o->alertmanager_token_file)) {
        strbuf_addf(&line, "Authorization: Bearer %s", credentials);
        *headers = curl_slist_append(*headers, line.data);
    }
    return true;
}

/* Wiped, since one of them may be a token. */
static void free_headers(struct curl_slist *headers)
{
    for (struct curl_slist *h = headers; h; h = h->next)
        explicit_bzero(h->data, strlen(h->data));
    curl_slist_free_all(headers);
}

/*
 * POST a request, or GET without one. The answer's status; 0 with the reason if there is none. No
 * text of it holds more of the address than its host.
 */
static unsigned ask(struct alertmanager *m, const char *path, const struct alert_request *request,
                    struct strbuf *body, struct error *err)
{
    CLEANUP(strbuf_release) struct strbuf url = STRBUF_INIT(URL_MAX_BYTES);
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *easy = curl_easy_init();
    CURLcode code = CURLE_OK;
    long status = 0;

    if (!easy || !headers)
        abort();
    tls_files_advance(&m->tls, platform_steady_ms());
    strbuf_addf(&url, "%s%s", m->url.base, path);
    easy_restrict(easy);
    easy_set_trust(easy, tls_files_ca(&m->tls));
    curl_easy_setopt(easy, CURLOPT_PROXY, m->proxy ? m->proxy : "");
    curl_easy_setopt(easy, CURLOPT_NOPROXY, "");
    curl_easy_setopt(easy, CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, m->url.tls ? "https" : "http");
    curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, EXPORTER_NAME "/" EXPORTER_VERSION);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, m);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, body);
    if (request) {
        curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->len);
        curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->json);
    }
    if (strbuf_ok(&url) && add_identity(m, easy, &headers, err)) {
        curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
        curl_easy_setopt(easy, CURLOPT_URL, url.data);
        code = curl_easy_perform(easy);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        if (code != CURLE_OK)
            fail(err, "%s", curl_easy_strerror(code));
        else if (status / 100 != 2)
            fail(err, "it answers %ld", status);
    }
    curl_easy_cleanup(easy);
    free_headers(headers);
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
    int64_t until_ms = platform_now_ms() + wait_ms;
    const struct timespec until = {until_ms / 1000, until_ms % 1000 * 1000000};
    struct alert_batch *batch = NULL;
    int code = 0;

    pthread_mutex_lock(&m->lock);
    while (!atomic_load(&m->stopping) && !(take && m->next) && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&m->work, &m->lock, &until);
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
        log_write(m->settings.log, LOG_LEVEL_INFO, "Alertmanager takes alerts again",
                  "alertmanager", m->host);
    if (!well && m->failures == 0 && !atomic_load(&m->stopping))
        log_write(m->settings.log, LOG_LEVEL_WARN,
                  "Alertmanager does not take alerts; trying again", "alertmanager", m->host,
                  "error", err->text);
    m->failures = well ? 0 : m->failures + 1;
}

/* Up to a minute, and not as all others: from half to the whole of it. */
static int64_t back_off_ms(const struct alertmanager *m)
{
    int64_t ms = BACK_OFF_MAX_MS;

    if (m->failures < 7)
        ms = earlier_of(ms, (int64_t)BACK_OFF_MS << (m->failures > 0 ? m->failures - 1 : 0));
    return ms / 2 + (int64_t)(platform_seed() % (uint64_t)(ms / 2 + 1));
}

/* Ask what it has of us, until it answers. */
static void fetch(struct alertmanager *m)
{
    CLEANUP(strbuf_release) struct strbuf body = STRBUF_INIT(ANSWER_MAX_BYTES);
    CLEANUP(strbuf_release) struct strbuf path = STRBUF_INIT(URL_MAX_BYTES);
    struct error err = {""};
    bool answered = false;

    strbuf_addf(&path, "/api/v2/alerts?%s", m->settings.query);
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

    m->settings = *settings;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->work, NULL);
    if (!check_options(m, err)) {
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
    tls_files_release(&m->tls);
    server_url_release(&m->url);
    secret_free(m->proxy);
    free(m->answer);
    free(m->host);
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
    return m->host;
}

uint64_t alertmanager_count(const struct alertmanager *m, enum alert_result result)
{
    return atomic_load(&m->counts[result]);
}
