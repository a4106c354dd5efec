/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/control_plane.h"

#include "metrics/base/timestamp.h"
#include "metrics/expose/registry.h"
#include "metrics/expose/report.h"
#include "metrics/model/connector_resource.h"
#include "metrics/model/store.h"
#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { WORLDS = 120, OBJECTS = 120 };

static const char *const kinds[][2] = {
    {"apps/v1", "Deployment"},
    {"v1", "ConfigMap"},
    {"v1", "Secret"},
    {"v1", "Event"},
    {"pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic"},
    {"cluster.karmada.io/v1alpha1", "Cluster"},
    {"policy.karmada.io/v1alpha1", "OverridePolicy"},
    {"policy.karmada.io/v1alpha1", "ClusterOverridePolicy"},
    {"policy.karmada.io/v1alpha1", "PriorityClass"},
};

static void set_incomplete_kinds(struct world *w, unsigned which, bool incomplete)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (which >> i & 1)
            engine_set_incomplete(w->engine, kinds[i][0], kinds[i][1], incomplete);
    }
}

/*
 * Returns true if an object belongs to the kinds of the bits `which`. Objects with settings and
 * PriorityClasses do not count: decisions use them even while their kind is incomplete.
 */
static bool is_of_kinds(const cJSON *object, unsigned which)
{
    const char *api_version = json_str(object, "apiVersion", "");
    const char *kind = json_str(object, "kind", "");

    if (contains_settings(object) || strcmp(kind, PRIORITY_CLASS_KIND) == 0)
        return false;

    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (which >> i & 1 && strcmp(kinds[i][1], kind) == 0 &&
            strcmp(kinds[i][0], api_version) == 0)
            return true;
    }
    return false;
}

/* Appends the report and the metrics page, without history. */
static void write_outputs(struct world *w, struct registry *r, struct strbuf *out)
{
    CLEANUP(free_cleanup) char *page = page_of(r);

    page_drop_history(page);
    report_write(w->engine, NULL, out);
    report_drop_history(out);
    strbuf_adds(out, page);
}

/*
 * Appends the outputs for the objects that do not belong to `without`, while the kinds of
 * `incomplete` are incomplete.
 */
static void write_world(cJSON *const *objects, unsigned without, unsigned incomplete,
                        int64_t now_ms, struct strbuf *out)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    set_incomplete_kinds(&w, incomplete, true);
    for (size_t i = 0; i < OBJECTS; i++) {
        if (!is_of_kinds(objects[i], without))
            world_put(&w, objects[i]);
    }
    world_run(&w, now_ms);
    write_outputs(&w, r, out);
    registry_free(r);
    world_release(&w);
}

/*
 * Appends the outputs for all objects, after kinds have become complete and incomplete between the
 * objects. In the end, the kinds of `incomplete` are incomplete.
 */
static void write_toggled(cJSON *const *objects, unsigned incomplete, int64_t now_ms,
                          struct strbuf *out)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    for (size_t i = 0; i < OBJECTS; i++) {
        if (i % 16 == 0) {
            world_run(&w, now_ms);
            set_incomplete_kinds(&w, world_random(&w, 1u << ARRAY_LEN(kinds)), world_random(&w, 2));
        }
        world_put(&w, objects[i]);
    }
    world_run(&w, now_ms);
    set_incomplete_kinds(&w, (1u << ARRAY_LEN(kinds)) - 1, false);
    set_incomplete_kinds(&w, incomplete, true);
    world_run(&w, now_ms);
    write_outputs(&w, r, out);
    registry_free(r);
    world_release(&w);
}

static void make_objects(uint32_t seed, cJSON **objects, unsigned *which)
{
    struct world w;

    world_init(&w, &rules_options_default, seed);
    for (size_t i = 0; i < OBJECTS; i++)
        objects[i] = random_object(&w);
    *which = world_random(&w, 1u << ARRAY_LEN(kinds));
    world_release(&w);
}

/* Fails with the first lines that differ. */
static void check_same(const char *what, uint32_t seed, const char *a, const char *b)
{
    size_t same = 0, begin = 0;

    while (a[same] != '\0' && a[same] == b[same]) {
        if (a[same++] == '\n')
            begin = same;
    }
    if (a[same] != b[same])
        fail_msg("seed %u, %s:\n%.400s\n--- and ---\n%.400s", seed, what, a + begin, b + begin);
}

/* Objects of an incomplete kind that have been read do not change the outputs. */
TEST(incomplete_kinds_count_as_not_read)
{
    int64_t now_ms;

    assert_true(parse_timestamp("2026-01-01T00:10:00Z", &now_ms));
    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        CLEANUP(strbuf_release) struct strbuf with = STRBUF_INIT(SIZE_MAX);
        CLEANUP(strbuf_release) struct strbuf without = STRBUF_INIT(SIZE_MAX);
        CLEANUP(strbuf_release) struct strbuf toggled = STRBUF_INIT(SIZE_MAX);
        cJSON *objects[OBJECTS];
        unsigned which;

        make_objects(seed, objects, &which);
        write_world(objects, 0, which, now_ms, &with);
        write_world(objects, which, which, now_ms, &without);
        write_toggled(objects, which, now_ms, &toggled);
        check_same("read in part, not read", seed, with.data, without.data);
        check_same("from the start, at the end", seed, with.data, toggled.data);
        for (size_t i = 0; i < OBJECTS; i++)
            cJSON_Delete(objects[i]);
    }
}

#define POLICY(name, more)                                                                         \
    "{\"apiVersion\":\"policy.karmada.io/v1alpha1\",\"kind\":\"PropagationPolicy\",\"metadata\":{" \
    "\"namespace\":\"default\",\"name\":\"" name "\"},\"spec\":{" more                             \
    "\"resourceSelectors\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\"},{"                \
    "\"apiVersion\":\"pubsub.cnrm.cloud.google.com/v1beta1\",\"kind\":\"PubSubTopic\"}]}}"
#define IN_DEFAULT(api_version, kind, more)                                                        \
    "{\"apiVersion\":\"" api_version "\",\"kind\":\"" kind                                         \
    "\",\"metadata\":{\"namespace\":\"default\",\"name\":\"web\"}" more "}"
#define BINDING                                                                                    \
    IN_DEFAULT("work.karmada.io/v1alpha2", "ResourceBinding",                                      \
               ",\"spec\":{\"placement\":{},\"resource\":{\"apiVersion\":\"apps/v1\","             \
               "\"kind\":\"Deployment\",\"namespace\":\"default\",\"name\":\"web\"}}")

/* Conclusions that need all objects of a kind, and the kind. */
static const struct conclusion {
    const char *name;
    const char *objects[3];
    const char *api_version, *kind;
    const char *series, *value;
    const char *without;
} conclusions[] = {
    {"an override policy is missing",
     {POLICY("p", "\"dependentOverrides\":[\"o\"],"), IN_DEFAULT("apps/v1", "Deployment", "")},
     "policy.karmada.io/v1alpha1",
     "OverridePolicy",
     "karmada_templates_pending{api_group=\"apps\",kind=\"Deployment\",reason=\"override_"
     "missing\"}",
     "1",
     "karmada_templates_pending{api_group=\"apps\",kind=\"Deployment\",reason=\"override_missing\"}"
     " 1"},
    {"a binding's template is missing",
     {POLICY("p", ""), BINDING},
     "apps/v1",
     "Deployment",
     "karmada_bindings_without_template{scope=\"namespaced\"}",
     "1",
     "karmada_bindings_without_template{scope=\"namespaced\"} 1"},
    {"the one template of a kind",
     {IN_DEFAULT("apps/v1", "Deployment", "")},
     "apps/v1",
     "Deployment",
     "karmada_templates{api_group=\"apps\",kind=\"Deployment\",state=\"pending\"}",
     "1",
     "karmada_templates{"},
    {"a Namespace without defaults of Config Connector",
     {POLICY("p", ""), IN_DEFAULT("pubsub.cnrm.cloud.google.com/v1beta1", "PubSubTopic",
                                  ",\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":"
                                  "\"False\",\"reason\":\"ManagementConflict\"}]}")},
     SETTING_API_VERSION,
     "Namespace",
     "karmada_configconnector_conflicts{class=\"reported\"}",
     "1",
     "karmada_configconnector_conflicts{class=\"reported\"} 1"},
    {"a policy that selects nothing",
     {POLICY("p", "")},
     "apps/v1",
     "Deployment",
     "karmada_propagationpolicy_unused{policy_kind=\"PropagationPolicy\"}",
     "1",
     "karmada_propagationpolicy_unused{policy_kind=\"PropagationPolicy\"} 1"},
    {"a policy that selects one of two kinds",
     {POLICY("p", ""), IN_DEFAULT("apps/v1", "Deployment", "")},
     "pubsub.cnrm.cloud.google.com/v1beta1",
     "PubSubTopic",
     "karmada_propagationpolicy_templates{policy_kind=\"PropagationPolicy\",policy_namespace="
     "\"default\",policy=\"p\",relation=\"selected\"}",
     "1",
     "karmada_propagationpolicy_templates{"},
    {"the only member cluster",
     {"{\"apiVersion\":\"cluster.karmada.io/v1alpha1\",\"kind\":\"Cluster\",\"metadata\":{"
      "\"name\":\"m\"}}"},
     "cluster.karmada.io/v1alpha1",
     "Cluster",
     "karmada_placement_drift_replicas{member_cluster=\"m\",movement=\"staying\"}",
     "0",
     "karmada_placement_drift_replicas"},
    {"no event so far",
     {POLICY("p", "")},
     "v1",
     "Event",
     "karmada_dependency_conflict_events_total{field=\"ConflictResolution\"}",
     "0",
     "karmada_dependency_conflict_events_total"},
};

TEST_ROWS(a_missing_object_of_an_incomplete_kind_proves_nothing, conclusions, name)
{
    const struct conclusion *c = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &registry_options_default);
    for (size_t i = 0; i < ARRAY_LEN(c->objects) && c->objects[i]; i++)
        world_put_text(&w, c->objects[i]);
    for (size_t round = 0; round < 2; round++) {
        engine_set_incomplete(w.engine, c->api_version, c->kind, true);
        world_run(&w, 0);
        CLEANUP(free_cleanup) char *during = page_of(r);
        page_lacks(during, c->without);
        engine_set_incomplete(w.engine, c->api_version, c->kind, false);
        world_run(&w, 0);
        CLEANUP(free_cleanup) char *after = page_of(r);
        page_has(after, c->series, c->value);
    }
    registry_free(r);
    world_release(&w);
}
