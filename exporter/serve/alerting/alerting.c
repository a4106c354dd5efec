/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/alerting/alerting.h"

#include <unistd.h>

#include "exporter/serve/alerting/alertmanager.h"
#include "exporter/system/platform.h"
#include "exporter/system/url.h"
#include "metrics/base/shown.h"
#include "metrics/base/utf8.h"

enum {
    INTERVAL_MS = 60 * 1000,
    LOOK_MS = 1000,               /* Between two looks whether there is something to do. */
    ANSWERS_MS = 10 * 1000,       /* For how long a start waits for what the others have of us. */
    LATE_MAX_MS = 60 * 60 * 1000, /* For how long a kind that is late holds back what ends. */
    PAGE_MAX_BYTES = 1024 * 1024 * 1024,
    QUERY_MAX_BYTES = 16 * 1024,
    HOST_MAX = 256,
};

/* On a page of who has read everything, and whether something is left out that is not. */
static const char synced_text[] = "\nkarmada_policy_exporter_up 1\n";
static const char late_text[] = "karmada_policy_exporter_watch_late > 0";

struct alerting {
    struct page_store *page_store;
    const struct log *log;
    char *page_url;
    char *query;
    char host[HOST_MAX];      /* Ours, for texts: which replica is not well. */
    struct label_list labels; /* Of --alertmanager.label, and the job. */
    struct text_list texts;   /* Theirs. */
    struct alert_rules rules;
    struct promql *late;
    struct alertmanager **managers;
    size_t count;
    struct series_store *store;
    struct alerts alerts;
    int64_t *due_ms;        /* Of each rule. */
    int64_t next_ms;        /* When the page is read next. */
    int64_t known_since_ms; /* INT64_MAX until everything is read. */
    int64_t late_since_ms;  /* INT64_MAX while nothing is. */
    pthread_t thread;
    bool started;
    bool stopping; /* With `wake`, under `lock`. */
    pthread_mutex_t lock;
    pthread_cond_t wake;
};

/* ---- options ---- */

static bool is_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

    return strchr(letters, *text) && *text != '\0' && text[len] == '\0';
}

static bool is_text(const char *text)
{
    while (utf8_char_len(text) > 0)
        text += utf8_char_len(text);
    return *text == '\0';
}

/* NAME=VALUE, which other alerts of ours do not have otherwise. */
static bool add_label(struct alerting *a, const char *text, struct error *err)
{
    static const char *const reserved[] = {"alertname", "severity", "product", "job",
                                           "instance",  "pod",      "replica"};
    const char *equal = strchr(text, '=');
    char *name, *value;

    if (!equal || equal[1] == '\0')
        return fail(err, "--alertmanager.label: '%s' is not NAME=VALUE", shown(text).text);
    text_list_add(&a->texts, text);
    name = a->texts.items[a->texts.count - 1];
    value = name + (equal - text) + 1;
    value[-1] = '\0';
    if (!is_name(name) || !is_text(value))
        return fail(err,
                    "--alertmanager.label: '%s' is not the name of a label, or its value "
                    "no text",
                    shown(name).text);
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++) {
        if (strcmp(name, reserved[i]) == 0)
            return fail(err,
                        "--alertmanager.label: '%s' is set by the rules, or tells replicas "
                        "apart, whose alerts are the same",
                        name);
    }
    if (*label_list_get(&a->labels, name) != '\0')
        return fail(err, "--alertmanager.label: '%s' is given twice", shown(name).text);
    label_list_set(&a->labels, name, value);
    return true;
}

static void add_filter(struct strbuf *query, const char *name, const char *value)
{
    CLEANUP(strbuf_release) struct strbuf matcher = STRBUF_INIT(QUERY_MAX_BYTES);

    /* Alertmanager before 0.27 knows these escapes only. */
    strbuf_addf(&matcher, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            strbuf_addc(&matcher, '\\');
        strbuf_add(&matcher, *value == '\n' ? "\\n" : value, *value == '\n' ? 2 : 1);
    }
    strbuf_addc(&matcher, '"');
    url_add_parameter(query, "filter", matcher.data);
}

/* Which alerts of an Alertmanager may be ours. */
static char *make_query(const struct alerting *a)
{
    struct strbuf query = STRBUF_INIT(QUERY_MAX_BYTES);

    add_filter(&query, "product", alert_product);
    for (size_t i = 0; i < a->labels.count; i++)
        add_filter(&query, a->labels.items[i].name, a->labels.items[i].value);
    for (size_t i = 0; alert_plane[i]; i++) {
        if (*label_list_get(&a->labels, alert_plane[i]) == '\0')
            add_filter(&query, alert_plane[i], "");
    }
    return strbuf_take(&query, NULL);
}

/* The rules, and the store that keeps what they look at. */
static bool load_rules(struct alerting *a, struct error *err)
{
    CLEANUP(label_list_release) struct label_list target = {NULL, 0};

    a->late = promql_parse(late_text, err);
    if (!a->late || !alert_rules_load(&a->rules, err))
        return false;
    target = label_list_copy(&a->labels);
    if (gethostname(a->host, sizeof(a->host) - 1) != 0 || a->host[0] == '\0')
        snprintf(a->host, sizeof(a->host), "a replica");
    label_list_set(&target, "instance", a->host);
    a->store = series_store_new(&target, platform_random_seed());
    alert_rules_want(&a->rules, a->store);
    series_store_want(a->store, a->late->parts[0]->text, 0);
    a->due_ms = xcalloc(a->rules.count, sizeof(*a->due_ms));
    alerts_init(&a->alerts, platform_random_seed());
    return true;
}

/* ---- the thread ---- */

/* The page as it is now; empty if there is none yet. */
static void read_page(const struct alerting *a, struct strbuf *out)
{
    struct metrics_page *page = page_store_hold_metrics(a->page_store);

    if (!page)
        return;
    metrics_page_write_text(page, out);
    metrics_page_drop(page);
    strbuf_adds(out, "up 1\n"); /* What a Prometheus knows of a target that answers. */
}

/* Whether a kind is late, and has not been for so long that nobody waits for it. */
static bool waits_for_late(struct alerting *a, const struct alert_moment *now)
{
    CLEANUP(vector_release) struct vector late = promql_eval(a->late, a->store, now->clock_ms);

    if (late.count == 0)
        a->late_since_ms = INT64_MAX;
    else if (a->late_since_ms == INT64_MAX)
        a->late_since_ms = now->steady_ms;
    return late.count > 0 && now->steady_ms - a->late_since_ms < LATE_MAX_MS;
}

/* What the Alertmanagers have of us from before. */
static bool adopt(struct alerting *a, const struct alert_moment *now)
{
    bool adopted = false;

    for (size_t i = 0; i < a->count; i++) {
        CLEANUP(free_cleanup) char *answer = alertmanager_take_answer(a->managers[i]);
        int count = answer ? alert_batch_adopt(&a->alerts, &a->rules, &a->labels, answer, now) : 0;

        adopted |= count > 0;
        if (count > 0)
            log_write(a->log, LOG_LEVEL_INFO, "carrying on with alerts that fire already",
                      "alertmanager", alertmanager_host(a->managers[i]), "alerts",
                      LOG_NUMBER(count));
        if (count < 0)
            log_write(a->log, LOG_LEVEL_WARN,
                      "Alertmanager does not say what fires already; a restart begins anew",
                      "alertmanager", alertmanager_host(a->managers[i]));
    }
    return adopted;
}

/* Hold all rules that are due against the page that was read last, and hand on what fires. */
static void evaluate(struct alerting *a, const struct alert_moment *now)
{
    const struct alert_batch_settings settings = {
        .store = a->store,
        .page_url = a->page_url,
        .clock_ms = now->clock_ms,
    };
    uint64_t overflow = a->alerts.overflow;

    for (size_t i = 0; i < a->rules.count; i++) {
        const struct alert_rule *rule = &a->rules.items[i];

        /* Looks are a little early or late. */
        if (now->steady_ms < a->due_ms[i] - INTERVAL_MS / 2)
            continue;
        a->due_ms[i] = now->steady_ms + rule->interval_ms;
        CLEANUP(vector_release)
        struct vector v = promql_eval(rule->expression, a->store, now->clock_ms);

        if (rule->severity)
            alerts_update(&a->alerts, rule, &v, &a->labels, now);
        else
            series_store_record(a->store, rule->name, &v, now->clock_ms);
    }
    if (a->alerts.overflow != overflow)
        log_write(a->log, LOG_LEVEL_WARN, "too many alerts; the others are left out", "limit",
                  LOG_NUMBER(ALERTS_MAX));
    struct alert_batch *batch = alert_batch_new(&a->alerts, &settings);

    for (size_t i = 0; batch->count > 0 && i < a->count; i++)
        alertmanager_hand(a->managers[i], batch);
    alert_batch_drop(batch);
}

/*
 * One look: the rules are held against the page when that is due, and at once when everything has
 * been read for the first time or an Alertmanager said what it has.
 */
static void turn(struct alerting *a)
{
    CLEANUP(strbuf_release) struct strbuf page = STRBUF_INIT(PAGE_MAX_BYTES);
    struct alert_moment now = {.steady_ms = platform_steady_ms(), .clock_ms = platform_now_ms()};
    bool unknown = a->known_since_ms == INT64_MAX;
    bool due = adopt(a, &now) || now.steady_ms >= a->next_ms;

    if (due || unknown)
        read_page(a, &page);
    bool synced = strstr(page.data, synced_text);

    if (page.len == 0 || !(due || (unknown && synced)))
        return;
    if (unknown && synced) {
        a->known_since_ms = now.steady_ms;
        memset(a->due_ms, 0, a->rules.count * sizeof(*a->due_ms));
    }
    series_store_page(a->store, page.data, now.clock_ms);
    now.known_ms = a->known_since_ms == INT64_MAX ? 0 : now.steady_ms - a->known_since_ms;
    now.incomplete = waits_for_late(a, &now) || !synced;
    a->next_ms = now.steady_ms + INTERVAL_MS;
    evaluate(a, &now);
}

static void *run(void *context)
{
    struct alerting *a = context;

    pthread_mutex_lock(&a->lock);
    while (!a->stopping) {
        pthread_mutex_unlock(&a->lock);
        turn(a);
        pthread_mutex_lock(&a->lock);
        if (!a->stopping)
            condition_wait(&a->wake, &a->lock, platform_steady_ms() + LOOK_MS);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* ---- from outside ---- */

bool alerting_wanted(const struct options *o)
{
    return o->alertmanager_urls.count > 0 || o->alertmanager_labels.count > 0 ||
           *o->alertmanager_user || *o->alertmanager_password_file || *o->alertmanager_token_file ||
           *o->alertmanager_ca_file;
}

static bool start(struct alerting *a, const struct alerting_settings *settings, struct error *err)
{
    const struct options *o = settings->options;

    if (o->alertmanager_urls.count == 0)
        return fail(err, "--alertmanager.*: no --alertmanager.url says whom to tell");
    for (size_t i = 0; i < o->alertmanager_labels.count; i++) {
        if (!add_label(a, o->alertmanager_labels.items[i], err))
            return false;
    }
    label_list_set(&a->labels, "job", alert_job);
    if (!load_rules(a, err))
        return false;
    a->query = make_query(a);
    a->managers = xcalloc(o->alertmanager_urls.count, sizeof(struct alertmanager *));
    for (size_t i = 0; i < o->alertmanager_urls.count; i++) {
        const struct alertmanager_settings one = {
            .options = o,
            .url = o->alertmanager_urls.items[i],
            .query = a->query,
            .environment = settings->environment,
            .log = settings->log,
        };

        a->managers[a->count] = alertmanager_new(&one, err);
        if (!a->managers[a->count])
            return false;
        a->count++;
    }
    int code = thread_start(&a->thread, run, a);

    a->started = code == 0;
    return a->started || fail(err, "cannot start a thread for alerts: %s", strerror(code));
}

struct alerting *alerting_new(const struct alerting_settings *settings, struct error *err)
{
    struct alerting *a = xcalloc(1, sizeof(*a));

    a->page_store = settings->page_store;
    a->log = settings->log;
    a->page_url = xstrdup(settings->page_url);
    a->next_ms = platform_steady_ms() + ANSWERS_MS;
    a->known_since_ms = a->late_since_ms = INT64_MAX;
    pthread_mutex_init(&a->lock, NULL);
    condition_init(&a->wake);
    if (start(a, settings, err))
        return a;
    alerting_free(a);
    return NULL;
}

void alerting_free(struct alerting *a)
{
    if (!a)
        return;
    pthread_mutex_lock(&a->lock);
    a->stopping = true;
    pthread_cond_signal(&a->wake);
    pthread_mutex_unlock(&a->lock);
    if (a->started)
        pthread_join(a->thread, NULL);
    for (size_t i = 0; i < a->count; i++)
        alertmanager_free(a->managers[i]);
    pthread_cond_destroy(&a->wake);
    pthread_mutex_destroy(&a->lock);
    alerts_release(&a->alerts);
    series_store_free(a->store);
    alert_rules_release(&a->rules);
    promql_free(a->late);
    label_list_release(&a->labels);
    text_list_release(&a->texts);
    free(a->managers);
    free(a->due_ms);
    free(a->page_url);
    free(a->query);
    free(a);
}

void alerting_fill(const struct alerting *a, struct registry *registry)
{
    for (size_t i = 0; i < a->count; i++) {
        for (unsigned result = 0; result < ALERT_RESULTS; result++)
            REGISTRY_SET(registry, OWN_ALERTMANAGER_NOTIFICATIONS,
                         (double)alertmanager_count(a->managers[i], result),
                         alertmanager_host(a->managers[i]), alert_result_names[result]);
    }
}
