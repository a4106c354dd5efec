/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/decision.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* Facts about a template and its binding, 0 if unknown, and the expected results. */
static struct change_applied_case {
    const char *name;
    uint64_t version, user_version;
    bool user_version_is_lower;
    uint32_t generation, newest_s, newest_by, other_s;
    int32_t replicas; /* -1 if unknown. The binding has 2. */
    uint64_t binding_version;
    uint32_t written_s, written_by, delivered;
    bool required;
    enum change_applied change_applied, of_orphan;
} cases[] = {
    {"no facts", .replicas = -1},
    {"the binding has the version of the template", .replicas = 9, .version = 7,
     .binding_version = 7, .change_applied = CHANGE_APPLIED, .of_orphan = CHANGE_APPLIED},
    {"another version, no user change seen", .replicas = -1, .version = 9, .binding_version = 7},
    {"the binding is from the version of the user change", .replicas = 9, .version = 9,
     .user_version = 7, .binding_version = 7, .change_applied = CHANGE_APPLIED,
     .of_orphan = CHANGE_APPLIED},
    {"the binding is from before the user change", .replicas = 2, .version = 9, .user_version = 8,
     .binding_version = 7, .change_applied = CHANGE_NOT_APPLIED, .of_orphan = CHANGE_NOT_APPLIED},
    {"for a dependency, the version proves nothing", .replicas = 2, .version = 9, .user_version = 8,
     .binding_version = 7, .required = true},
    {"for a dependency, the replicas prove a difference", .replicas = 3, .version = 9,
     .user_version = 8, .binding_version = 7, .required = true,
     .change_applied = CHANGE_NOT_APPLIED, .of_orphan = CHANGE_NOT_APPLIED},
    {"across a relist, the binding is from before the change", .replicas = -1, .version = 9,
     .user_version = 7, .user_version_is_lower = true, .binding_version = 7,
     .change_applied = CHANGE_NOT_APPLIED, .of_orphan = CHANGE_NOT_APPLIED},
    {"across a relist, the binding is from a version in between", .replicas = -1, .version = 9,
     .user_version = 7, .user_version_is_lower = true, .binding_version = 8},
    {"the version of the binding is unknown", .replicas = -1, .version = 9, .user_version = 7},
    {"the replicas differ", .replicas = 3, .change_applied = CHANGE_NOT_APPLIED,
     .of_orphan = CHANGE_NOT_APPLIED},
    {"a user write after the binding's", .replicas = 2, .newest_s = 22, .newest_by = 1,
     .written_s = 20, .written_by = 5, .change_applied = CHANGE_NOT_APPLIED,
     .of_orphan = CHANGE_NOT_APPLIED},
    {"a user write in the second after the binding's", .replicas = 2, .newest_s = 21,
     .newest_by = 1, .written_s = 20, .written_by = 5},
    {"latest write by Karmada, a user's before the binding's", .replicas = 2, .newest_s = 30,
     .newest_by = 5, .other_s = 19, .written_s = 20, .written_by = 5},
    {"latest write by Karmada, a user's after the binding's", .replicas = 2, .newest_s = 30,
     .newest_by = 5, .other_s = 25, .written_s = 20, .written_by = 5,
     .change_applied = CHANGE_NOT_APPLIED, .of_orphan = CHANGE_NOT_APPLIED},
    {"the generation of an orphan moved by one: claim removed", .replicas = 2, .generation = 3,
     .delivered = 2},
    {"the generation of an orphan moved by two", .replicas = 2, .generation = 4, .delivered = 2,
     .of_orphan = CHANGE_NOT_APPLIED},
};

TEST_ROWS(a_binding_has_or_lacks_the_user_change, cases, name)
{
    const struct change_applied_case *c = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                       "\"name\":\"web\",\"namespace\":\"test\"}}");

    struct entry *web = world_find(&w, "apps/v1", "Deployment", "test", "web");
    struct template *t = entry_object(web);
    const struct binding_rare rare = {.referrer_count = c->required};
    struct binding b = {.resource_version = c->binding_version,
                        .write = {c->written_s, c->written_by},
                        .delivered_generation = c->delivered,
                        .rare = &rare,
                        .has_replicas = true,
                        .replicas = 2};

    t->resource_version = c->version;
    t->user_version = c->user_version;
    t->user_version_is_lower = c->user_version_is_lower;
    const struct template_shared *decoded = t->shared;
    struct template_shared shared = *decoded;

    shared.replicas = c->replicas;
    t->shared = &shared;
    t->traces.has_generation = c->generation > 0;
    t->traces.number = c->generation;
    t->traces.newest_s = c->newest_s;
    t->traces.newest_by = c->newest_by;
    t->traces.other_s = c->other_s;
    assert_int_equal(check_change_applied(web, &b), c->change_applied);
    assert_int_equal(check_orphan_change_applied(web, &b), c->of_orphan);
    t->shared = decoded;
    world_release(&w);
}

/*
 * Removing the claim does not increment the generation of a StatefulSet. The replicas of a Job are
 * not compared.
 */
TEST(generation_and_replicas_count_by_kind)
{
    struct world w;
    struct binding b = {.delivered_generation = 2, .has_replicas = true, .replicas = 2};

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, "{\"apiVersion\":\"apps/v1\",\"kind\":\"StatefulSet\",\"metadata\":{"
                       "\"name\":\"db\",\"namespace\":\"test\",\"generation\":3},\"spec\":{"
                       "\"replicas\":2}}");
    world_put_text(&w, "{\"apiVersion\":\"batch/v1\",\"kind\":\"Job\",\"metadata\":{"
                       "\"name\":\"once\",\"namespace\":\"test\"},\"spec\":{\"parallelism\":4}}");
    assert_int_equal(
        check_orphan_change_applied(world_find(&w, "apps/v1", "StatefulSet", "test", "db"), &b),
        CHANGE_NOT_APPLIED);
    assert_int_equal(check_change_applied(world_find(&w, "batch/v1", "Job", "test", "once"), &b),
                     CHANGE_UNKNOWN);
    world_release(&w);
}
