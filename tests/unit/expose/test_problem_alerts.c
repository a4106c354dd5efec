/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_alerts.h"

#include "metrics/base/json.h"
#include "metrics/base/strbuf.h"
#include "metrics/rules/engine.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { MINUTE = 60 * 1000, TEXT_MAX = 1 << 16, SEED = 7 };

static const int64_t START_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

static const struct alert_label plane[] = {{"cluster", "lab"}};
static const struct problem_alert_settings settings = {"https://pages.test", plane, 1};

/* Templates of a world as subjects of problems that tests make, and the alerts about them. */
struct lab {
    struct world world;
    struct problem_options options;
    struct alert_groups *groups;
    struct problem *made[2000];
    size_t count;
    struct problem_alert_list alerts;
};

static void lab_init(struct lab *lab)
{
    *lab = (struct lab){.groups = alert_groups_new(SEED)};
    world_init(&lab->world, &rules_options_default, 1);
    problem_settings_reset(&lab->options.settings);
    world_run(&lab->world, START_MS);
    engine_judge_problems(lab->world.engine, &lab->options);
}

static void lab_release(struct lab *lab)
{
    alert_groups_free(lab->groups);
    for (size_t i = 0; i < lab->count; i++)
        free(lab->made[i]);
    problem_alert_list_release(&lab->alerts);
    world_release(&lab->world);
}

/* Returns a Deployment, which is put if it does not exist. */
static struct entry *deployment(struct lab *lab, const char *ns, const char *name)
{
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(TEXT_MAX);

    strbuf_addf(&json,
                "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                "\"name\":\"%s\",\"namespace\":\"%s\"},\"spec\":{\"replicas\":2}}",
                name, ns);
    world_put_text(&lab->world, json.data);
    return world_find(&lab->world, "apps/v1", "Deployment", ns, name);
}

/* Adds an open problem; times are in minutes after START_MS. Returns it, to be changed. */
static struct problem *add(struct lab *lab, enum problem_reason reason, const char *ns,
                           const char *name, int since, int opened)
{
    struct problem *p = xcalloc(1, sizeof(*p));

    *p = (struct problem){
        .subject = deployment(lab, ns, name),
        .since_ms = START_MS + (int64_t)since * MINUTE,
        .opened_ms = START_MS + (int64_t)opened * MINUTE,
        .reason = reason,
        .status = PROBLEM_OPEN,
    };
    assert_true(lab->count < ARRAY_LEN(lab->made));
    lab->made[lab->count++] = p;
    return p;
}

static void group(struct lab *lab, const struct problem *p)
{
    alert_groups_add(lab->groups, p, problem_table[problem_id(p)].severity);
}

static void write_alerts(struct lab *lab)
{
    world_run(&lab->world, START_MS);
    alert_groups_write(lab->groups, lab->world.engine, &settings, &lab->alerts);
}

/* Appends the labels as "name=value name=value", without those that all alerts have. */
static void add_labels(const struct problem_alert *alert, struct strbuf *out)
{
    const cJSON *label;

    cJSON_ArrayForEach (label, alert->labels) {
        if (strcmp(label->string, "product") == 0 || strcmp(label->string, "job") == 0)
            assert_string_equal(label->valuestring, "karmada-policy-exporter");
        else if (strcmp(label->string, "cluster") == 0)
            assert_string_equal(label->valuestring, "lab");
        else
            strbuf_addf(out, "%s%s=%s", out->len ? " " : "", label->string, label->valuestring);
    }
    assert_non_null(json_get(alert->labels, "product"));
    assert_non_null(json_get(alert->labels, "job"));
    assert_non_null(json_get(alert->labels, "cluster"));
}

static void assert_labels(const struct problem_alert *alert, const char *wanted)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(TEXT_MAX);

    add_labels(alert, &text);
    assert_string_equal(text.data, wanted);
}

static const char *annotation(const struct problem_alert *alert, const char *name)
{
    return json_str(alert->annotations, name, "");
}

/* Returns the description of the only alert, which must begin with `wanted`. */
static const char *description_after(const struct lab *lab, const char *wanted)
{
    const char *text;

    assert_int_equal(lab->alerts.count, 1);
    text = annotation(&lab->alerts.items[0], "description");
    if (strncmp(text, wanted, strlen(wanted)) != 0)
        fail_msg("%s", text);
    return text;
}

/* ---- the table of the contract ---- */

static const struct alert_case {
    const char *alert;
    const char *problems;
    const char *one_for_each;
} contract[] = {
    {"KarmadaLastCopyAtRisk", "last_copy_at_risk", "subject"},
    {"KarmadaPlacementLost", "placement_lost", "subject"},
    {"KarmadaCloudResourceConflict", "cloud_resource_conflict", "subject"},
    {"KarmadaMemberClusterUnavailable", "member_cluster_unavailable", "subject"},
    {"KarmadaControllersStuck", "controllers_stuck scheduler_stuck", "reason"},
    {"KarmadaDependencyPolicyConflict", "dependency_conflict dependency_not_resolved",
     "namespace reason"},
    {"KarmadaPolicyNotInForce", "policy_not_in_force template_frozen", "namespace reason"},
    {"KarmadaNotPropagated", "not_propagated binding_name_collision", "namespace reason"},
    {"KarmadaNotScheduled", "placement_at_risk not_scheduled", "namespace reason"},
    {"KarmadaNotDelivered", "not_delivered override_failed", "namespace reason"},
    {"KarmadaEvictionStuck", "eviction_stuck", "namespace reason"},
    {"KarmadaPolicyBroken", "policy_invalid reference_broken deletion_stuck", "namespace reason"},
    {"KarmadaLeaseAtRisk", "management_conflict lease_at_risk", "namespace reason"},
    {"KarmadaDecisionFlapping", "decision_flapping", "namespace reason"},
    {"KarmadaPolicyExporterDataIncomplete", "data_incomplete", "reason"},
};

TEST_ROWS(alert_and_grouping_of_problems, contract, alert)
{
    const struct alert_case *row = *state;
    CLEANUP(strbuf_release) struct strbuf problems = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf grouping = STRBUF_INIT(TEXT_MAX);

    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        enum problem_id problem = (enum problem_id)i;
        enum problem_severity severity = problem_table[i].severity;
        enum problem_alert_id alert = problem_alert_of(problem, severity);

        if (strcmp(problem_alert_table[alert].name, row->alert) != 0)
            continue;
        strbuf_addf(&problems, "%s%s", problems.len ? " " : "", problem_names[i]);
        strbuf_reset(&grouping);
        if (problem_alert_table[alert].grouping & ALERT_BY_SUBJECT)
            strbuf_adds(&grouping, "subject");
        if (problem_alert_table[alert].grouping & ALERT_BY_NAMESPACE)
            strbuf_adds(&grouping, "namespace ");
        if (problem_alert_table[alert].grouping & ALERT_BY_REASON)
            strbuf_adds(&grouping, "reason");
    }
    assert_string_equal(problems.data, row->problems);
    assert_string_equal(grouping.data, row->one_for_each);
}

TEST(severity_info_is_always_the_review)
{
    for (unsigned i = 0; i < PROBLEM_COUNT; i++)
        assert_int_equal(problem_alert_of((enum problem_id)i, SEVERITY_INFO),
                         PROBLEM_ALERT_POLICY_REVIEW);
}

TEST(raised_problems_without_an_alert_have_their_own)
{
    size_t raised = 0;

    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        enum problem_id problem = (enum problem_id)i;
        bool is_raised =
            problem_alert_of(problem, SEVERITY_WARNING) == PROBLEM_ALERT_POLICY_PROBLEM;

        assert_int_equal(is_raised, problem_table[i].severity == SEVERITY_INFO);
        assert_int_equal(problem_alert_of(problem, SEVERITY_CRITICAL),
                         problem_alert_of(problem, SEVERITY_WARNING));
        raised += is_raised;
    }
    assert_true(raised > 10);
}

/* ---- groups and labels ---- */

TEST(one_alert_for_each_namespace_problem_and_reason)
{
    static struct lab lab;

    lab_init(&lab);
    group(&lab, add(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "shop", "b", 3, 20));
    group(&lab, add(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "shop", "a", 1, 30));
    group(&lab, add(&lab, PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH, "shop", "c", 4, 40));
    group(&lab, add(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "web", "d", 5, 50));
    group(&lab, add(&lab, PROBLEM_REASON_BINDING_NAME_COLLISION_TAKEN, "shop", "e", 6, 60));
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, 5 - 1);
    assert_labels(&lab.alerts.items[0],
                  "alertname=KarmadaNotPropagated namespace=shop problem=not_propagated "
                  "reason=stuck severity=warning");
    assert_labels(&lab.alerts.items[1],
                  "alertname=KarmadaNotPropagated namespace=shop problem=not_propagated "
                  "reason=no_match severity=warning");
    assert_labels(&lab.alerts.items[2],
                  "alertname=KarmadaNotPropagated namespace=web problem=not_propagated "
                  "reason=stuck severity=warning");
    assert_labels(&lab.alerts.items[3],
                  "alertname=KarmadaNotPropagated namespace=shop problem=binding_name_collision "
                  "reason=taken severity=warning");
    assert_true(lab.alerts.items[0].starts_ms == START_MS + 20 * MINUTE);
    lab_release(&lab);
}

TEST(one_alert_for_each_subject)
{
    static struct lab lab;

    lab_init(&lab);
    group(&lab, add(&lab, PROBLEM_REASON_PLACEMENT_LOST_CLUSTER_GONE, "shop", "b", 3, 5));
    group(&lab, add(&lab, PROBLEM_REASON_PLACEMENT_LOST_CLUSTER_GONE, "shop", "a", 3, 6));
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, 2);
    assert_labels(&lab.alerts.items[0],
                  "alertname=KarmadaPlacementLost api_group=apps kind=Deployment name=a "
                  "namespace=shop problem=placement_lost severity=critical");
    assert_labels(&lab.alerts.items[1],
                  "alertname=KarmadaPlacementLost api_group=apps kind=Deployment name=b "
                  "namespace=shop problem=placement_lost severity=critical");
    assert_true(lab.alerts.items[1].starts_ms == START_MS + 5 * MINUTE);
    lab_release(&lab);
}

TEST(a_changed_reason_of_a_subject_is_the_same_alert)
{
    static const enum problem_reason reasons[] = {PROBLEM_REASON_PLACEMENT_LOST_CLUSTER_GONE,
                                                  PROBLEM_REASON_PLACEMENT_LOST_NO_CLUSTER_FIT};

    for (size_t i = 0; i < ARRAY_LEN(reasons); i++) {
        static struct lab lab;

        lab_init(&lab);
        group(&lab, add(&lab, reasons[i], "shop", "web", 3, 5));
        write_alerts(&lab);
        assert_labels(&lab.alerts.items[0],
                      "alertname=KarmadaPlacementLost api_group=apps kind=Deployment name=web "
                      "namespace=shop problem=placement_lost severity=critical");
        assert_non_null(strstr(annotation(&lab.alerts.items[0], "description"),
                               problem_reasons[reasons[i]].name));
        lab_release(&lab);
    }
}

/* Objects in place of deployment(): the template has an owner, and a policy selects it. */
#define OWNED_TEMPLATE                                                                             \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":\"web\","          \
    "\"namespace\":\"shop\",\"labels\":{\"team\":\"payments\"}},\"spec\":{\"replicas\":2}}"
#define ITS_POLICY                                                                                 \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","               \
    "\"metadata\":{\"name\":\"pp\",\"namespace\":\"shop\"},\"spec\":{\"resourceSelectors\":["      \
    "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"}],\"placement\":{}}}"

TEST(the_alert_of_a_subject_names_owner_and_policy)
{
    static struct lab lab;
    struct problem *p;

    lab_init(&lab);
    store_set_owner_key(lab.world.store, "team");
    p = add(&lab, PROBLEM_REASON_PLACEMENT_LOST_NO_CLUSTER_FIT, "shop", "web", 3, 5);
    world_put_text(&lab.world, OWNED_TEMPLATE);
    world_put_text(&lab.world, ITS_POLICY);
    group(&lab, p);
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, 1);
    assert_labels(&lab.alerts.items[0],
                  "alertname=KarmadaPlacementLost api_group=apps kind=Deployment name=web "
                  "namespace=shop owner=payments policy=pp policy_kind=PropagationPolicy "
                  "policy_namespace=shop problem=placement_lost "
                  "severity=critical");
    lab_release(&lab);
}

TEST(the_review_has_one_alert_for_each_problem)
{
    static struct lab lab;

    lab_init(&lab);
    group(&lab, add(&lab, PROBLEM_REASON_UNHEALTHY_ROLLING, "shop", "a", 1, 31));
    group(&lab, add(&lab, PROBLEM_REASON_UNHEALTHY_UNKNOWN, "web", "b", 2, 32));
    alert_groups_add(lab.groups, add(&lab, PROBLEM_REASON_NOT_SCHEDULED_WAITING, "web", "c", 3, 33),
                     SEVERITY_INFO);
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, 2);
    assert_labels(&lab.alerts.items[0],
                  "alertname=KarmadaPolicyReview problem=unhealthy severity=info");
    assert_labels(&lab.alerts.items[1],
                  "alertname=KarmadaPolicyReview problem=not_scheduled severity=info");
    lab_release(&lab);
}

TEST(a_raised_problem_has_its_severity)
{
    static struct lab lab;

    lab_init(&lab);
    alert_groups_add(lab.groups, add(&lab, PROBLEM_REASON_UNHEALTHY_ROLLING, "shop", "a", 1, 31),
                     SEVERITY_CRITICAL);
    group(&lab, add(&lab, PROBLEM_REASON_NOT_SCHEDULED_WAITING, "shop", "b", 0, 10));
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, 2);
    assert_labels(&lab.alerts.items[0],
                  "alertname=KarmadaPolicyProblem namespace=shop problem=unhealthy "
                  "reason=rolling severity=critical");
    assert_labels(&lab.alerts.items[1],
                  "alertname=KarmadaNotScheduled namespace=shop problem=not_scheduled "
                  "reason=waiting severity=warning");
    lab_release(&lab);
}

/* ---- texts ---- */

TEST(a_description_names_the_five_oldest_objects)
{
    static struct lab lab;
    static const char wanted[] =
        "Deployment shop/t6 since 2026-01-01T00:01:00Z, "
        "Deployment shop/t5 since 2026-01-01T00:02:00Z, "
        "Deployment shop/t4 first seen 2026-01-01T00:03:00Z, "
        "Deployment shop/t2 since 2026-01-01T00:05:00Z, "
        "Deployment shop/t3 since 2026-01-01T00:05:00Z and 2 more. The first: ";
    static const int since[] = {7, 6, 5, 5, 3, 2, 1};
    const char *text;
    char name[16];

    lab_init(&lab);
    for (int i = 0; i < 7; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        struct problem *p =
            add(&lab, PROBLEM_REASON_NOT_DELIVERED_REFUSED, "shop", name, since[i], 30 - i);

        p->since_seen = i == 4;
        group(&lab, p);
    }
    write_alerts(&lab);
    text = description_after(&lab, wanted);
    assert_true(strlen(text) > strlen(wanted));
    assert_string_equal(annotation(&lab.alerts.items[0], "summary"),
                        "Templates do not reach their member clusters.");
    assert_string_equal(annotation(&lab.alerts.items[0], "page_url"),
                        "https://pages.test/?problem=not_delivered&namespace=shop");
    assert_true(lab.alerts.items[0].starts_ms == START_MS + 24 * MINUTE);
    lab_release(&lab);
}

TEST(descriptions_have_no_characters_that_control_a_terminal)
{
    static struct lab lab;
    static const char wanted[] =
        "Deployment shop/a\xEF\xBF\xBD[31m\xEF\xBF\xBDz\xC3\xA4 since 2026-01-01T00:01:00Z. ";
    /* ESC, a right-to-left override, and a letter of two bytes. */
    static const char name[] = "a\x1B[31m\xE2\x80\xAEz\xC3\xA4";
    struct problem *p;
    const char *text;

    lab_init(&lab);
    p = add(&lab, PROBLEM_REASON_NOT_DELIVERED_REFUSED, "shop", "web", 1, 2);
    world_put_text(&lab.world, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                               "\"name\":\"a\\u001b[31m\\u202ez\\u00e4\",\"namespace\":\"shop\"}}");
    p->subject = world_find(&lab.world, "apps/v1", "Deployment", "shop", name);
    group(&lab, p);
    write_alerts(&lab);
    text = description_after(&lab, wanted);
    assert_null(strchr(text, '\x1B'));
    lab_release(&lab);
}

/* Asserts a runbook_url that ends with "/ALERT.md#PROBLEM", the problem as an anchor. */
static void assert_is_section_of_runbook(const struct problem_alert *alert)
{
    CLEANUP(strbuf_release) struct strbuf end = STRBUF_INIT(TEXT_MAX);
    const char *url = annotation(alert, "runbook_url");

    strbuf_addf(&end, "/%s.md#%s", json_str(alert->labels, "alertname", ""),
                json_str(alert->labels, "problem", ""));
    for (char *at = strchr(end.data, '#'); *at != '\0'; at++)
        *at = *at == '_' ? '-' : *at;
    assert_true(strncmp(url, "https://", 8) == 0 && strlen(url) > end.len);
    assert_string_equal(url + strlen(url) - end.len, end.data);
}

TEST(every_alert_has_a_summary_a_description_and_a_runbook)
{
    static struct lab lab;

    lab_init(&lab);
    for (unsigned i = 0; i < PROBLEM_COUNT; i++)
        group(&lab,
              add(&lab, problem_first_reason((enum problem_id)i), "shop", problem_names[i], 1, 2));
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, PROBLEM_COUNT);
    for (size_t i = 0; i < lab.alerts.count; i++) {
        const struct problem_alert *alert = &lab.alerts.items[i];

        assert_true(*annotation(alert, "summary") != '\0');
        assert_true(strlen(annotation(alert, "description")) > strlen("Deployment shop/x since "));
        assert_is_section_of_runbook(alert);
        assert_non_null(strstr(annotation(alert, "page_url"), "https://pages.test/?problem="));
    }
    lab_release(&lab);
}

TEST(without_the_url_of_the_site_there_is_no_link_to_it)
{
    static struct lab lab;
    const struct problem_alert_settings unknown = {"", plane, 1};

    lab_init(&lab);
    group(&lab, add(&lab, PROBLEM_REASON_NOT_DELIVERED_REFUSED, "shop", "a", 1, 2));
    world_run(&lab.world, START_MS);
    alert_groups_write(lab.groups, lab.world.engine, &unknown, &lab.alerts);
    problem_alerts_add_watchdog(&lab.alerts, &unknown, START_MS);
    assert_int_equal(lab.alerts.count, 2);
    for (size_t i = 0; i < lab.alerts.count; i++)
        assert_null(json_get(lab.alerts.items[i].annotations, "page_url"));
    lab_release(&lab);
}

/* ---- limits ---- */

TEST(namespaces_beyond_the_limit_share_an_alert)
{
    static struct lab lab;
    size_t others = 0;
    char ns[16];

    lab_init(&lab);
    for (int i = 0; i < ALERT_NAMESPACES_MAX + 50; i++) {
        snprintf(ns, sizeof(ns), "ns%d", i);
        group(&lab, add(&lab, PROBLEM_REASON_NOT_DELIVERED_REFUSED, ns, "a", i, 500 - i));
        group(&lab, add(&lab, PROBLEM_REASON_NOT_DELIVERED_REFUSED, ns, "b", i, 500));
    }
    /* Another reason has its own limit. */
    group(&lab, add(&lab, PROBLEM_REASON_NOT_DELIVERED_WAITING, "late", "a", 600, 700));
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, ALERT_NAMESPACES_MAX + 2);
    assert_int_equal(lab.alerts.omitted, 0);
    for (size_t i = 0; i < lab.alerts.count; i++) {
        const struct problem_alert *alert = &lab.alerts.items[i];
        const char *text = annotation(alert, "description");

        if (strcmp(json_str(alert->labels, "namespace", ""), "_others") != 0)
            continue;
        others++;
        assert_non_null(strstr(text, "Deployment ns100/a since"));
        assert_non_null(strstr(text, " and 95 more. "));
        assert_true(alert->starts_ms == START_MS + (500 - 149) * MINUTE);
        assert_string_equal(annotation(alert, "page_url"),
                            "https://pages.test/?problem=not_delivered");
    }
    assert_int_equal(others, 1);
    lab_release(&lab);
}

TEST(the_oldest_subjects_have_an_alert)
{
    static struct lab lab;
    char name[16];

    lab_init(&lab);
    for (int i = 0; i < ALERT_SUBJECTS_MAX + 200; i++) {
        snprintf(name, sizeof(name), "t%d", i);
        group(&lab, add(&lab, PROBLEM_REASON_LAST_COPY_AT_RISK_CLUSTER_READY, "shop", name,
                        2000 - i, 3000));
    }
    write_alerts(&lab);
    assert_int_equal(lab.alerts.count, ALERT_SUBJECTS_MAX);
    assert_int_equal(lab.alerts.omitted, 200);
    assert_string_equal(json_str(lab.alerts.items[0].labels, "name", ""), "t1199");
    assert_string_equal(json_str(lab.alerts.items[ALERT_SUBJECTS_MAX - 1].labels, "name", ""),
                        "t200");
    lab_release(&lab);
}

/* ---- problems of an engine ---- */

TEST(open_and_resolving_problems_of_an_engine_alert)
{
    static struct lab lab;
    static const struct external_subject pods = {"", "Source", "", "pods"};
    static const struct external_subject file = {"", "Source", "", "a.yaml"};
    struct problems *ps;

    lab_init(&lab);
    ps = engine_problems(lab.world.engine);
    problems_report(ps, &pods, PROBLEM_REASON_DATA_INCOMPLETE_LATE, 0);
    world_run(&lab.world, START_MS);
    world_run(&lab.world, START_MS + 9 * MINUTE);
    problem_alerts_collect(lab.world.engine, &settings, SEED, &lab.alerts);
    assert_int_equal(lab.alerts.count, 0);
    world_run(&lab.world, START_MS + 10 * MINUTE);
    problems_report(ps, &file, PROBLEM_REASON_DATA_INCOMPLETE_BROKEN_FILE, 0);
    world_run(&lab.world, START_MS + 10 * MINUTE);
    problem_alerts_collect(lab.world.engine, &settings, SEED, &lab.alerts);
    assert_int_equal(lab.alerts.count, 1);
    assert_labels(&lab.alerts.items[0],
                  "alertname=KarmadaPolicyExporterDataIncomplete problem=data_incomplete "
                  "reason=late severity=warning");
    assert_true(lab.alerts.items[0].starts_ms == START_MS + 10 * MINUTE);
    problems_withdraw(ps, &pods, PROBLEM_DATA_INCOMPLETE);
    world_run(&lab.world, START_MS + 11 * MINUTE);
    problem_alert_list_release(&lab.alerts);
    problem_alerts_collect(lab.world.engine, &settings, SEED, &lab.alerts);
    assert_int_equal(lab.alerts.count, 1);
    lab_release(&lab);
}

/* ---- alerts about the exporter ---- */

TEST(watchdog_and_degraded)
{
    static struct lab lab;

    lab_init(&lab);
    problem_alerts_add_watchdog(&lab.alerts, &settings, START_MS);
    problem_alerts_add_degraded(&lab.alerts, &settings, "pod-1", START_MS + MINUTE);
    assert_labels(&lab.alerts.items[0], "alertname=KarmadaPolicyExporterWatchdog severity=none");
    assert_labels(&lab.alerts.items[1], "alertname=KarmadaPolicyExporterDegraded instance=pod-1 "
                                        "reason=not_synced severity=warning");
    assert_true(lab.alerts.items[1].starts_ms == START_MS + MINUTE);
    assert_non_null(strstr(annotation(&lab.alerts.items[1], "description"),
                           "The replica pod-1 has no current data of policies and bindings since "
                           "2026-01-01T00:01:00Z"));
    assert_string_equal(annotation(&lab.alerts.items[1], "page_url"),
                        "https://pages.test/exporter");
    lab_release(&lab);
}

/* ---- alerts of an earlier run ---- */

#define COMMON                                                                                     \
    "\"product\":\"karmada-policy-exporter\",\"job\":\"karmada-policy-exporter\","                 \
    "\"severity\":\"warning\""
#define OURS                                                                                       \
    COMMON ",\"cluster\":\"lab\",\"alertname\":\"KarmadaNotPropagated\","                          \
           "\"problem\":\"not_propagated\",\"reason\":\"stuck\",\"namespace\":\"shop\""
#define RESPONSE(labels)                                                                           \
    "[{\"labels\":{" labels "},\"annotations\":{\"summary\":\"old\"},"                             \
    "\"startsAt\":\"2025-12-31T23:00:00.500Z\",\"endsAt\":\"2026-01-01T00:05:00Z\"}]"

static const struct response_case {
    const char *title;
    const char *json;
    int count;
} responses[] = {
    {"an alert of an earlier run", RESPONSE(OURS), 1},
    {"an empty list", "[]", 0},
    {"an object", "{}", -1},
    {"no JSON", "<html>", -1},
    {"an empty response", "", -1},
    {"a list of numbers", "[1, null]", 0},
    {"a label of another sender", RESPONSE(OURS ",\"prometheus\":\"k8s\""), 0},
    {"an alert of another plane",
     RESPONSE(COMMON ",\"cluster\":\"other\",\"alertname\":\"KarmadaNotPropagated\","
                     "\"problem\":\"not_propagated\""),
     0},
    {"an alert without the plane",
     RESPONSE(COMMON ",\"alertname\":\"KarmadaNotPropagated\",\"problem\":\"not_propagated\""), 0},
    {"an unknown problem",
     RESPONSE(COMMON ",\"cluster\":\"lab\",\"alertname\":\"KarmadaNotPropagated\","
                     "\"problem\":\"none_such\""),
     0},
    {"the watchdog",
     RESPONSE(COMMON ",\"cluster\":\"lab\",\"alertname\":\"KarmadaPolicyExporterWatchdog\""), 0},
    {"another replica that is degraded",
     RESPONSE(COMMON ",\"cluster\":\"lab\",\"alertname\":\"KarmadaPolicyExporterDegraded\","
                     "\"instance\":\"pod-2\",\"reason\":\"not_synced\""),
     0},
    {"no time", "[{\"labels\":{" OURS "},\"startsAt\":\"yesterday\"}]", 0},
    {"a label that is no text", RESPONSE(OURS ",\"owner\":1"), 0},
    {"a reason of a subject, from an earlier version",
     RESPONSE(COMMON ",\"cluster\":\"lab\",\"alertname\":\"KarmadaPlacementLost\","
                     "\"problem\":\"placement_lost\",\"name\":\"web\",\"reason\":\"cluster_gone\""),
     0},
    {"a subject",
     RESPONSE(COMMON ",\"cluster\":\"lab\",\"alertname\":\"KarmadaPlacementLost\","
                     "\"problem\":\"placement_lost\",\"name\":\"web\""),
     1},
};

TEST_ROWS(parse_alerts_of_an_earlier_run, responses, title)
{
    const struct response_case *row = *state;
    struct problem_alert_list list = {.items = NULL};

    assert_int_equal(problem_alerts_parse(row->json, &settings, &list), row->count);
    assert_int_equal(list.count, row->count > 0 ? row->count : 0);
    problem_alert_list_release(&list);
}

TEST(earlier_alerts_are_renewed_beside_those_of_now)
{
    static struct lab lab;
    struct problem_alert_list earlier = {.items = NULL};

    lab_init(&lab);
    group(&lab, add(&lab, PROBLEM_REASON_NOT_PROPAGATED_NO_MATCH, "shop", "c", 4, 40));
    write_alerts(&lab);
    /* Two Alertmanagers return the same alert. */
    assert_int_equal(problem_alerts_parse(RESPONSE(OURS), &settings, &earlier), 1);
    assert_int_equal(problem_alerts_parse(RESPONSE(OURS), &settings, &earlier), 1);
    problem_alerts_renew(&earlier, lab.world.engine, SEED, &lab.alerts);
    assert_int_equal(lab.alerts.count, 2);
    assert_labels(&lab.alerts.items[1],
                  "alertname=KarmadaNotPropagated namespace=shop problem=not_propagated "
                  "reason=stuck severity=warning");
    assert_string_equal(annotation(&lab.alerts.items[1], "summary"), "old");
    assert_true(lab.alerts.items[1].starts_ms == START_MS - 60 * MINUTE + 500);
    problem_alert_list_release(&earlier);
    lab_release(&lab);
}

TEST(an_alert_of_now_takes_over_the_earlier_start)
{
    static struct lab lab;
    struct problem_alert_list earlier = {.items = NULL};

    lab_init(&lab);
    group(&lab, add(&lab, PROBLEM_REASON_NOT_PROPAGATED_STUCK, "shop", "c", 4, 40));
    write_alerts(&lab);
    assert_int_equal(problem_alerts_parse(RESPONSE(OURS), &settings, &earlier), 1);
    problem_alerts_renew(&earlier, lab.world.engine, SEED, &lab.alerts);
    assert_int_equal(lab.alerts.count, 1);
    assert_true(lab.alerts.items[0].starts_ms == START_MS - 60 * MINUTE + 500);
    assert_string_not_equal(annotation(&lab.alerts.items[0], "summary"), "old");
    problem_alert_list_release(&earlier);
    lab_release(&lab);
}

TEST(a_disabled_problem_is_not_renewed)
{
    static struct lab lab;
    struct problem_alert_list earlier = {.items = NULL};

    lab_init(&lab);
    lab.options.settings.severity[PROBLEM_NOT_PROPAGATED] = SEVERITY_OFF;
    engine_judge_problems(lab.world.engine, &lab.options);
    assert_int_equal(problem_alerts_parse(RESPONSE(OURS), &settings, &earlier), 1);
    problem_alerts_renew(&earlier, lab.world.engine, SEED, &lab.alerts);
    assert_int_equal(lab.alerts.count, 0);
    problem_alert_list_release(&earlier);
    lab_release(&lab);
}
