/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/notify/alert_sender.h"

#include <unistd.h>

#include "exporter/system/platform.h"
#include "exporter/system/url.h"
#include "metrics/base/shown.h"
#include "metrics/base/utf8.h"
#include "metrics/rules/engine.h"

enum {
    INTERVAL_MS = 60 * 1000,
    FIRST_WAIT_MS = 10 * 1000,   /* From the start to the first sending without data. */
    DEGRADED_MS = 60 * 1000,     /* Time without data before KarmadaPolicyExporterDegraded. */
    RENEWAL_MS = 15 * 60 * 1000, /* See alert_sender.h. */
    CATCH_UP_MAX_MS = 60 * 1000, /* Maximum wait for the end of an evaluation. */
    QUERY_MAX_BYTES = 16 * 1024,
    HOST_MAX = 256,
};

/* Beginning of a state on both clocks. */
struct alert_moment {
    int64_t steady_ms; /* INT64_MAX: the state does not hold. */
    int64_t clock_ms;
};

struct alert_sender {
    const struct log *log;
    char *site_url;
    char *query;             /* Of GET /api/v2/alerts. */
    char instance[HOST_MAX]; /* Host name; in a Pod, the Pod's name. */
    struct text_list texts;  /* Names and values of `labels`. */
    struct alert_label *labels;
    size_t label_count;
    struct alertmanager **managers;
    size_t count;
    uint64_t seed;
    int64_t due_ms;               /* Steady time of the next sending. */
    int64_t observed_ms;          /* Steady time of the first data of the evaluation; INT64_MAX. */
    struct alert_moment synced;   /* Current data. */
    struct alert_moment unsynced; /* No current data. */
    struct problem_alert_list sent;    /* Last alerts about problems. */
    struct problem_alert_list earlier; /* Alerts from before the start or reload. */
    size_t omitted;                    /* Of `sent`; logged when it begins. */
};

/* ---- options ---- */

static bool is_label_name(const char *text)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

    return *text != '\0' && strchr(letters, *text) && text[len] == '\0';
}

static bool is_utf8(const char *text)
{
    while (utf8_char_len(text) > 0)
        text += utf8_char_len(text);
    return *text == '\0';
}

/* Returns true for labels of the alerts, and for labels that differ between replicas. */
static bool is_reserved(const char *name)
{
    return problem_alert_has_label(name) || strcmp(name, "pod") == 0 ||
           strcmp(name, "replica") == 0;
}

/* Adds a label from "NAME=VALUE". */
static bool add_label(struct alert_sender *s, const char *text, struct error *err)
{
    const char *equal = strchr(text, '=');
    char *name, *value;

    if (!equal || equal[1] == '\0')
        return fail(err, "--alertmanager.label: '%s' is not NAME=VALUE", shown(text).text);
    text_list_add(&s->texts, text);
    name = s->texts.items[s->texts.count - 1];
    value = name + (equal - text) + 1;
    value[-1] = '\0';
    if (!is_label_name(name) || !is_utf8(value))
        return fail(err,
                    "--alertmanager.label: '%s' is not a valid name, or its value is not UTF-8",
                    shown(name).text);
    if (is_reserved(name))
        return fail(err,
                    "--alertmanager.label: '%s' is reserved: alerts have it already, or it "
                    "would differ between replicas",
                    name);
    for (size_t i = 0; i < s->label_count; i++) {
        if (strcmp(s->labels[i].name, name) == 0)
            return fail(err, "--alertmanager.label: '%s' is given twice", shown(name).text);
    }
    s->labels[s->label_count++] = (struct alert_label){name, value};
    return true;
}

static void add_filter(struct strbuf *query, const char *name, const char *value)
{
    CLEANUP(strbuf_release) struct strbuf matcher = STRBUF_INIT(QUERY_MAX_BYTES);

    /* Alertmanager before 0.27 supports no other escapes. */
    strbuf_addf(&matcher, "%s=\"", name);
    for (; *value != '\0'; value++) {
        if (*value == '"' || *value == '\\')
            strbuf_addc(&matcher, '\\');
        strbuf_add(&matcher, *value == '\n' ? "\\n" : value, *value == '\n' ? 2 : 1);
    }
    strbuf_addc(&matcher, '"');
    url_add_parameter(query, "filter", matcher.data);
}

/* Returns the query that selects this product's alerts with the configured labels. */
static char *make_query(const struct alert_sender *s)
{
    struct strbuf query = STRBUF_INIT(QUERY_MAX_BYTES);

    add_filter(&query, "product", "karmada-policy-exporter");
    for (size_t i = 0; i < s->label_count; i++)
        add_filter(&query, s->labels[i].name, s->labels[i].value);
    return strbuf_take(&query, NULL);
}

bool alert_sender_is_configured(const struct options *o)
{
    return o->alertmanager_urls.count > 0 || o->alertmanager_labels.count > 0 ||
           *o->alertmanager_user || *o->alertmanager_password_file || *o->alertmanager_token_file ||
           *o->alertmanager_ca_file;
}

static bool open_managers(struct alert_sender *s, const struct alert_sender_settings *settings,
                          struct error *err)
{
    const struct options *o = settings->options;

    if (o->alertmanager_urls.count == 0)
        return fail(err, "--alertmanager.*: --alertmanager.url is missing");
    s->labels = xcalloc(o->alertmanager_labels.count + 1, sizeof(*s->labels));
    for (size_t i = 0; i < o->alertmanager_labels.count; i++) {
        if (!add_label(s, o->alertmanager_labels.items[i], err))
            return false;
    }
    s->query = make_query(s);
    s->managers = xcalloc(o->alertmanager_urls.count, sizeof(struct alertmanager *));
    for (size_t i = 0; i < o->alertmanager_urls.count; i++) {
        const struct alertmanager_settings one = {
            .options = o,
            .url = o->alertmanager_urls.items[i],
            .query = s->query,
            .environment = settings->environment,
            .log = settings->log,
        };

        s->managers[s->count] = alertmanager_new(&one, err);
        if (!s->managers[s->count])
            return false;
        s->count++;
    }
    return true;
}

struct alert_sender *alert_sender_new(const struct alert_sender_settings *settings,
                                      struct error *err)
{
    struct alert_sender *s = xcalloc(1, sizeof(*s));

    s->log = settings->log;
    s->site_url = xstrdup(settings->site_url);
    s->seed = platform_random_seed();
    s->due_ms = platform_steady_ms() + FIRST_WAIT_MS;
    s->observed_ms = s->synced.steady_ms = s->unsynced.steady_ms = INT64_MAX;
    if (gethostname(s->instance, sizeof(s->instance) - 1) != 0 || s->instance[0] == '\0')
        snprintf(s->instance, sizeof(s->instance), "unknown");
    if (open_managers(s, settings, err))
        return s;
    alert_sender_free(s);
    return NULL;
}

void alert_sender_free(struct alert_sender *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->count; i++)
        alertmanager_free(s->managers[i]);
    problem_alert_list_release(&s->sent);
    problem_alert_list_release(&s->earlier);
    text_list_release(&s->texts);
    free(s->managers);
    free(s->labels);
    free(s->site_url);
    free(s->query);
    free(s);
}

/* ---- sending ---- */

static struct problem_alert_settings alert_settings(const struct alert_sender *s)
{
    return (struct problem_alert_settings){
        .site_url = s->site_url, .labels = s->labels, .label_count = s->label_count};
}

/* Returns true if policies and bindings are read and followed. */
static bool has_current_data(const struct evaluation *e)
{
    const struct kube_source *source;

    if (!e || !e->session)
        return e != NULL;
    source = kube_session_source(e->session);
    for (size_t i = 0; i < kube_source_reflector_count(source); i++) {
        const struct reflector *r = kube_source_reflector(source, i);

        if (r->required && (!r->synced || r->failure.warned))
            return false;
    }
    return true;
}

/* Keeps the beginnings of the states. Returns true if the evaluation has data for the first time.
 */
static bool update_state(struct alert_sender *s, bool synced, int64_t now_ms, int64_t clock_ms)
{
    const struct alert_moment now = {now_ms, clock_ms};
    const struct alert_moment never = {INT64_MAX, 0};

    if (synced && s->synced.steady_ms == INT64_MAX)
        s->synced = now;
    if (!synced && s->unsynced.steady_ms == INT64_MAX)
        s->unsynced = now;
    if (synced)
        s->unsynced = never;
    else
        s->synced = never;
    if (!synced || s->observed_ms != INT64_MAX)
        return false;
    s->observed_ms = now_ms;
    return true;
}

/* Takes the responses of the Alertmanagers. Returns true if one has alerts of an earlier run. */
static bool take_responses(struct alert_sender *s)
{
    const struct problem_alert_settings settings = alert_settings(s);
    bool taken = false;

    for (size_t i = 0; i < s->count; i++) {
        CLEANUP(free_cleanup) char *response = alertmanager_take_response(s->managers[i]);
        int count = response ? problem_alerts_parse(response, &settings, &s->earlier) : 0;

        taken |= count > 0;
        if (count > 0)
            log_write(s->log, LOG_LEVEL_INFO, "renewing alerts of an earlier run", "alertmanager",
                      alertmanager_host(s->managers[i]), "alerts", LOG_NUMBER(count));
        if (count < 0)
            log_write(s->log, LOG_LEVEL_WARN,
                      "cannot read the alerts of an earlier run; they end unless their problems "
                      "open again",
                      "alertmanager", alertmanager_host(s->managers[i]));
    }
    return taken;
}

/* Replaces `sent` by the alerts about the open problems and those of an earlier run. */
static void collect_alerts(struct alert_sender *s, const struct evaluation *current, int64_t now_ms)
{
    const struct problem_alert_settings settings = alert_settings(s);

    problem_alert_list_release(&s->sent);
    problem_alerts_collect(current->engine, &settings, s->seed, &s->sent);
    if (s->sent.omitted > 0 && s->omitted == 0)
        log_write(s->log, LOG_LEVEL_WARN,
                  "too many objects with open problems; some have no alert of their own", "limit",
                  LOG_NUMBER(ALERT_SUBJECTS_MAX));
    s->omitted = s->sent.omitted;
    if (now_ms - s->observed_ms < RENEWAL_MS)
        problem_alerts_renew(&s->earlier, current->engine, s->seed, &s->sent);
    else
        problem_alert_list_release(&s->earlier);
}

static void send_alerts(struct alert_sender *s, bool synced, int64_t now_ms, int64_t clock_ms)
{
    const struct problem_alert_settings settings = alert_settings(s);
    struct problem_alert_list own = {.items = NULL};
    const struct problem_alert_list *const lists[] = {&own, &s->sent};
    struct alert_batch *batch;

    if (synced)
        problem_alerts_add_watchdog(&own, &settings, s->synced.clock_ms);
    else if (now_ms - s->unsynced.steady_ms >= DEGRADED_MS)
        problem_alerts_add_degraded(&own, &settings, s->instance, s->unsynced.clock_ms);
    batch = alert_batch_new(lists, synced ? 2 : 1, clock_ms);
    for (size_t i = 0; batch->count > 0 && i < s->count; i++)
        alertmanager_hand(s->managers[i], batch);
    alert_batch_drop(batch);
    problem_alert_list_release(&own);
}

void alert_sender_turn(struct alert_sender *s, struct evaluation *current, int64_t now_ms,
                       int64_t clock_ms)
{
    bool synced = has_current_data(current);
    bool begins = update_state(s, synced, now_ms, clock_ms);
    bool taken = take_responses(s);

    if ((begins || taken) && s->due_ms > now_ms)
        s->due_ms = now_ms;
    if (now_ms < s->due_ms)
        return;
    if (synced && current->caught_up)
        collect_alerts(s, current, now_ms);
    else if (synced && now_ms - s->due_ms < CATCH_UP_MAX_MS)
        return;
    send_alerts(s, synced, now_ms, clock_ms);
    s->due_ms = now_ms + INTERVAL_MS;
}

int64_t alert_sender_due(const struct alert_sender *s)
{
    return s->due_ms;
}

void alert_sender_fill(const struct alert_sender *s, struct registry *registry)
{
    for (size_t i = 0; i < s->count; i++) {
        for (unsigned result = 0; result < ALERT_RESULTS; result++)
            REGISTRY_SET(registry, OWN_ALERTMANAGER_NOTIFICATIONS,
                         (double)alertmanager_count(s->managers[i], result),
                         alertmanager_host(s->managers[i]), alert_result_names[result]);
    }
}
