/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/expose/list_rows.h"

#include "metrics/base/csv.h"
#include "metrics/expose/decision_text.h"
#include "metrics/model/store.h"
#include "metrics/model/template.h"
#include "tests/unit/suite.h"
#include "tests/unit/world.h"

enum { BODY_MAX = 1024 * 1024 };

/* A world, and the rows of all its templates. */
struct listed {
    struct world world;
    struct rows *rows;
};

static void update_row(void *context, struct entry *entry)
{
    struct listed *l = context;
    struct row row;

    if (entry_class(entry) != CLASS_TEMPLATE)
        return;
    if (template_decision(entry) && entry_exists(entry)) {
        row_init(&row, entry, l->world.engine);
        rows_put(l->rows, &row);
    } else {
        rows_remove(l->rows, entry);
    }
}

static void listed_init(struct listed *l, uint32_t seed)
{
    world_init(&l->world, &rules_options_default, seed);
    l->rows = rows_new(l->world.store);
    engine_observe(l->world.engine, (struct engine_observer){.decided = update_row, .context = l});
}

static void listed_release(struct listed *l)
{
    engine_observe(l->world.engine, (struct engine_observer){0});
    rows_free(l->rows);
    world_release(&l->world);
}

static void put_named(struct listed *l, uint32_t number)
{
    char json[256];

    snprintf(json, sizeof(json),
             "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": "
             "\"c-%" PRIu32 "\", \"namespace\": \"team-%" PRIu32 "\"}}",
             number, number % 7);
    world_put_text(&l->world, json);
}

/* Writes the rows of a view as JSON, one row in each line. */
static void write_view(const struct row_view *view, struct strbuf *out)
{
    struct row_position at = {0};
    const struct row *row;

    strbuf_reset(out);
    while ((row = row_view_next_row(view, &at)) != NULL) {
        struct json_writer w = {.out = out};

        row_write(&w, row);
        strbuf_addc(out, '\n');
    }
}

static size_t count_rows(const struct row_view *view)
{
    struct row_position at = {0};
    size_t count = 0;

    while (row_view_next_row(view, &at))
        count++;
    return count;
}

/* Checks that the current view has an up-to-date row of each template, in the order of lists. */
static void check_current_view(struct listed *l)
{
    struct row_view *view = rows_view(l->rows);
    struct row_position at = {0};
    const struct row *row, *before = NULL;
    size_t count = 0;

    while ((row = row_view_next_row(view, &at)) != NULL) {
        struct row fresh;

        if (before)
            assert_true(entry_compare(before->template, row->template) < 0);
        row_init(&fresh, row->template, l->world.engine);
        assert_true(row_equal(row, &fresh));
        row_release(&fresh, l->world.store);
        before = row;
        count++;
    }
    assert_int_equal(count, store_object_count(l->world.store, CLASS_TEMPLATE));
    row_view_drop(view);
}

TEST(empty_store_has_no_rows)
{
    struct listed l;

    listed_init(&l, 1);
    check_current_view(&l);
    listed_release(&l);
}

/* After random changes the current view agrees with the decisions; older views do not change. */
TEST(views_do_not_change_after_their_creation)
{
    enum { VIEWS = 6, ROUNDS = 400, OBJECTS = 900 };
    struct listed l;
    struct row_view *views[VIEWS] = {NULL};
    struct strbuf told[VIEWS], now = STRBUF_INIT(BODY_MAX);

    listed_init(&l, 7);
    for (size_t i = 0; i < VIEWS; i++)
        told[i] = STRBUF_INIT(BODY_MAX);
    for (uint32_t i = 0; i < OBJECTS; i++)
        put_named(&l, i);
    world_run(&l.world, 1000);
    check_current_view(&l);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        size_t which = world_random(&l.world, VIEWS);

        for (uint32_t i = world_random(&l.world, 8); i-- > 0;) {
            uint32_t number = world_random(&l.world, OBJECTS);
            struct entry *entry;
            char ns[16], name[16];

            snprintf(ns, sizeof(ns), "team-%" PRIu32, number % 7);
            snprintf(name, sizeof(name), "c-%" PRIu32, number);
            entry = world_find(&l.world, "v1", "ConfigMap", ns, name);
            if (entry && entry_exists(entry))
                store_remove(l.world.store, entry);
            else
                put_named(&l, number);
        }
        if (world_random(&l.world, 20) == 0)
            world_put_text(&l.world, "{\"apiVersion\": \"policy.karmada.io/v1alpha1\", \"kind\": "
                                     "\"PropagationPolicy\", \"metadata\": {\"name\": \"p\", "
                                     "\"namespace\": \"team-3\"}, \"spec\": {\"resourceSelectors\":"
                                     " [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\"}]}}");
        world_run(&l.world, 1000 + round);
        rows_release_retired(l.rows);
        check_current_view(&l);
        if (views[which]) {
            write_view(views[which], &now);
            assert_string_equal(now.data, told[which].data);
            row_view_drop(views[which]);
        }
        views[which] = rows_view(l.rows);
        write_view(views[which], &told[which]);
    }
    for (size_t i = 0; i < VIEWS; i++) {
        write_view(views[i], &now);
        assert_string_equal(now.data, told[i].data);
        row_view_drop(views[i]);
        strbuf_release(&told[i]);
    }
    strbuf_release(&now);
    listed_release(&l);
}

TEST(rows_put_in_order_are_those_of_the_listing)
{
    enum { OBJECTS = 1000 };
    struct row_position at = {0};
    struct row_view *view;
    struct listed l;

    listed_init(&l, 1);
    for (uint32_t i = 0; i < OBJECTS; i++)
        put_named(&l, i);
    world_run(&l.world, 1000);
    rows_free(l.rows);
    l.rows = rows_new(l.world.store);

    CLEANUP(listing_release)
    struct listing all = listing_make(l.world.store, CLASS_TEMPLATE);

    for (size_t i = 0; i < all.count; i++)
        update_row(&l, (struct entry *)(uintptr_t)all.entries[i]);
    view = rows_view(l.rows);
    assert_int_equal(row_view_count(view), OBJECTS);
    for (size_t i = 0; i < all.count; i++)
        assert_ptr_equal(row_view_next_row(view, &at)->template, all.entries[i]);
    assert_null(row_view_next_row(view, &at));
    row_view_drop(view);
    check_current_view(&l);
    listed_release(&l);
}

static bool claim_exists(struct listed *l)
{
    struct row_view *view = rows_view(l->rows);
    struct row_position at = {0};
    const struct row *row = row_view_next_row(view, &at);

    assert_non_null(row);
    assert_non_null(row->claimed);
    bool exists = row->claimed_exists;

    row_view_drop(view);
    return exists;
}

TEST(row_contains_whether_the_claimed_policy_exists)
{
    static const char policy[] =
        "{\"apiVersion\": \"policy.karmada.io/v1alpha1\", \"kind\": \"PropagationPolicy\", "
        "\"metadata\": {\"name\": \"p\", \"namespace\": \"team\"}, \"spec\": "
        "{\"resourceSelectors\": [{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\"}]}}";
    struct listed l;

    listed_init(&l, 1);
    world_put_text(&l.world, "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": "
                             "{\"name\": \"c\", \"namespace\": \"team\", \"annotations\": "
                             "{\"propagationpolicy.karmada.io/namespace\": \"team\", "
                             "\"propagationpolicy.karmada.io/name\": \"p\"}, \"labels\": "
                             "{\"propagationpolicy.karmada.io/permanent-id\": \"1\"}}}");
    world_run(&l.world, 1000);
    assert_false(claim_exists(&l));
    world_put_text(&l.world, policy);
    world_run(&l.world, 1001);
    assert_true(claim_exists(&l));
    store_remove(l.world.store, world_find(&l.world, "policy.karmada.io/v1alpha1",
                                           "PropagationPolicy", "team", "p"));
    world_run(&l.world, 1002);
    rows_release_retired(l.rows);
    assert_false(claim_exists(&l));
    check_current_view(&l);
    listed_release(&l);
}

TEST(outdated_rows_are_counted_while_a_view_has_them)
{
    struct row_view *older, *newer;
    struct listed l;

    listed_init(&l, 1);
    for (uint32_t i = 0; i < 1000; i++)
        put_named(&l, i);
    world_run(&l.world, 1000);
    older = rows_view(l.rows);
    assert_int_equal(row_views_bytes(older), 0);
    for (uint32_t i = 1000; i < 2000; i++)
        put_named(&l, i);
    world_run(&l.world, 1000);
    newer = rows_view(l.rows);
    assert_true(row_views_bytes(newer) > 1000 * sizeof(struct row));
    row_view_drop(older);
    assert_int_equal(row_views_bytes(newer), 0);
    store_remove(l.world.store, world_find(&l.world, "v1", "ConfigMap", "team-0", "c-0"));
    world_run(&l.world, 1000);
    assert_true(row_views_bytes(newer) > sizeof(struct row));
    row_view_drop(newer);
    listed_release(&l);
}

TEST(view_is_reused_until_a_row_changes)
{
    struct listed l;

    listed_init(&l, 3);
    put_named(&l, 1);
    world_run(&l.world, 1000);
    struct row_view *first = rows_view(l.rows), *second = rows_view(l.rows);

    assert_ptr_equal(first, second);
    put_named(&l, 2);
    world_run(&l.world, 2000);
    struct row_view *third = rows_view(l.rows);

    assert_ptr_not_equal(first, third);
    assert_int_equal(count_rows(first), 1);
    assert_int_equal(count_rows(third), 2);
    row_view_drop(first);
    row_view_drop(second);
    row_view_drop(third);
    listed_release(&l);
}

static const char *const objects[] = {
    "{\"apiVersion\": \"v1\", \"kind\": \"ConfigMap\", \"metadata\": {\"name\": \"App-Settings\", "
    "\"namespace\": \"a\", \"labels\": {\"team\": \"blue\"}}}",
    "{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\", \"metadata\": {\"name\": \"shop\", "
    "\"namespace\": \"a\"}}",
    "{\"apiVersion\": \"policy.karmada.io/v1alpha1\", \"kind\": \"PropagationPolicy\", "
    "\"metadata\": {\"name\": \"p\", \"namespace\": \"a\"}, \"spec\": {\"resourceSelectors\": "
    "[{\"apiVersion\": \"apps/v1\", \"kind\": \"Deployment\"}]}}",
};

static const char cluster_policy[] =
    "{\"apiVersion\": \"policy.karmada.io/v1alpha1\", \"kind\": \"ClusterPropagationPolicy\", "
    "\"metadata\": {\"name\": \"c\"}, \"spec\": {\"resourceSelectors\": "
    "[{\"apiVersion\": \"v1\", \"kind\": \"Secret\"}]}}";

static struct filter_case {
    const char *title;
    const char *column;
    const char *wanted;
    bool settings, shop;
} filter_cases[] = {
    {"a namespace", "namespace", "a", true, true},
    {"another namespace", "namespace", "", false, false},
    {"a kind", "kind", "deployment", false, true},
    {"the core group", "group", "", true, false},
    {"a group", "group", "apps", false, true},
    {"a state", "state", "pending", true, false},
    {"a reason", "reason", "kind_not_selected", true, false},
    {"a policy", "policy", "p", false, true},
    {"a policy of a namespace", "policy", "a/p", false, true},
    {"a policy of another namespace", "policy", "b/p", false, false},
    {"a cluster-scoped policy", "policy", "/p", false, false},
    {"an owner", "owner", "blue", true, false},
    {"a part of a name", "search", "app-S", true, false},
    {"a stage", "stage", "unmatched", true, false},
    {"an actor", "actor", "karmada", false, true},
    {"no version", "version", "0", true, true},
    {"a version", "version", "1", false, false},
    {"a problem", "problem", "not_propagated", false, false},
};

/* Returns true if the row matches a condition on one column. */
static bool matches(const struct row *row, const struct filter_case *c)
{
    struct list_filter filter = {.count = 0};

    assert_true(list_filter_add(
        &filter, (struct list_condition){.column = list_find_column(&template_list, c->column),
                                         .text = c->wanted}));
    return list_matches(&filter, row, NULL);
}

TEST_ROWS(row_matches_the_filter_by, filter_cases, title)
{
    const struct filter_case *c = *state;
    struct world w;
    struct row settings, shop;

    world_init(&w, &rules_options_default, 1);
    store_set_owner_key(w.store, "team");
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        world_put_text(&w, objects[i]);
    world_run(&w, 1000);
    row_init(&settings, world_find(&w, "v1", "ConfigMap", "a", "App-Settings"), w.engine);
    row_init(&shop, world_find(&w, "apps/v1", "Deployment", "a", "shop"), w.engine);
    assert_int_equal(matches(&settings, c), c->settings);
    assert_int_equal(matches(&shop, c), c->shop);
    row_release(&settings, w.store);
    row_release(&shop, w.store);
    world_release(&w);
}

#define POLICY_API "policy.karmada.io/v1alpha1"

/* Rows with null, absent, empty or quoted members, or with cluster-scoped policies. */
static struct row_case {
    const char *title;
    struct row row; /* `template` and the policies are set by the test. */
    bool policies;
    const char *json; /* Members after the name. */
    const char *csv;  /* Cells after the name. */
} row_cases[] = {
    {.title = "null and absent members",
     .row = {.behind = -1,
             .state = STATE_CURRENT,
             .stage = STAGE_NONE,
             .stage_reason = WHY_NONE,
             .actor = ACTOR_NONE,
             .worst = {.problem = PROBLEM_COUNT, .severity = SEVERITY_COUNT}},
     .json = "\"state\":\"current\",\"reason\":null,\"phase\":null,\"stage\":null,"
             "\"stageReason\":null,\"since\":null,\"policy\":null,\"claimed\":null,"
             "\"version\":null,\"behind\":null,\"clusters\":0,\"changedBy\":null,"
             "\"owner\":null,\"actor\":\"nobody\",\"severity\":null,\"problem\":null,"
             "\"problemSince\":null}",
     .csv = "current,,,,,,,,,,,,,,,0,,,nobody,,,\r\n"},
    {.title = "members with values",
     .row = {.changed_by = "",
             .owner = "=say \"x\",\n\xff",
             .since_ms = 1000,
             .version = 2,
             .clusters = 3,
             .state = STATE_STALE,
             .reason = STALE_POLICY_UPDATED,
             .phase = PHASE_OVERDUE,
             .stage = STAGE_OUTDATED,
             .stage_reason = WHY_POLICY_UPDATED,
             .actor = ACTOR_KARMADA,
             .since_seen = true,
             .worst = {.since_ms = 2000,
                       .problem = PROBLEM_POLICY_NOT_IN_FORCE,
                       .severity = SEVERITY_WARNING}},
     .policies = true,
     .json =
         "\"state\":\"stale\",\"reason\":\"policy_updated\",\"phase\":\"overdue\","
         "\"stage\":\"outdated\",\"stageReason\":\"policy_updated\","
         "\"since\":\"1970-01-01T00:00:01Z\",\"sinceSeen\":true,"
         "\"policy\":{\"kind\":\"ClusterPropagationPolicy\",\"namespace\":\"\",\"name\":\"c\"},"
         "\"claimed\":{\"kind\":\"PropagationPolicy\",\"namespace\":\"a\",\"name\":\"p\"},"
         "\"version\":2,\"behind\":0,\"clusters\":3,\"changedBy\":\"\","
         "\"owner\":\"=say \\\"x\\\",\\n\ufffd\",\"actor\":\"karmada\",\"severity\":\"warning\","
         "\"problem\":\"policy_not_in_force\",\"problemSince\":\"1970-01-01T00:00:02Z\"}",
     .csv = "stale,policy_updated,overdue,outdated,policy_updated,1970-01-01T00:00:01Z,true,"
            "ClusterPropagationPolicy,,c,PropagationPolicy,a,p,2,0,3,,"
            "\"'=say "
            "\"\"x\"\",\n\ufffd\",karmada,warning,policy_not_in_force,1970-01-01T00:00:02Z\r\n"},
};

TEST_ROWS(row_writes_these_bytes, row_cases, title)
{
    const struct row_case *c = *state;
    struct row row = c->row;
    struct world w;
    CLEANUP(strbuf_release) struct strbuf json = STRBUF_INIT(BODY_MAX), csv = STRBUF_INIT(BODY_MAX);
    struct json_writer writer = {.out = &json};
    char wanted[2048];

    world_init(&w, &rules_options_default, 1);
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        world_put_text(&w, objects[i]);
    world_put_text(&w, cluster_policy);
    row.template = world_find(&w, "apps/v1", "Deployment", "a", "shop");
    if (c->policies) {
        row.policy = world_find(&w, POLICY_API, "ClusterPropagationPolicy", "", "c");
        row.claimed = world_find(&w, POLICY_API, "PropagationPolicy", "a", "p");
    }
    row_write(&writer, &row);
    snprintf(wanted, sizeof(wanted),
             "{\"apiVersion\":\"apps/v1\",\"kind\":\"Deployment\",\"namespace\":\"a\","
             "\"name\":\"shop\",%s",
             c->json);
    assert_string_equal(json.data, wanted);
    char **columns = list_csv_columns(&template_list);

    assert_true(csv_add_row(&csv, (const char *const *)columns, json.data, json.len));
    list_free_csv_columns(columns);
    snprintf(wanted, sizeof(wanted), "apps/v1,Deployment,a,shop,%s", c->csv);
    assert_string_equal(csv.data, wanted);
    world_release(&w);
}

TEST(reasons_are_found_by_name)
{
    assert_true(reason_exists("policy_updated"));
    assert_true(reason_exists("no_match"));
    assert_false(reason_exists("no_such"));
    assert_false(reason_exists(""));
}
