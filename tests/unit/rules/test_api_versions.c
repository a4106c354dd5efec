/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/api_versions.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

#define POLICY                                                                                     \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"name\":\"p\",\"namespace\":\"test\"},\"spec\":{\"resourceSelectors\":[{\"apiVersion\":"     \
    "\"autoscaling/v1\",\"kind\":\"HorizontalPodAutoscaler\"}]}}"
#define SCALER(version)                                                                            \
    "{\"apiVersion\":\"" version                                                                   \
    "\",\"kind\":\"HorizontalPodAutoscaler\",\"metadata\":{\"name\":\"web\",\"namespace\":"        \
    "\"test\"}}"

static bool selects_only_unwatched_versions(struct world *w)
{
    world_run(w, 1);

    const struct entry *policy =
        world_find(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "test", "p");
    return policy_decision(policy)->problems & 1U << POLICY_UNWATCHED_VERSION;
}

/* Without a source of API versions, as for manifest files, the objects in the store decide. */
TEST(a_policy_is_marked_if_objects_have_only_another_version)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY);
    assert_false(selects_only_unwatched_versions(&w));
    world_put_text(&w, SCALER("scaling.example/v2"));
    assert_false(selects_only_unwatched_versions(&w));
    world_put_text(&w, SCALER("autoscaling/v2"));
    assert_true(selects_only_unwatched_versions(&w));
    world_put_text(&w, SCALER("autoscaling/v1"));
    assert_false(selects_only_unwatched_versions(&w));
    store_remove(w.store,
                 world_find(&w, "autoscaling/v1", "HorizontalPodAutoscaler", "test", "web"));
    assert_true(selects_only_unwatched_versions(&w));
    world_release(&w);
}

static enum api_version_answer
answer_by_preferred_version(const void *context, const char *api_version, const char *kind)
{
    const char *preferred = context;

    if (strcmp(kind, "HorizontalPodAutoscaler") != 0)
        return API_VERSION_UNKNOWN;
    return strcmp(api_version, preferred) == 0 ? API_VERSION_WATCHED : API_VERSION_UNWATCHED;
}

/* With a source of API versions, as for an API server, only its answer counts. */
TEST(the_source_of_api_versions_overrides_the_objects)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY);
    engine_set_api_version_source(w.engine,
                                  (struct api_version_source){.judge = answer_by_preferred_version,
                                                              .context = "autoscaling/v2"});
    assert_true(selects_only_unwatched_versions(&w));
    engine_set_api_version_source(w.engine,
                                  (struct api_version_source){.judge = answer_by_preferred_version,
                                                              .context = "autoscaling/v1"});
    world_put_text(&w, SCALER("autoscaling/v2"));
    assert_false(selects_only_unwatched_versions(&w));
    world_release(&w);
}

/* ---- templates that only policies of another version name ---- */

static const struct api_version_source prefers_v2 = {.judge = answer_by_preferred_version,
                                                     .context = "autoscaling/v2"};

/* Returns "state reason" of the HorizontalPodAutoscaler. */
static const char *scaler_state(struct world *w, char text[64])
{
    const struct template_decision *d;

    world_run(w, 1);
    d = template_decision(
        world_find(w, "autoscaling/v2", "HorizontalPodAutoscaler", "test", "web"));
    snprintf(text, 64, "%s %s", state_names[d->state],
             d->reason || d->state != STATE_CURRENT ? reason_name(d->state, d->reason) : "");
    return text;
}

#define POLICY_OF(name, version, selector)                                                         \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"name\":\"" name "\",\"namespace\":\"test\"},\"spec\":{\"resourceSelectors\":[{"             \
    "\"apiVersion\":\"" version "\",\"kind\":\"HorizontalPodAutoscaler\"" selector "}]}}"

static struct ignored_case {
    const char *name;
    const char *policies[2];
    const char *wanted;
} ignored_cases[] = {
    {"by name",
     {POLICY_OF("p", "autoscaling/v1", ",\"name\":\"web\"")},
     "ignored unwatched_version"},
    {"all of the kind", {POLICY_OF("p", "autoscaling/v1", "")}, "ignored unwatched_version"},
    {"a version that does not exist",
     {POLICY_OF("p", "autoscaling/v9", "")},
     "ignored unwatched_version"},
    {"by label",
     {POLICY_OF("p", "autoscaling/v1",
                ",\"labelSelector\":{\"matchLabels\":{"
                "\"app\":\"a\"}}")},
     "ignored unwatched_version"},
    {"by another label",
     {POLICY_OF("p", "autoscaling/v1",
                ",\"labelSelector\":{\"matchLabels\":{"
                "\"app\":\"b\"}}")},
     "pending kind_not_selected"},
    {"another name",
     {POLICY_OF("p", "autoscaling/v1", ",\"name\":\"other\"")},
     "pending kind_not_selected"},
    {"another group", {POLICY_OF("p", "scaling.example/v1", "")}, "pending kind_not_selected"},
    {"another namespace",
     {POLICY_OF("p", "autoscaling/v1", ",\"namespace\":\"other\"")},
     "pending kind_not_selected"},
    {"a policy of the preferred version governs",
     {POLICY_OF("p", "autoscaling/v1", ""), POLICY_OF("q", "autoscaling/v2", "")},
     "unbound waiting"},
    {"a policy of the preferred version selects another object",
     {POLICY_OF("p", "autoscaling/v1", ""),
      POLICY_OF("q", "autoscaling/v2", ",\"name\":\"other\"")},
     "ignored unwatched_version"},
    {"no policy", {NULL}, "pending kind_not_selected"},
};

#define LABELLED_SCALER                                                                            \
    "{\"apiVersion\":\"autoscaling/v2\",\"kind\":\"HorizontalPodAutoscaler\",\"metadata\":{"       \
    "\"name\":\"web\",\"namespace\":\"test\",\"labels\":{\"app\":\"a\"}}}"

/* The order of the changes does not matter: policies come before or after the template. */
TEST_ROWS(a_template_is_ignored_if_only_unwatched_versions_name_it, ignored_cases, name)
{
    const struct ignored_case *c = *state;

    for (int policies_first = 0; policies_first < 2; policies_first++) {
        struct world w;
        char text[64];

        world_init(&w, &rules_options_default, 1);
        engine_set_api_version_source(w.engine, prefers_v2);
        if (!policies_first)
            world_put_text(&w, LABELLED_SCALER);
        world_run(&w, 1);
        for (size_t i = 0; i < ARRAY_LEN(c->policies) && c->policies[i]; i++)
            world_put_text(&w, c->policies[i]);
        world_run(&w, 1);
        if (policies_first)
            world_put_text(&w, LABELLED_SCALER);
        assert_string_equal(scaler_state(&w, text), c->wanted);
        for (size_t i = 0; i < ARRAY_LEN(c->policies) && c->policies[i]; i++)
            store_remove(w.store, world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy",
                                             "test", i == 0 ? "p" : "q"));
        assert_string_equal(scaler_state(&w, text), "pending kind_not_selected");
        world_release(&w);
    }
}

TEST(an_unknown_preferred_version_ignores_no_template)
{
    struct world w;
    char text[64];

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY);
    world_put_text(&w, SCALER("autoscaling/v2"));
    assert_string_equal(scaler_state(&w, text), "pending kind_not_selected");
    engine_set_api_version_source(w.engine, prefers_v2);
    assert_string_equal(scaler_state(&w, text), "ignored unwatched_version");
    engine_set_api_version_source(w.engine, (struct api_version_source){0});
    assert_string_equal(scaler_state(&w, text), "pending kind_not_selected");
    world_release(&w);
}

static enum api_version_answer answer_unserved(const void *context, const char *api_version,
                                               const char *kind)
{
    (void)context;
    (void)kind;
    return strcmp(api_version, "batch/v1beta1") == 0 ? API_VERSION_UNSERVED : API_VERSION_UNKNOWN;
}

TEST(a_template_in_a_version_that_is_not_served_is_ignored)
{
    const struct api_version_source source = {.judge = answer_unserved, .objects_decide = true};
    const struct template_decision *d;
    const struct entry *policy;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":"
                       "\"PropagationPolicy\",\"metadata\":{\"name\":\"p\",\"namespace\":\"test\"},"
                       "\"spec\":{\"resourceSelectors\":[{\"apiVersion\":\"batch/v1beta1\","
                       "\"kind\":\"CronJob\"}]}}");
    world_put_text(&w, "{\"apiVersion\":\"batch/v1beta1\",\"kind\":\"CronJob\",\"metadata\":{"
                       "\"name\":\"web\",\"namespace\":\"test\"}}");
    world_run(&w, 1);
    d = template_decision(world_find(&w, "batch/v1beta1", "CronJob", "test", "web"));
    assert_int_equal(d->state, STATE_UNBOUND);
    engine_set_api_version_source(w.engine, source);
    world_run(&w, 1);
    d = template_decision(world_find(&w, "batch/v1beta1", "CronJob", "test", "web"));
    assert_int_equal(d->state, STATE_IGNORED);
    assert_int_equal(d->reason, IGNORED_UNWATCHED_VERSION);
    policy = world_find(&w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "test", "p");
    assert_true(policy_decision(policy)->problems & 1U << POLICY_UNWATCHED_VERSION);
    world_release(&w);
}

static enum api_version_answer answer_absent(const void *context, const char *api_version,
                                             const char *kind)
{
    (void)context;
    (void)api_version;
    return strcmp(kind, "Widget") == 0 ? API_VERSION_ABSENT : API_VERSION_WATCHED;
}

/* An API server that has stored an object does not refuse it because its kind has gone since. */
TEST(an_object_of_a_kind_that_is_not_served_is_ignored_unless_it_is_stored)
{
    static const struct {
        const char *metadata;
        bool from_files;
        bool ignored;
    } rows[] = {
        {"", true, true},
        {",\"uid\":\"u\"", true, true},
        {"", false, true},
        {",\"uid\":\"u\"", false, false},
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct api_version_source source = {.judge = answer_absent,
                                                  .objects_decide = rows[i].from_files};
        char object[256];
        struct world w;

        snprintf(object, sizeof(object),
                 "{\"apiVersion\":\"shop.example/v1\",\"kind\":\"Widget\",\"metadata\":{"
                 "\"name\":\"web\",\"namespace\":\"test\"%s}}",
                 rows[i].metadata);
        world_init(&w, &rules_options_default, 1);
        engine_set_api_version_source(w.engine, source);
        world_put_text(&w, object);
        world_run(&w, 1);
        assert_int_equal(
            template_decision(world_find(&w, "shop.example/v1", "Widget", "test", "web"))->state ==
                STATE_IGNORED,
            rows[i].ignored);
        world_release(&w);
    }
}
