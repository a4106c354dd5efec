/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/suite.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include "exporter/serve/alerting/alertmanager.h"
#include "exporter/system/platform.h"
#include "metrics/base/timestamp.h"

enum {
    MINUTE_MS = 60 * 1000,
    HISTORIES = 300,
    STEPS = 200,
    KINDS = 3, /* Alerts in a history. */
    MANY = 12000,
};

static const int64_t epoch_ms = 1700000000000;

struct fixture {
    struct alert_rules rules;
    struct alerts alerts;
    struct series_store *store;
    struct label_pair cluster;
    struct label_list more;
};

static void fixture_init(struct fixture *f)
{
    struct error err;

    assert_true(alert_rules_load(&f->rules, &err));
    f->cluster = (struct label_pair){"cluster", "lab"};
    f->more = (struct label_list){&f->cluster, 1};
    f->store = series_store_new(&f->more, 1);
    alerts_init(&f->alerts, 1);
}

static void fixture_release(struct fixture *f)
{
    alerts_release(&f->alerts);
    series_store_free(f->store);
    alert_rules_release(&f->rules);
}

static const struct alert_rule *rule_of(const struct fixture *f, const char *name)
{
    const struct alert_rule *rule = alert_rules_find(&f->rules, name);

    assert_non_null(rule);
    return rule;
}

/* Updates the alerts of a rule: one sample for each character of `fields`, as label `field`. */
static void update_rule(struct fixture *f, const struct alert_rule *rule, const char *fields,
                        const struct alert_moment *now)
{
    char texts[KINDS][2];
    struct vector v = {.items = NULL};

    for (size_t i = 0; fields[i] != '\0'; i++) {
        struct label_list labels = {NULL, 0};

        snprintf(texts[i], sizeof(texts[i]), "%c", fields[i]);
        label_list_set(&labels, "field", texts[i]);
        vector_add(&v, labels, 1);
    }
    alerts_update(&f->alerts, rule, &v, &f->more, now);
    vector_release(&v);
}

static struct alert_moment at(int64_t steady_ms)
{
    return (struct alert_moment){steady_ms, epoch_ms + steady_ms, steady_ms, false};
}

static const struct alert *alert_of(const struct fixture *f, const char *field)
{
    for (const struct alert *a = f->alerts.first; a; a = a->next) {
        if (strcmp(label_list_get(&a->labels, "field"), field) == 0)
            return a;
    }
    return NULL;
}

/*
 * Compares the alerts with a simple model in a random history. In the model an alert fires once its
 * rule has held for `for_ms` without a break, until the rule has not held for `keep_ms`. The model
 * stores all steps.
 */
static void compare_history_with_model(unsigned seed)
{
    struct fixture f;
    bool held[STEPS][KINDS];
    bool firing[KINDS] = {false};

    fixture_init(&f);
    const struct alert_rule *rule = rule_of(&f, "KarmadaDependencyPolicyConflict");
    const int64_t for_steps = rule->for_ms / MINUTE_MS, keep_steps = rule->keep_ms / MINUTE_MS;

    for (int64_t step = 0; step < STEPS; step++) {
        char fields[KINDS + 1];
        size_t count = 0;

        for (int kind = 0; kind < KINDS; kind++) {
            bool before = step > 0 && held[step - 1][kind];

            /* Changes are rare, or no rule would hold for long enough to fire an alert. */
            held[step][kind] = rand_r(&seed) % 10 == 0 ? !before : before;
            if (held[step][kind])
                fields[count++] = (char)('a' + kind);
        }
        fields[count] = '\0';
        struct alert_moment now = at(step * MINUTE_MS);

        /* Changes of the wall clock have no effect: durations use the steady clock. */
        now.clock_ms += (int64_t)(rand_r(&seed) % 3) * 86400000 - 86400000;
        update_rule(&f, rule, fields, &now);
        for (int kind = 0; kind < KINDS; kind++) {
            const char name[] = {(char)('a' + kind), '\0'};
            const struct alert *alert = alert_of(&f, name);
            int64_t since = 0, gone = 0;

            while (since <= step && held[step - since][kind])
                since++;
            while (gone <= step && !held[step - gone][kind])
                gone++;
            if (since > for_steps)
                firing[kind] = true;
            if (gone > keep_steps)
                firing[kind] = false;
            assert_int_equal(firing[kind], alert && alert->state == ALERT_FIRING);
            if (held[step][kind])
                assert_true(alert && alert->state != ALERT_RESOLVED);
        }
    }
    fixture_release(&f);
}

TEST(alert_fires_when_its_rule_held_for_long_enough)
{
    for (unsigned seed = 1; seed <= HISTORIES; seed++)
        compare_history_with_model(seed);
}

TEST(resolved_alert_is_kept_for_15_minutes_then_starts_anew)
{
    struct fixture f;
    struct alert_moment now = at(0);

    fixture_init(&f);
    const struct alert_rule *rule = rule_of(&f, "KarmadaTemplateLastCopyAtRisk");

    update_rule(&f, rule, "a", &now);
    now = at(MINUTE_MS);
    update_rule(&f, rule, "a", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_FIRING);
    assert_int_equal(alert_of(&f, "a")->starts_ms, epoch_ms + MINUTE_MS);
    now = at(2 * MINUTE_MS);
    update_rule(&f, rule, "", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_RESOLVED);
    assert_int_equal(alert_of(&f, "a")->ends_ms, epoch_ms + 2 * MINUTE_MS);
    now = at(16 * MINUTE_MS);
    update_rule(&f, rule, "", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_RESOLVED);
    now = at(17 * MINUTE_MS);
    update_rule(&f, rule, "", &now);
    assert_null(alert_of(&f, "a"));
    update_rule(&f, rule, "a", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_PENDING);
    fixture_release(&f);
}

TEST(no_alert_is_resolved_while_objects_are_unread)
{
    struct fixture f;

    fixture_init(&f);
    const struct alert_rule *rule = rule_of(&f, "KarmadaTemplateLastCopyAtRisk");
    struct alert_moment now = at(0);

    update_rule(&f, rule, "a", &now);
    now = at(MINUTE_MS);
    update_rule(&f, rule, "a", &now);
    for (int minute = 2; minute < 100; minute++) {
        now = at(minute * MINUTE_MS);
        now.incomplete = true;
        update_rule(&f, rule, "", &now);
        assert_int_equal(alert_of(&f, "a")->state, ALERT_FIRING);
    }
    now.incomplete = false;
    update_rule(&f, rule, "", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_RESOLVED);
    fixture_release(&f);
}

/* ---- alerts that are adopted after a start ---- */

static char *make_answer(const char *name, const char *more)
{
    char *text = NULL;

    if (asprintf(
            &text,
            "[{\"labels\": {\"alertname\": \"%s\", \"severity\": \"%s\", \"cluster\": \"lab\", "
            "\"product\": \"karmada-policy-exporter\"%s}, "
            "\"startsAt\": \"2023-11-14T22:00:00.000Z\"}]",
            name, strcmp(name, "KarmadaPolicyDriftBurst") == 0 ? "warning" : "critical", more) < 0)
        abort();
    return text;
}

static int adopt(struct fixture *f, const char *name, const char *more,
                 const struct alert_moment *now)
{
    char labels[64];

    snprintf(labels, sizeof(labels), ", \"field\": \"a\"%s", more);
    char *text = make_answer(name, labels);
    int count = alert_batch_adopt(&f->alerts, &f->rules, &f->more, text, now);

    free(text);
    return count;
}

TEST(adopted_alert_fires_without_a_wait)
{
    struct fixture f;
    struct alert_moment now = at(0);
    int64_t began_ms;

    fixture_init(&f);
    assert_true(parse_timestamp("2023-11-14T22:00:00Z", &began_ms));
    const struct alert_rule *rule = rule_of(&f, "KarmadaDependencyResolutionUnapplied");

    assert_int_equal(adopt(&f, rule->name, "", &now), 1);
    /* Another Alertmanager returns the same alert: it is counted again, and nothing changes. */
    assert_int_equal(adopt(&f, rule->name, "", &now), 1);
    update_rule(&f, rule, "ab", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_FIRING);
    assert_int_equal(alert_of(&f, "a")->starts_ms, began_ms);
    assert_int_equal(alert_of(&f, "b")->state, ALERT_PENDING);
    now = at(MINUTE_MS);
    update_rule(&f, rule, "b", &now);
    /* The alert keeps firing for rule->keep_ms. */
    assert_int_equal(alert_of(&f, "a")->state, ALERT_FIRING);
    now = at(MINUTE_MS + rule->keep_ms);
    update_rule(&f, rule, "b", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_RESOLVED);
    /* An outdated answer of an Alertmanager does not make a resolved alert fire again. */
    adopt(&f, rule->name, "", &now);
    assert_int_equal(alert_of(&f, "a")->state, ALERT_RESOLVED);
    fixture_release(&f);
}

/* After a start, the rule has samples for its whole window only when the window has passed. */
TEST(adopted_alert_stays_until_its_window_has_passed)
{
    struct fixture f;
    struct alert_moment now = at(0);
    struct vector none = {.items = NULL};

    fixture_init(&f);
    const struct alert_rule *rule = rule_of(&f, "KarmadaPolicyDriftBurst");

    assert_true(rule->window_ms >= 15 * MINUTE_MS && rule->window_ms < 30 * MINUTE_MS);
    free(f.rules.items[rule - f.rules.items].labels.items);
    f.rules.items[rule - f.rules.items].labels = (struct name_list){NULL, 0};
    char *text = make_answer(rule->name, "");

    assert_int_equal(alert_batch_adopt(&f.alerts, &f.rules, &f.more, text, &now), 1);
    free(text);
    f.rules.items[rule - f.rules.items].keep_ms = 0;
    for (int minute = 0; minute < rule->window_ms / MINUTE_MS; minute++) {
        now = at(minute * MINUTE_MS);
        alerts_update(&f.alerts, rule, &none, &f.more, &now);
        assert_int_equal(f.alerts.first->state, ALERT_FIRING);
    }
    now = at(rule->window_ms);
    alerts_update(&f.alerts, rule, &none, &f.more, &now);
    assert_int_equal(f.alerts.first->state, ALERT_RESOLVED);
    fixture_release(&f);
}

/* KarmadaPolicyExporterBlind mutes all other alerts, so a start must not prolong it. */
TEST(start_does_not_prolong_the_alert_of_a_blind_exporter)
{
    struct fixture f;

    fixture_init(&f);
    assert_true(rule_of(&f, "KarmadaPolicyExporterBlind")->window_ms <= ALERT_WINDOW_MIN_MS);
    assert_true(rule_of(&f, "KarmadaDecisionsFlapping")->window_ms == ALERT_WINDOW_MAX_MS);
    fixture_release(&f);
}

TEST(alerts_of_other_senders_are_not_adopted)
{
    static const char *const others[] = {
        ", \"prometheus\": \"k8s\"",
        ", \"instance\": \"a\"",
        ", \"shard\": \"1\"",
        ", \"cluster\": \"lab2\"",
    };
    struct fixture f;
    struct alert_moment now = at(0);

    fixture_init(&f);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        assert_int_equal(adopt(&f, "KarmadaDependencyResolutionUnapplied", others[i], &now), 0);
    assert_int_equal(adopt(&f, "Elsewhere", "", &now), 0);
    assert_int_equal(alert_batch_adopt(&f.alerts, &f.rules, &f.more, "[1, null, {}]", &now), 0);
    assert_int_equal(alert_batch_adopt(&f.alerts, &f.rules, &f.more, "{}", &now), -1);
    assert_int_equal(alert_batch_adopt(&f.alerts, &f.rules, &f.more, "[", &now), -1);
    assert_null(f.alerts.first);
    fixture_release(&f);
}

/* ---- requests to Alertmanager ---- */

TEST(requests_are_bounded_and_contain_every_alert_once)
{
    struct fixture f;
    struct vector v = {.items = NULL};
    char(*names)[16] = xcalloc(MANY, sizeof(*names));
    size_t alerts = 0, parsed = 0;
    struct error err;

    fixture_init(&f);
    const struct alert_rule *rule = rule_of(&f, "KarmadaDependencyPolicyConflict");

    for (size_t i = 0; i < MANY; i++) {
        struct label_list labels = {NULL, 0};

        snprintf(names[i], sizeof(names[i]), "field-%zu", i);
        label_list_set(&labels, "field", names[i]);
        label_list_set(&labels, "instance", "one of two");
        vector_add(&v, labels, 1);
    }
    for (int minute = 0; minute <= rule->for_ms / MINUTE_MS; minute++) {
        const struct alert_moment now = at(minute * MINUTE_MS);

        alerts_update(&f.alerts, rule, &v, &f.more, &now);
    }
    assert_int_equal(f.alerts.count, ALERTS_MAX);
    assert_true(f.alerts.overflow >= MANY - ALERTS_MAX);
    const struct alert_batch_settings settings = {f.store, "https://pages.test", epoch_ms};
    struct alert_batch *batch = alert_batch_new(&f.alerts, &settings);

    for (size_t i = 0; i < batch->count; i++) {
        cJSON *json = json_parse(batch->requests[i].json, batch->requests[i].len, NULL, &err);
        const cJSON *labels = json_get(cJSON_GetArrayItem(json, 0), "labels");

        assert_true(batch->requests[i].len <= ALERT_REQUEST_MAX_BYTES + 2);
        assert_int_equal(cJSON_GetArraySize(json), batch->requests[i].alerts);
        assert_null(json_get(labels, "instance"));
        assert_string_equal(json_str(labels, "cluster", ""), "lab");
        parsed += (size_t)cJSON_GetArraySize(json);
        alerts += batch->requests[i].alerts;
        cJSON_Delete(json);
    }
    assert_true(batch->count > 1);
    assert_int_equal(alerts, ALERTS_MAX);
    assert_int_equal(parsed, ALERTS_MAX);
    assert_int_equal(batch->alerts, ALERTS_MAX);
    alert_batch_drop(batch);
    vector_release(&v);
    free(names);
    fixture_release(&f);
}

/*
 * The Alertmanager accepts connections and sends no response. Only the latest batch waits for it,
 * and alertmanager_free() returns.
 */
TEST(alertmanager_that_hangs_drops_old_batches)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t len = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const struct log log = {.level = LOG_LEVEL_NONE, .stream = stderr};
    char url[64];
    struct options options;
    struct fixture f;
    struct error err;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(fd, 8), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", ntohs(address.sin_port));
    options_init(&options);
    fixture_init(&f);
    const struct alert_rule *rule = rule_of(&f, "KarmadaDependencyResolutionUnapplied");
    const struct alert_moment now = at(0);
    const struct alert_batch_settings batch_settings = {f.store, "", epoch_ms};
    const struct alertmanager_settings settings = {&options, url, "", platform_environment(), &log};

    assert_int_equal(adopt(&f, rule->name, "", &now), 1);
    struct alertmanager *m = alertmanager_new(&settings, &err);

    assert_non_null(m);
    assert_string_equal(alertmanager_host(m), url + strlen("http://"));
    for (int i = 0; i < 3; i++) {
        struct alert_batch *batch = alert_batch_new(&f.alerts, &batch_settings);

        assert_int_equal(batch->alerts, 1);
        alertmanager_hand(m, batch);
        alert_batch_drop(batch);
    }
    assert_int_equal(alertmanager_count(m, ALERT_DROPPED), 2);
    assert_int_equal(alertmanager_count(m, ALERT_SENT), 0);
    assert_null(alertmanager_take_answer(m));
    alertmanager_free(m);
    options_release(&options);
    fixture_release(&f);
    close(fd);
}
