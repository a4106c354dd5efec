/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The size of the default page: at most 2 MB with 30,000 policies and 30,000 templates that all
 * have a problem, with any number of namespaces.
 */
#include "metrics/expose/problem_families.h"
#include "metrics/expose/registry.h"

#include "tests/unit/page.h"
#include "tests/unit/suite.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
/* The sanitizers are slow, and detect the same memory errors with fewer objects. */
enum { OBJECTS = 3000 };
#else
enum { OBJECTS = 30000 };
#endif

enum { PAGE_MAX_BYTES = 2 * 1000 * 1000, JSON_MAX_BYTES = 4096, TIME_S = 1000 };

/* A template, its policy and its binding, by number. */
struct place {
    unsigned number;
    unsigned ns;
};

enum subject_state {
    SUBJECT_OVERDUE,
    SUBJECT_UNBOUND,
    SUBJECT_NO_FIT,
    SUBJECT_PENDING,
    SUBJECT_COUNT
};

static void add_claim(struct strbuf *out, struct place at)
{
    strbuf_addf(out,
                "\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-%u\"},"
                "\"annotations\":{\"propagationpolicy.karmada.io/namespace\":\"team-%05u\","
                "\"propagationpolicy.karmada.io/name\":\"policy-%05u\"}",
                at.number, at.ns, at.number);
}

static void put_policy(struct world *w, struct strbuf *text, struct place at)
{
    strbuf_reset(text);
    strbuf_addf(text,
                "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\","
                "\"metadata\":{\"name\":\"policy-%05u\",\"namespace\":\"team-%05u\",\"generation\":"
                "3,\"labels\":{\"propagationpolicy.karmada.io/permanent-id\":\"id-%u\"}},\"spec\":{"
                "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
                "\"namespace\":\"team-%05u\",\"name\":\"service-%05u\"}],\"placement\":{"
                "\"clusterAffinity\":{\"clusterNames\":[\"member1\"]}}}}",
                at.number, at.ns, at.number, at.ns, at.number);
    world_put_text(w, text->data);
}

static void put_template(struct world *w, struct strbuf *text, struct place at, bool claimed)
{
    strbuf_reset(text);
    strbuf_addf(text,
                "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{\"name\":"
                "\"service-%05u\",\"namespace\":\"team-%05u\"",
                at.number, at.ns);
    if (claimed) {
        strbuf_addc(text, ',');
        add_claim(text, at);
    }
    strbuf_adds(text, "},\"spec\":{\"replicas\":2}}");
    world_put_text(w, text->data);
}

/* If `fits`, the binding runs on another cluster than its policy demands; else no cluster fits. */
static void put_binding(struct world *w, struct strbuf *text, struct place at, bool fits)
{
    strbuf_reset(text);
    strbuf_addf(text,
                "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
                "\"metadata\":{\"name\":\"service-%05u-deployment\",\"namespace\":\"team-%05u\","
                "\"generation\":2,",
                at.number, at.ns);
    add_claim(text, at);
    strbuf_addf(text,
                "},\"spec\":{\"resource\":{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\","
                "\"namespace\":\"team-%05u\",\"name\":\"service-%05u\"},\"replicas\":2,"
                "\"conflictResolution\":\"Abort\",\"schedulerName\":\"default-scheduler\","
                "\"placement\":{\"clusterAffinity\":{\"clusterNames\":[\"member%u\"]}},"
                "\"replicaRequirements\":{\"resourceRequest\":{\"cpu\":\"100m\",\"memory\":"
                "\"128Mi\"}}",
                at.ns, at.number, fits ? 2 : 1);
    if (fits)
        strbuf_adds(text, ",\"clusters\":[{\"name\":\"member2\",\"replicas\":2}]}}");
    else
        strbuf_adds(text, "},\"status\":{\"schedulerObservedGeneration\":2,\"conditions\":[{"
                          "\"type\":\"Scheduled\",\"status\":\"False\",\"reason\":"
                          "\"NoClusterFit\"}]}}");
    world_put_text(w, text->data);
}

static void put_objects(struct world *w, unsigned namespaces, bool mixed)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(JSON_MAX_BYTES);

    for (unsigned cluster = 1; cluster <= 2; cluster++) {
        strbuf_reset(&text);
        strbuf_addf(&text,
                    "{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\","
                    "\"metadata\":{\"name\":\"member%u\"}}",
                    cluster);
        world_put_text(w, text.data);
    }
    for (unsigned i = 0; i < OBJECTS; i++) {
        struct place at = {i, i % namespaces};
        enum subject_state subject = mixed ? i / namespaces % SUBJECT_COUNT : SUBJECT_OVERDUE;

        if (subject != SUBJECT_PENDING)
            put_policy(w, &text, at);
        put_template(w, &text, at, subject != SUBJECT_PENDING);
        if (subject == SUBJECT_OVERDUE || subject == SUBJECT_NO_FIT)
            put_binding(w, &text, at, subject == SUBJECT_OVERDUE);
    }
}

/* Reports a problem with long names in the namespace of each template. */
static void report_problems(struct world *w, unsigned namespaces, bool mixed)
{
    struct problem_options options = {.snapshot = true};
    char ns[32], name[64];

    problem_settings_reset(&options.settings);
    engine_judge_problems(w->engine, &options);
    for (unsigned i = 0; i < OBJECTS; i++) {
        enum problem_reason reason = mixed ? i / namespaces % PROBLEM_REASON_COUNT
                                           : PROBLEM_REASON_POLICY_NOT_IN_FORCE_POLICY_UPDATED;

        snprintf(ns, sizeof(ns), "team-%05u", i % namespaces);
        snprintf(name, sizeof(name), "service-%05u-with-the-name-of-a-policy-and-owner", i);
        if (problem_reasons[reason].problem != PROBLEM_DEPENDENCY_CONFLICT)
            problems_report(engine_problems(w->engine),
                            &(struct external_subject){"apps/v1", "Deployment", ns, name}, reason,
                            0);
    }
    world_run(w, INT64_C(1000) * TIME_S);
}

static struct size_case {
    const char *name;
    unsigned namespaces;
    bool mixed;
} size_cases[] = {
    {"one namespace", 1, false},
    {"100 namespaces", 100, false},
    {"100 namespaces, and problems of all reasons in each", 100, true},
    {"as many namespaces as have rows", 1000, false},
    {"as many namespaces as have rows, and several problems in each", 1000, true},
    {"3,000 namespaces", 3000, false},
    {"3,000 namespaces, and several problems in each", 3000, true},
    {"30,000 namespaces", 30000, false},
};

TEST_ROWS(default_page_has_at_most_2_mb, size_cases, name)
{
    static const char by_namespace[] = "karmada_namespace_placement_drift_resource_requests";
    static const char by_cluster[] = "karmada_placement_drift_resource_requests";
    const struct size_case *row = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    put_objects(&w, row->namespaces, row->mixed);
    world_run(&w, INT64_C(1000) * TIME_S);
    report_problems(&w, row->namespaces, row->mixed);
    problem_families_fill(r, w.engine);
    CLEANUP(free_cleanup) char *page = page_of(r);

    print_message("             %zu bytes\n", strlen(page));
    assert_int_equal(page_sum(page, "karmada_templates", ""), OBJECTS);
    assert_int_equal(page_sum(page, "karmada_templates_stage", "stage=\"healthy\""), 0);
    assert_int_equal(page_sum(page, "karmada_namespace_templates", ""), OBJECTS);
    assert_int_equal(page_sum(page, "karmada_namespace_templates_stage", ""), OBJECTS);
    assert_int_equal(page_sum(page, by_namespace, "resource=\"pods\""),
                     page_sum(page, by_cluster, "resource=\"pods\""));
    assert_in_range(strlen(page), 1, PAGE_MAX_BYTES);
    registry_free(r);
    world_release(&w);
}
