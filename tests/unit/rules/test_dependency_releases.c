/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/rules/dependency.h"

#include "metrics/rules/rule.h"
#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

/* ---- value of a dependency's field, by release ---- */

#define RANGE(oldest, newest)                                                                      \
    {                                                                                              \
        RELEASE_##oldest, RELEASE_##newest, RELEASE_OF_SERVER, false                               \
    }

/* Values: 'A' Abort or false, 'O' Overwrite or true; '-' in `wants`: a missing referrer. */
static struct outcome_row {
    const char *name;
    struct release_range range;
    const char *wants; /* Values that the referrers request. */
    char stored;
    bool own; /* The dependency has a policy of its own. */
    enum dependency_outcome resolution, preserve;
    bool unapplied;
} outcome_rows[] = {
    {"1.15: referrers that differ", RANGE(1_15, 1_15), "AO", 'A', false,
     DEPENDENCY_OUTCOME_LAST_REFERRER, DEPENDENCY_OUTCOME_LAST_REFERRER, false},
    {"1.13: referrers that differ, in another order", RANGE(1_13, 1_13), "OAA", 'O', false,
     DEPENDENCY_OUTCOME_LAST_REFERRER, DEPENDENCY_OUTCOME_LAST_REFERRER, false},
    {"1.15: referrers that agree", RANGE(1_15, 1_15), "OO", 'A', false, DEPENDENCY_OUTCOME_TRUE,
     DEPENDENCY_OUTCOME_TRUE, false},
    {"1.14: one referrer", RANGE(1_14, 1_14), "A", 'O', false, DEPENDENCY_OUTCOME_FALSE,
     DEPENDENCY_OUTCOME_FALSE, false},
    {"1.16: referrers that differ", RANGE(1_16, 1_16), "AO", 'A', false, DEPENDENCY_OUTCOME_TRUE,
     DEPENDENCY_OUTCOME_TRUE, true},
    {"1.15 to 1.16: referrers that differ", RANGE(1_15, 1_16), "AO", 'A', false,
     DEPENDENCY_OUTCOME_BY_RELEASE, DEPENDENCY_OUTCOME_BY_RELEASE, false},
    {"1.15 to 1.16: referrers that agree", RANGE(1_15, 1_16), "OO", 'A', false,
     DEPENDENCY_OUTCOME_TRUE, DEPENDENCY_OUTCOME_TRUE, false},
    {"1.13 to 1.15: referrers that differ", RANGE(1_13, 1_15), "AO", 'A', false,
     DEPENDENCY_OUTCOME_LAST_REFERRER, DEPENDENCY_OUTCOME_LAST_REFERRER, false},
    {"1.16 to 1.19: referrers that differ", RANGE(1_16, 1_19), "AO", 'A', false,
     DEPENDENCY_OUTCOME_TRUE, DEPENDENCY_OUTCOME_TRUE, true},
    {"1.15: a missing referrer does not count", RANGE(1_15, 1_15), "O-", 'A', false,
     DEPENDENCY_OUTCOME_TRUE, DEPENDENCY_OUTCOME_TRUE, false},
    {"1.16: with a missing referrer nothing is written", RANGE(1_16, 1_16), "O-", 'A', false,
     DEPENDENCY_OUTCOME_FALSE, DEPENDENCY_OUTCOME_FALSE, true},
    {"1.15 to 1.16: a missing referrer", RANGE(1_15, 1_16), "O-", 'A', false,
     DEPENDENCY_OUTCOME_BY_RELEASE, DEPENDENCY_OUTCOME_BY_RELEASE, false},
    {"1.15 to 1.16: a missing referrer and the value is there", RANGE(1_15, 1_16), "O-", 'O', false,
     DEPENDENCY_OUTCOME_TRUE, DEPENDENCY_OUTCOME_TRUE, false},
    {"1.15: a policy of its own loses preserveResourcesOnDeletion", RANGE(1_15, 1_15), "O", 'A',
     true, DEPENDENCY_OUTCOME_FALSE, DEPENDENCY_OUTCOME_LAST_REFERRER, false},
    {"1.15: a policy of its own that agrees", RANGE(1_15, 1_15), "O", 'O', true,
     DEPENDENCY_OUTCOME_TRUE, DEPENDENCY_OUTCOME_TRUE, false},
    {"1.16: a policy of its own", RANGE(1_16, 1_16), "O", 'A', true, DEPENDENCY_OUTCOME_FALSE,
     DEPENDENCY_OUTCOME_FALSE, false},
    {"1.15 to 1.16: a policy of its own", RANGE(1_15, 1_16), "O", 'A', true,
     DEPENDENCY_OUTCOME_FALSE, DEPENDENCY_OUTCOME_BY_RELEASE, false},
};

static void put_binding(struct world *w, const char *name, const char *kind, char value, bool own,
                        const char *required_by)
{
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);

    strbuf_addf(&text,
                "{\"apiVersion\":\"work.karmada.io/v1alpha2\",\"kind\":\"ResourceBinding\","
                "\"metadata\":{\"name\":\"%s\",\"namespace\":\"n\"},\"spec\":{%s"
                "\"conflictResolution\":\"%s\",\"preserveResourcesOnDeletion\":%s,\"resource\":{"
                "\"apiVersion\":\"v1\",\"kind\":\"%s\",\"namespace\":\"n\",\"name\":\"%s\"},"
                "\"requiredBy\":[%s]}}",
                name, own ? "\"placement\":{}," : "", value == 'O' ? "Overwrite" : "Abort",
                value == 'O' ? "true" : "false", kind, name, required_by);
    world_put_text(w, text.data);
}

static void check_outcome(const struct outcome_row *row, const struct dependency_decision *d)
{
    const struct field_resolution *resolution = &d->fields[DEPENDENCY_CONFLICT_RESOLUTION];
    const struct field_resolution *preserve = &d->fields[DEPENDENCY_PRESERVE];
    bool differ = strchr(row->wants, 'A') && strchr(row->wants, 'O');

    assert_int_equal(resolution->outcome, row->resolution);
    assert_int_equal(preserve->outcome, row->preserve);
    assert_int_equal(resolution->conflict, differ && !row->own);
    assert_int_equal(resolution->unapplied, row->unapplied);
    assert_int_equal(preserve->unapplied, row->unapplied);
}

TEST_ROWS(the_value_of_a_dependency_depends_on_the_release, outcome_rows, name)
{
    const struct outcome_row *row = *state;
    CLEANUP(strbuf_release) struct strbuf required = STRBUF_INIT(4096);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; row->wants[i]; i++) {
        char name[16];

        snprintf(name, sizeof(name), "app-%zu", i);
        strbuf_addf(&required, "%s{\"namespace\":\"n\",\"name\":\"%s\"}", i > 0 ? "," : "", name);
        if (row->wants[i] != '-')
            put_binding(&w, name, "Pod", row->wants[i], true, "");
    }
    put_binding(&w, "shared", "Secret", row->stored, row->own, required.data);
    world_run(&w, 0);
    engine_set_release(w.engine, row->range);
    world_run(&w, 0);
    check_outcome(row, dependency_decision(world_find(&w, "work.karmada.io/v1alpha2",
                                                      "ResourceBinding", "n", "shared")));
    world_release(&w);
}

static struct description {
    const char *name;
    struct release_range range;
    const char *wants, *text;
} descriptions[] = {
    {"a certain value", RANGE(1_16, 1_19), "AO", "Overwrite"},
    {"the last referrer", RANGE(1_13, 1_14), "AO",
     "undetermined, because Karmada before 1.16 applies the value of the referrer that it has "
     "reconciled last"},
    {"both results", RANGE(1_15, 1_16), "AO",
     "undetermined, because Karmada before 1.16 applies the value of the referrer that it has "
     "reconciled last, and later releases apply Overwrite"},
    {"a missing referrer", RANGE(1_15, 1_16), "O-",
     "undetermined, because Karmada before 1.16 applies the value of the referrer that it has "
     "reconciled last, and later releases keep Abort"},
};

TEST_ROWS(an_undetermined_value_names_its_reason, descriptions, name)
{
    const struct description *row = *state;
    CLEANUP(strbuf_release) struct strbuf text = STRBUF_INIT(4096);
    struct world w;

    world_init(&w, &rules_options_default, 1);
    put_binding(&w, "app-0", "Pod", row->wants[0], true, "");
    if (row->wants[1] != '-')
        put_binding(&w, "app-1", "Pod", row->wants[1], true, "");
    put_binding(
        &w, "shared", "Secret", 'A', false,
        "{\"namespace\":\"n\",\"name\":\"app-0\"},{\"namespace\":\"n\",\"name\":\"app-1\"}");
    engine_set_release(w.engine, row->range);
    world_run(&w, 0);
    dependency_describe_resolved(dependency_decision(world_find(&w, "work.karmada.io/v1alpha2",
                                                                "ResourceBinding", "n", "shared")),
                                 DEPENDENCY_CONFLICT_RESOLUTION, false, &text);
    assert_string_equal(text.data, row->text);
    world_release(&w);
}

/* ---- change of the release ---- */

enum { WORLDS = 60, OBJECTS = 80, DUMP_MAX = 1 << 20 };

static struct release_range random_range(struct world *w)
{
    unsigned oldest = world_random(w, RELEASE_COUNT);
    unsigned width = world_random(w, 3);
    unsigned newest = oldest + width < RELEASE_COUNT ? oldest + width : RELEASE_NEWEST;

    return (struct release_range){(enum release)oldest, (enum release)newest, RELEASE_OF_SERVER,
                                  false};
}

/* Returns decisions and metrics of a fresh engine that knows the release from the start. */
static void dump_fresh(cJSON *const *objects, const struct world *old, struct release_range range,
                       int64_t now_ms, struct strbuf *out)
{
    struct registry_options options = {0};
    struct registry *registry;
    struct world w;
    char *page;

    world_init(&w, &rules_options_default, 7);
    engine_set_release(w.engine, range);
    registry = page_registry(&w, &options);
    for (size_t i = 0; i < OBJECTS; i++)
        world_put(&w, objects[i]);
    world_inherit(&w, old);
    world_run(&w, now_ms);
    world_dump(&w, out);
    page = page_of(registry);
    page_drop_history(page);
    strbuf_adds(out, page);
    free(page);
    registry_free(registry);
    world_release(&w);
}

static void check_change_of_release(uint32_t seed)
{
    CLEANUP(strbuf_release) struct strbuf changed = STRBUF_INIT(DUMP_MAX);
    CLEANUP(strbuf_release) struct strbuf fresh = STRBUF_INIT(DUMP_MAX);
    struct registry_options options = {0};
    int64_t now_ms = INT64_C(1790000000000);
    struct release_range range = {0};
    cJSON *objects[OBJECTS];
    struct registry *registry;
    struct world w;
    char *page;

    world_init(&w, &rules_options_default, seed);
    registry = page_registry(&w, &options);
    for (size_t i = 0; i < OBJECTS; i++) {
        objects[i] = random_object(&w);
        world_put(&w, objects[i]);
        if (i % 20 != 19)
            continue;
        world_run(&w, now_ms);
        range = random_range(&w);
        engine_set_release(w.engine, range);
        if (i % 40 == 19)
            world_run(&w, now_ms);
    }
    world_run(&w, now_ms);
    world_dump(&w, &changed);
    page = page_of(registry);
    page_drop_history(page);
    strbuf_adds(&changed, page);
    free(page);
    dump_fresh(objects, &w, range, now_ms, &fresh);
    if (strcmp(changed.data, fresh.data) != 0)
        fail_msg("world %u differs", seed);
    registry_free(registry);
    world_release(&w);
    for (size_t i = 0; i < OBJECTS; i++)
        cJSON_Delete(objects[i]);
}

TEST(after_a_change_of_the_release_all_decisions_equal_those_of_a_fresh_engine)
{
    for (uint32_t seed = 1; seed <= WORLDS; seed++)
        check_change_of_release(seed);
}

TEST(a_given_release_does_not_change)
{
    struct rules_options options = rules_options_default;
    struct world w;

    options.karmada_version = "1.15";
    world_init(&w, &options, 1);
    engine_set_release(w.engine, (struct release_range)RANGE(1_18, 1_18));
    assert_int_equal(engine_release(w.engine).oldest, RELEASE_1_15);
    assert_int_equal(engine_release(w.engine).origin, RELEASE_GIVEN);
    world_release(&w);
}

/* Named gates stay; the others get the defaults of the newest release of the range. */
TEST(a_change_of_the_release_changes_the_defaults_of_gates)
{
    struct rules_options options = rules_options_default;
    struct world w;

    options.feature_gates = "PropagateDeps=false";
    world_init(&w, &options, 1);
    assert_true(gate_is_on(engine_context_const(w.engine)->gates, GATE_PRIORITY_BASED_SCHEDULING));
    engine_set_release(w.engine, (struct release_range)RANGE(1_18, 1_19_RC));
    assert_false(gate_is_on(engine_context_const(w.engine)->gates, GATE_PRIORITY_BASED_SCHEDULING));
    assert_false(gate_is_on(engine_context_const(w.engine)->gates, GATE_PROPAGATE_DEPS));
    engine_set_release(w.engine, (struct release_range)RANGE(1_18, 1_19));
    assert_true(gate_is_on(engine_context_const(w.engine)->gates, GATE_PRIORITY_BASED_SCHEDULING));
    world_release(&w);
}
