/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/problem_text.h"

#include "metrics/expose/problem_sentences.h"
#include "tests/unit/bound_objects.h"
#include "tests/unit/golden.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { TEXT_MAX = 64 * 1024, ACTION_MAX = 160, OBJECTS = 120 };

static const int64_t NOW_MS = INT64_C(1767225600000); /* 2026-01-01T00:00:00Z */

typedef void add_fn(const struct engine *e, const struct problem *p, struct strbuf *out);

static void world_judge_text(const struct world *w, const struct problem *p, add_fn *add,
                             const char *expected)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    add(w->engine, p, &out);
    assert_string_equal(out.data, expected);
}

static struct problem problem_about(const struct world *w, const char *kind, const char *ns,
                                    const char *name, enum problem_reason reason)
{
    const char *version = strcmp(kind, "Deployment") == 0          ? "apps/v1"
                          : strcmp(kind, "ResourceBinding") == 0   ? "work.karmada.io/v1alpha2"
                          : strcmp(kind, "PropagationPolicy") == 0 ? "policy.karmada.io/v1alpha1"
                                                                   : "v1";
    struct problem p = {.subject = world_find(w, version, kind, ns, name), .reason = reason};

    assert_non_null(p.subject);
    return p;
}

/* ---- sentences with the objects involved ---- */

#define PLACED(status)                                                                             \
    "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\",\"metadata\":{"     \
    "\"name\":\"web-deployment\",\"namespace\":\"default\"," CLAIM(                                \
        "p") "},\"spec\":{"                                                                        \
             "\"resource\":{\"apiVersion\":\"apps/"                                                \
             "v1\",\"kind\":\"Deployment\",\"namespace\":\"default\","                             \
             "\"name\":\"web\",\"uid\":\"u-web\",\"resourceVersion\":\"10\"},\"replicas\":2,"      \
             "\"conflictResolution\":\"Abort\"," ON("m1") status

static void put_web(struct world *w, const char *binding)
{
    world_init(w, &rules_options_default, 1);
    world_put_text(w, POLICY("p", SELECTS("web") "," ON("m1")));
    world_put_text(w, TEMPLATE("web", "," CLAIM("p")));
    world_put_text(w, binding);
    world_run(w, NOW_MS);
}

TEST(a_scheduling_problem_quotes_karmadas_message)
{
    struct world w;
    struct problem p;

    put_web(&w, PLACED("},\"status\":{\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"False\","
                       "\"reason\":\"NoClusterFit\",\"message\":\"0/1 clusters are available:\\n"
                       "1 cluster(s) had untolerated taint {k=v:NoSchedule}.\"}]}}"));
    p = problem_about(&w, "Deployment", "default", "web",
                      PROBLEM_REASON_NOT_SCHEDULED_NO_CLUSTER_FIT);
    world_judge_text(&w, &p, problem_add_cause,
                     "No member cluster passes the filters of the placement of Deployment "
                     "default/web in PropagationPolicy default/p (Karmada: 0/1 clusters are "
                     "available: 1 cluster(s) had untolerated taint {k=v:NoSchedule}).");
    world_judge_text(&w, &p, problem_add_action,
                     "Let the placement of the policy allow a member cluster, or change the labels "
                     "or taints of a Cluster.");
    assert_int_equal(problem_actor(&p), ACTOR_POLICY_OWNER);
    world_release(&w);
}

/* The text fits objects that are no policies. */
TEST(a_stored_object_that_would_be_refused_stays_in_force)
{
    struct world w;
    struct problem p = {.reason = PROBLEM_REASON_POLICY_INVALID_REFUSED};

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, "{\"apiVersion\":\"apps.karmada.io/v1alpha1\",\"kind\":"
                       "\"WorkloadRebalancer\",\"metadata\":{\"name\":\"r\",\"creationTimestamp\":"
                       "\"2026-01-01T00:00:00Z\"},\"spec\":{}}");
    world_run(&w, NOW_MS);
    p.subject = world_find(&w, "apps.karmada.io/v1alpha1", "WorkloadRebalancer", "", "r");
    world_judge_text(
        &w, &p, problem_add_cause,
        "The API server refuses the next write of WorkloadRebalancer r: spec.workloads "
        "is required; until the next write, the stored object stays in force.");
    world_judge_text(&w, &p, problem_add_action,
                     "Correct the object so that it passes the schema and the webhook of the "
                     "Karmada release.");
    world_release(&w);
}

#define EVICTION(more)                                                                             \
    ",\"gracefulEvictionTasks\":[{\"fromCluster\":\"m1\",\"creationTimestamp\":"                   \
    "\"2026-01-01T00:00:00Z\"" more "}]},\"status\":{\"conditions\":[{\"type\":\"Scheduled\","     \
    "\"status\":\"False\",\"reason\":\"NoClusterFit\"}]}}"

TEST(an_eviction_has_the_time_of_its_task_or_karmadas_default)
{
    static const struct {
        const char *binding;
        const char *end;
    } rows[] = {
        {PLACED(EVICTION(",\"gracePeriodSeconds\":60")),
         "The problem ends when another member cluster is assigned or suppressDeletion is set; "
         "else Karmada deletes the copy at 2026-01-01T00:01:00Z."},
        {PLACED(EVICTION("")),
         "The problem ends when another member cluster is assigned or suppressDeletion is set; "
         "else Karmada deletes the copy at 2026-01-01T00:10:00Z (with Karmada's default timeout of "
         "10 minutes)."},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct world w;
        struct problem p;

        put_web(&w, rows[i].binding);
        p = problem_about(&w, "Deployment", "default", "web",
                          PROBLEM_REASON_LAST_COPY_AT_RISK_CLUSTER_READY);
        world_judge_text(&w, &p, problem_add_cause,
                         "Karmada evicts the last copy of Deployment default/web from m1, and no "
                         "other member cluster takes it over.");
        world_judge_text(&w, &p, problem_add_end, rows[i].end);
        world_release(&w);
    }
}

static void add_name(void *context, const char *name)
{
    strbuf_addf(context, "%s ", name);
}

static void add_related(void *context, const struct entry *related)
{
    strbuf_addf(context, "%s/%s ", entry_kind(related), related->name);
}

TEST(failing_targets_are_named_by_reason_and_listed_together)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct world w;
    struct problem p;

    put_web(&w, PLACED(",\"clusters\":[{\"name\":\"m3\",\"replicas\":2},{\"name\":\"m2\","
                       "\"replicas\":2},{\"name\":\"m1\",\"replicas\":2}]},\"status\":{"
                       "\"conditions\":[{\"type\":\"Scheduled\",\"status\":\"True\",\"reason\":"
                       "\"Success\"}],\"aggregatedStatus\":[{\"clusterName\":\"m1\","
                       "\"appliedMessage\":\"Deployment web is invalid.\"},{\"clusterName\":\"m2\","
                       "\"applied\":true,\"health\":\"Healthy\"}]}}"));
    p = problem_about(&w, "Deployment", "default", "web", PROBLEM_REASON_NOT_DELIVERED_REFUSED);
    problem_each_cluster(w.engine, &p, add_name, &out);
    assert_string_equal(out.data, "m1 m3 ");
    world_judge_text(&w, &p, problem_add_cause,
                     "Deployment default/web is refused by the API server of m1 (Karmada: "
                     "Deployment web is invalid).");
    p.reason = PROBLEM_REASON_NOT_DELIVERED_WAITING;
    world_judge_text(
        &w, &p, problem_add_cause,
        "Karmada has not applied the present version of Deployment default/web in m3.");
    world_release(&w);
}

TEST(dependencies_name_their_referrers_and_both_values)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct world w;
    struct problem p;

    world_init(&w, &rules_options_default, 1);
    golden_load(&w, "observed.json");
    world_run(&w, NOW_MS);
    p = problem_about(&w, "ResourceBinding", "default", "my-config-configmap",
                      PROBLEM_REASON_DEPENDENCY_CONFLICT_CONFLICT_RESOLUTION);
    problem_each_related(w.engine, &p, add_related, &out);
    assert_string_equal(out.data, "Deployment/app-a Deployment/app-b Deployment/app-d "
                                  "PropagationPolicy/app-a-policy PropagationPolicy/app-b-policy ");
    world_judge_text(&w, &p, problem_add_cause,
                     "Referrers of ResourceBinding default/my-config-configmap (ConfigMap "
                     "default/my-config) request different values of spec.conflictResolution: "
                     "Overwrite by Deployment default/app-a, Abort by Deployment default/app-b and "
                     "Deployment default/app-d; the resolved value is Overwrite.");
    world_judge_text(&w, &p, problem_add_action,
                     "Set spec.conflictResolution to the same value in the policies of all "
                     "referrers.");
    world_release(&w);
}

TEST(an_annotation_is_named_with_the_values)
{
    struct world w;
    struct problem p;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("p", SELECTS("web") "," ON("m1")));
    world_put_text(&w, TEMPLATE("web", ",\"annotations\":{\"work.karmada.io/conflict-resolution\":"
                                       "\"overwrite\"}"));
    world_run(&w, NOW_MS);
    p = problem_about(&w, "Deployment", "default", "web",
                      PROBLEM_REASON_VALUE_OVERRIDDEN_CONFLICT_RESOLUTION);
    world_judge_text(
        &w, &p, problem_add_cause,
        "The value of spec.conflictResolution in Deployment default/web is overridden: "
        "its annotation work.karmada.io/conflict-resolution sets Overwrite instead of "
        "Abort.");
    assert_string_equal(problem_policy(&p)->name, "p");
    /* A resolving problem: the annotation is about the other field. */
    p.reason = PROBLEM_REASON_VALUE_OVERRIDDEN_PRESERVE_RESOURCES_ON_DELETION;
    world_judge_text(
        &w, &p, problem_add_cause,
        "The value of spec.preserveResourcesOnDeletion in Deployment default/web is overridden: "
        "its own policy sets another value than its referrers request.");
    world_release(&w);
}

TEST(tied_policies_name_each_other)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    struct world w;
    struct problem p;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("a", SELECTS("web") "," ON("m1")));
    world_put_text(&w, POLICY("b", SELECTS("web") "," ON("m1")));
    world_put_text(&w, POLICY("c", SELECTS("web") "," ON("m1")));
    world_put_text(&w, TEMPLATE("web", ""));
    world_run(&w, NOW_MS);
    p = problem_about(&w, "PropagationPolicy", "default", "a", PROBLEM_REASON_POLICY_TIE);
    problem_each_related(w.engine, &p, add_related, &out);
    assert_string_equal(out.data, "PropagationPolicy/b PropagationPolicy/c ");
    world_judge_text(&w, &p, problem_add_cause,
                     "PropagationPolicy default/a ranks before PropagationPolicy default/b and "
                     "PropagationPolicy default/c only by its name, for templates that both "
                     "select.");
    assert_ptr_equal(problem_policy(&p), p.subject);
    world_release(&w);
}

TEST(a_common_cause_names_no_subject_and_the_parties_if_all_have_them)
{
    static const char *const texts[] = {
        "No member cluster passes the filters of the placement of the object.",
        "No member cluster passes the filters of the placement of the object in "
        "PropagationPolicy default/a.",
    };
    struct world w;
    struct problem p;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("a", SELECTS("web") "," ON("m1")));
    world_put_text(&w, TEMPLATE("web", ""));
    world_run(&w, NOW_MS);
    p = problem_about(&w, "Deployment", "default", "web",
                      PROBLEM_REASON_NOT_SCHEDULED_NO_CLUSTER_FIT);
    for (unsigned parties = 0; parties < ARRAY_LEN(texts); parties++) {
        CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

        problem_add_common_cause(w.engine, &p, parties == 1, &out);
        assert_string_equal(out.data, texts[parties]);
    }
    world_release(&w);
}

TEST(templates_of_one_name_differ_by_their_group)
{
    struct world w;
    struct problem p;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("p", "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":"
                                   "\"Deployment\"},{\"apiVersion\":\"example.org/v1\",\"kind\":"
                                   "\"Deployment\"}]"));
    world_put_text(&w, TEMPLATE("web", ""));
    world_put_text(&w, "{\"apiVersion\":\"example.org/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                       "\"name\":\"web\",\"namespace\":\"default\"}}");
    world_run(&w, NOW_MS);
    p = problem_about(&w, "Deployment", "default", "web",
                      PROBLEM_REASON_BINDING_NAME_COLLISION_TAKEN);
    world_judge_text(&w, &p, problem_add_cause,
                     "Deployment default/web (apps/v1) and Deployment default/web (example.org/v1) "
                     "need a binding of the same name (web-deployment).");
    world_release(&w);
}

TEST(missing_override_policies_are_named_and_long_lists_are_counted)
{
    struct world w;
    struct problem p;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY("a", SELECTS("web") ",\"dependentOverrides\":[\"o1\",\"o2\",\"o3\","
                                                  "\"o4\",\"o5\"]"));
    world_run(&w, NOW_MS);
    p = problem_about(&w, "PropagationPolicy", "default", "a",
                      PROBLEM_REASON_POLICY_INVALID_OVERRIDE_MISSING);
    world_judge_text(&w, &p, problem_add_cause,
                     "An override policy in dependentOverrides of PropagationPolicy default/a does "
                     "not exist: OverridePolicy default/o1, OverridePolicy default/o2, "
                     "OverridePolicy default/o3 and 2 more.");
    world_release(&w);
}

/* ---- properties of all texts ---- */

/* Returns true if the text has an insertion of the table that was not replaced. */
static bool has_insertion(const char *text)
{
    static const char *const names[] = {
        "{subject}", "{policy}",  "{template}", "{clusters}", "{related}",   "{field}",
        "{fields}",  "{values}",  "{resolved}", "{stored}",   "{expected}",  "{override}",
        "{wanted}",  "{binding}", "{holder}",   "{message}",  "{scheduler}", "{deadline}",
    };

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strstr(text, names[i]))
            return true;
    }
    return false;
}

static void check_sentence(const char *text)
{
    static const char *const traces[] = {"  ", " .",   " ,",  ",,", "()",
                                         "''", "\"\"", ": .", "[",  "]"};

    assert_true(*text >= 'A' && *text <= 'Z');
    assert_true(text[strlen(text) - 1] == '.');
    assert_false(has_insertion(text));
    for (size_t i = 0; i < ARRAY_LEN(traces); i++) {
        if (strstr(text, traces[i]))
            fail_msg("'%s' in: %s", traces[i], text);
    }
}

/* Checks the cause of several instances: it names no subject, and no other party without parties.
 */
static void check_common_cause(const struct engine *e, const struct problem *p, bool with_parties)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);

    problem_add_common_cause(e, p, with_parties, &out);
    check_sentence(out.data);
    if (!strstr(out.data, "he object") || strstr(out.data, "  ") || strstr(out.data, " ."))
        fail_msg("not a common cause: %s", out.data);
}

/* Checks the texts of a reason about a subject. */
static void check_texts(const struct engine *e, const struct problem *p)
{
    CLEANUP(strbuf_release) struct strbuf out = STRBUF_INIT(TEXT_MAX);
    CLEANUP(strbuf_release) struct strbuf subject = STRBUF_INIT(TEXT_MAX);

    problem_add_subject(p, &subject);
    problem_add_cause(e, p, &out);
    check_sentence(out.data);
    if (!strstr(out.data, subject.data))
        fail_msg("'%s' is not in: %s", subject.data, out.data);
    strbuf_reset(&out);
    problem_add_action(e, p, &out);
    check_sentence(out.data);
    assert_in_range(strlen(out.data), 1, ACTION_MAX);
    strbuf_reset(&out);
    problem_add_end(e, p, &out);
    check_sentence(out.data);
    check_common_cause(e, p, false);
    check_common_cause(e, p, true);
    assert_true(strbuf_ok(&out) && strbuf_ok(&subject));
}

/* Returns the external subject that a problem can have; NULL if its subjects are entries. */
static const struct external_subject *external_of(enum problem_id problem)
{
    static const struct external_subject controllers = {"", "ControlPlane", "",
                                                        CONTROLLER_COMPONENT};
    static const struct external_subject scheduler = {"", "ControlPlane", "", SCHEDULER_COMPONENT};
    static const struct external_subject source = {"", "Source", "", "deployments.apps"};
    static const struct external_subject declared = {"apps/v1", "Deployment", "shop", "web"};

    return problem == PROBLEM_CONTROLLERS_STUCK  ? &controllers
           : problem == PROBLEM_SCHEDULER_STUCK  ? &scheduler
           : problem == PROBLEM_DATA_INCOMPLETE  ? &source
           : problem == PROBLEM_DUPLICATE_OBJECT ? &declared
                                                 : NULL;
}

/* The subjects lack the data that most reasons are about, so optional parts are left out. */
TEST(every_reason_has_three_sentences_for_every_subject)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, TEMPLATE("alone", ""));
    world_put_text(&w, BINDING("bound", "gone", "m1"));
    world_put_text(&w, POLICY("p", SELECTS("web")));
    world_put_text(&w, CLUSTER("m1"));
    world_run(&w, NOW_MS);
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        struct store_walk walk = store_walk_begin(w.store, (1U << CLASS_COUNT) - 1);
        struct problem p = {.reason = (enum problem_reason)i};

        assert_non_null(problem_sentences[i].cause);
        p.external = external_of(problem_id(&p));
        if (p.external)
            check_texts(w.engine, &p);
        while ((p.subject = store_walk_next(&walk)) != NULL)
            check_texts(w.engine, &p);
    }
    world_release(&w);
}

/* Any reason about any object, because the data of an instance can be gone before its end. */
TEST(every_reason_has_three_sentences_for_random_objects)
{
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct world w;
        struct store_walk walk;
        struct problem p = {0};

        world_init(&w, &rules_options_default, seed);
        random_objects(&w, OBJECTS);
        world_run(&w, NOW_MS);
        walk = store_walk_begin(w.store, (1U << CLASS_COUNT) - 1);
        while ((p.subject = store_walk_next(&walk)) != NULL) {
            for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
                p.reason = (enum problem_reason)i;
                check_texts(w.engine, &p);
            }
        }
        world_release(&w);
    }
}

TEST(runbooks_are_named_after_their_problems)
{
    for (unsigned i = 0; i < PROBLEM_COUNT; i++) {
        const char *doc = problem_doc((enum problem_id)i), *name = problem_names[i];

        assert_int_equal(strlen(doc), strlen(name));
        for (size_t k = 0; name[k]; k++)
            assert_int_equal(doc[k], name[k] == '_' ? '-' : name[k]);
    }
}

/* Long names cannot make an action exceed its limit, because no action contains a name. */
TEST(actions_contain_no_names)
{
    for (unsigned i = 0; i < PROBLEM_REASON_COUNT; i++) {
        const char *brace = problem_sentences[i].action;

        while ((brace = strpbrk(brace, "{[")) != NULL)
            assert_memory_equal(brace++, "{field}", strlen("{field}"));
    }
}
