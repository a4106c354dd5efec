/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/decision.h"

#include "tests/unit/suite.h"
#include "tests/unit/world.h"

/* The template's side and the binding's; what is 0 is unknown. */
static struct change_applied_case {
    const char *name;
    uint64_t version, user_version;
    bool user_version_is_lower;
    uint32_t generation, newest_s, newest_by, other_s;
    int32_t replicas; /* The binding has 2. */
    uint64_t binding_version;
    uint32_t written_s, written_by, delivered;
    bool required;
    enum change_applied change_applied, of_orphan;
} cases[] = {
    {"nothing is known", .replicas = -1},
    {"the very version", .replicas = 9, .version = 7, .binding_version = 7,
     .change_applied = CHANGE_APPLIED, .of_orphan = CHANGE_APPLIED},
    {"another version, and no change was seen", .replicas = -1, .version = 9, .binding_version = 7},
    {"from the version of the change that was seen", .replicas = 9, .version = 9, .user_version = 7,
     .binding_version = 7, .change_applied = CHANGE_APPLIED, .of_orphan = CHANGE_APPLIED},
    {"from one before it", .replicas = 2, .version = 9, .user_version = 8, .binding_version = 7,
     .change_applied = CHANGE_NOT_APPLIED, .of_orphan = CHANGE_NOT_APPLIED},
    {"others require it, and its version says nothing", .replicas = 2, .version = 9,
     .user_version = 8, .binding_version = 7, .required = true},
    {"others require it, but its replicas do", .replicas = 3, .version = 9, .user_version = 8,
     .binding_version = 7, .required = true, .change_applied = CHANGE_NOT_APPLIED,
     .of_orphan = CHANGE_NOT_APPLIED},
    {"across a relist: from one before it", .replicas = -1, .version = 9, .user_version = 7,
     .user_version_is_lower = true, .binding_version = 7, .change_applied = CHANGE_NOT_APPLIED,
     .of_orphan = CHANGE_NOT_APPLIED},
    {"across a relist: from one in between", .replicas = -1, .version = 9, .user_version = 7,
     .user_version_is_lower = true, .binding_version = 8},
    {"the binding's version is unknown", .replicas = -1, .version = 9, .user_version = 7},
    {"the replicas", .replicas = 3, .change_applied = CHANGE_NOT_APPLIED,
     .of_orphan = CHANGE_NOT_APPLIED},
    {"a write after the binding's", .replicas = 2, .newest_s = 22, .newest_by = 1, .written_s = 20,
     .written_by = 5, .change_applied = CHANGE_NOT_APPLIED, .of_orphan = CHANGE_NOT_APPLIED},
    {"a write in the next second", .replicas = 2, .newest_s = 21, .newest_by = 1, .written_s = 20,
     .written_by = 5},
    {"Karmada's write, and a user's before", .replicas = 2, .newest_s = 30, .newest_by = 5,
     .other_s = 19, .written_s = 20, .written_by = 5},
    {"Karmada's write, and a user's after", .replicas = 2, .newest_s = 30, .newest_by = 5,
     .other_s = 25, .written_s = 20, .written_by = 5, .change_applied = CHANGE_NOT_APPLIED,
     .of_orphan = CHANGE_NOT_APPLIED},
    {"an orphan's generation moved as its claim was taken", .replicas = 2, .generation = 3,
     .delivered = 2},
    {"an orphan's generation moved by more", .replicas = 2, .generation = 4, .delivered = 2,
     .of_orphan = CHANGE_NOT_APPLIED},
};

TEST_ROWS(tells_what_a_binding_has, cases, name)
{
    const struct change_applied_case *c = *state;
    struct world w;

    world_init(&w, &rules_options_default, 1);
    world_put_text(&w, "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"metadata\":{"
                       "\"name\":\"web\",\"namespace\":\"test\"}}");

    struct entry *web = world_find(&w, "apps/v1", "Deployment", "test", "web");
    struct template *t = web->object;
    struct binding b = {.resource_version = c->binding_version,
                        .write = {c->written_s, c->written_by},
                        .delivered_generation = c->delivered,
                        .referrer_count = c->required,
                        .has_replicas = true,
                        .replicas = 2};

    t->resource_version = c->version;
    t->user_version = c->user_version;
    t->user_version_is_lower = c->user_version_is_lower;
    t->replicas = c->replicas;
    t->traces.generation = c->generation;
    t->traces.newest_s = c->newest_s;
    t->traces.newest_by = c->newest_by;
    t->traces.other_s = c->other_s;
    assert_int_equal(check_change_applied(web, &b), c->change_applied);
    assert_int_equal(check_orphan_change_applied(web, &b), c->of_orphan);
    world_release(&w);
}

/* Of kinds whose generation Karmada's claim does not move, and whose replicas it does not read. */
TEST(kinds_differ)
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
