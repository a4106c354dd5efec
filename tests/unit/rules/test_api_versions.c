/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/selector_index.h"

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
    engine_set_api_version_source(
        w.engine, (struct api_version_source){answer_by_preferred_version, "autoscaling/v2"});
    assert_true(selects_only_unwatched_versions(&w));
    engine_set_api_version_source(
        w.engine, (struct api_version_source){answer_by_preferred_version, "autoscaling/v1"});
    world_put_text(&w, SCALER("autoscaling/v2"));
    assert_false(selects_only_unwatched_versions(&w));
    world_release(&w);
}
