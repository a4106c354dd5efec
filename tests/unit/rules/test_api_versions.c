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

static bool is_unwatched(struct world *w)
{
    world_run(w, 1);

    const struct entry *policy =
        world_find(w, "policy.karmada.io/v1alpha1", "PropagationPolicy", "test", "p");
    return policy_decision(policy)->problems & 1U << POLICY_UNWATCHED_VERSION;
}

/* In files: as they are written. */
TEST(objects_of_other_versions_tell)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY);
    assert_false(is_unwatched(&w));
    world_put_text(&w, SCALER("scaling.example/v2"));
    assert_false(is_unwatched(&w));
    world_put_text(&w, SCALER("autoscaling/v2"));
    assert_true(is_unwatched(&w));
    world_put_text(&w, SCALER("autoscaling/v1"));
    assert_false(is_unwatched(&w));
    store_remove(w.store,
                 world_find(&w, "autoscaling/v1", "HorizontalPodAutoscaler", "test", "web"));
    assert_true(is_unwatched(&w));
    world_release(&w);
}

static enum api_version_answer judge(const void *context, const char *api_version, const char *kind)
{
    const char *preferred = context;

    if (strcmp(kind, "HorizontalPodAutoscaler") != 0)
        return API_VERSION_UNKNOWN;
    return strcmp(api_version, preferred) == 0 ? API_VERSION_WATCHED : API_VERSION_UNWATCHED;
}

/* At an API server: as it says, whatever objects there are. */
TEST(who_knows_tells)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, POLICY);
    engine_set_api_version_source(w.engine, (struct api_version_source){judge, "autoscaling/v2"});
    assert_true(is_unwatched(&w));
    engine_set_api_version_source(w.engine, (struct api_version_source){judge, "autoscaling/v1"});
    world_put_text(&w, SCALER("autoscaling/v2"));
    assert_false(is_unwatched(&w));
    world_release(&w);
}
