/* SPDX-License-Identifier: Apache-2.0 */
/* Limit of the namespaces in the families by namespace. */
#include "metrics/expose/registry.h"

#include "metrics/expose/family.h"
#include "metrics/expose/page_limits.h"
#include "metrics/rules/replica_projection.h"

#include "tests/unit/bound_objects.h"
#include "tests/unit/page.h"
#include "tests/unit/random_object.h"
#include "tests/unit/suite.h"

enum { WORLDS = 60, OBJECTS = 200, NAMESPACES_MAX = 8 };

#define BY_STATE "karmada_namespace_templates"
#define BY_STAGE "karmada_namespace_templates_stage"
#define DRIFT    "karmada_namespace_placement_drift_resource_requests"

#define UNCLAIMED(ns, name)                                                                        \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name                 \
    "\",\"namespace\":\"" ns "\"}}"

/*
 * Objects of five namespaces. The namespace "default" has two templates; one of them moves two
 * pods. The other namespaces have 1 to 3 templates.
 */
static const char *const objects[] = {
    CLUSTER("old"),
    CLUSTER("new"),
    POLICY("web", SELECTS("web") "," ON("new")),
    TEMPLATE("web", "," CLAIM("web")),
    BINDING("web", "web", "old"),
    UNCLAIMED("default", "a"),
    UNCLAIMED("most", "a"),
    UNCLAIMED("most", "b"),
    UNCLAIMED("most", "c"),
    UNCLAIMED("early", "a"),
    UNCLAIMED("early", "b"),
    UNCLAIMED("later", "a"),
    UNCLAIMED("later", "b"),
    UNCLAIMED("least", "a"),
};

static const char *const names[] = {"default", "early", "later", "least", "most"};

static struct limit_case {
    const char *name;
    size_t limit;
    const char *shown;
    int64_t templates; /* Templates in the namespaces beyond the limit. */
    int64_t arriving;  /* Pods that arrive in the namespaces beyond the limit. */
    const char *dropped;
} limit_cases[] = {
    {"all namespaces", 5, "default early later least most", 0, 0, "0"},
    {"the namespace with the fewest templates is hidden first", 4, "default early later most", 1, 0,
     "1"},
    {"of equal namespaces the first by name is shown", 3, "default early most", 3, 0, "2"},
    {"two namespaces", 2, "default most", 5, 0, "3"},
    {"the number of templates counts, not the moves", 1, "most", 7, 2, "5"},
    {"no namespaces", 0, "", 10, 2, "6"},
};

static char *page_with_limits(const struct registry_options *options)
{
    struct world w;

    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, options);
    for (size_t i = 0; i < ARRAY_LEN(objects); i++)
        world_put_text(&w, objects[i]);
    world_run(&w, 1000);
    char *page = page_of(r);
    registry_free(r);
    world_release(&w);
    return page;
}

/* Returns the sum of the rows of a family that have this namespace. */
static int64_t sum_of(const char *page, const char *family, const char *ns)
{
    char label[128];

    snprintf(label, sizeof(label), "{namespace=\"%s\",", ns);
    return page_sum(page, family, label);
}

TEST_ROWS(namespaces_with_most_templates_are_shown, limit_cases, name)
{
    const struct limit_case *row = *state;
    struct registry_options options = registry_options_default;

    options.detail_limit = row->limit;
    CLEANUP(free_cleanup) char *page = page_with_limits(&options);
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        bool shown = strstr(row->shown, names[i]) != NULL;

        assert_int_equal(sum_of(page, BY_STATE, names[i]) > 0, shown);
        assert_int_equal(sum_of(page, BY_STAGE, names[i]) > 0, shown);
        assert_int_equal(sum_of(page, DRIFT, names[i]) > 0, shown && i == 0);
    }
    assert_int_equal(sum_of(page, BY_STATE, "_others"), row->templates);
    assert_int_equal(sum_of(page, BY_STAGE, "_others"), row->templates);
    assert_int_equal(
        page_sum(page, DRIFT,
                 "{namespace=\"_others\",resource=\"pods\",unit=\"pod\",movement=\"arriving\"}"),
        row->arriving);
    assert_int_equal(page_sum(page, BY_STATE, ""), 10);
    assert_int_equal(page_sum(page, BY_STAGE, ""), 10);
    page_has(page, "karmada_policy_exporter_detail_series_dropped{family=\"" BY_STATE "\"}",
             row->dropped);
    page_has(page, "karmada_policy_exporter_detail_series_dropped{family=\"" BY_STAGE "\"}",
             row->dropped);
}

TEST(policy_limit_does_not_limit_namespaces)
{
    struct registry_options options = registry_options_default;

    options.policy_limit = 0;
    CLEANUP(free_cleanup) char *page = page_with_limits(&options);
    assert_int_equal(sum_of(page, BY_STATE, "least"), 1);
    assert_int_equal(sum_of(page, BY_STATE, "_others"), 0);
}

TEST(states_without_templates_have_no_series)
{
    CLEANUP(free_cleanup) char *page = page_with_limits(&registry_options_default);

    page_has(page, BY_STATE "{namespace=\"most\",state=\"pending\"}", "3");
    for (unsigned i = 0; i < STATE_COUNT; i++) {
        char series[128];

        snprintf(series, sizeof(series), BY_STATE "{namespace=\"most\",state=\"%s\"}",
                 state_names[i]);
        if (i != STATE_PENDING)
            page_lacks(page, series);
    }
}

/* Objects in the opposite order, with a page after each change, result in the same page. */
TEST(order_of_changes_does_not_matter)
{
    struct registry_options options = registry_options_default;
    CLEANUP(free_cleanup) char *straight = NULL;
    struct world w;

    options.detail_limit = 2;
    straight = page_with_limits(&options);
    world_init(&w, &rules_options_default, 1);
    struct registry *r = page_registry(&w, &options);
    for (size_t i = ARRAY_LEN(objects); i > 0; i--) {
        world_put_text(&w, objects[i - 1]);
        world_put_text(&w, UNCLAIMED("gone", "a"));
        world_put_text(&w, UNCLAIMED("gone", "b"));
        world_put_text(&w, UNCLAIMED("gone", "c"));
        world_put_text(&w, UNCLAIMED("gone", "d"));
        world_run(&w, 1000);
        free(page_of(r));
        store_remove(w.store, world_find(&w, "v1", "ConfigMap", "gone", "a"));
        store_remove(w.store, world_find(&w, "v1", "ConfigMap", "gone", "b"));
        store_remove(w.store, world_find(&w, "v1", "ConfigMap", "gone", "c"));
        store_remove(w.store, world_find(&w, "v1", "ConfigMap", "gone", "d"));
        world_run(&w, 1000);
        free(page_of(r));
    }
    CLEANUP(free_cleanup) char *page = page_of(r);
    page_drop_history(straight);
    page_drop_history(page);
    assert_string_equal(page, straight);
    registry_free(r);
    world_release(&w);
}

static char *page_of_world(uint32_t seed, size_t limit)
{
    struct registry_options options = registry_options_default;
    struct world w;

    options.detail_limit = limit;
    world_init(&w, &rules_options_default, seed);
    struct registry *r = page_registry(&w, &options);
    random_objects(&w, OBJECTS);
    world_run(&w, 1000);
    char *page = page_of(r);
    registry_free(r);
    world_release(&w);
    return page;
}

/* All families show the same namespaces with all their series, so that queries can join them. */
TEST(all_families_show_the_same_namespaces)
{
    static const char *const all[] = {"", "default", "team", "kube-system"};
    static const char *const families[] = {BY_STATE, BY_STAGE, DRIFT};
    int64_t hidden = 0;

    for (uint32_t seed = 1; seed <= WORLDS; seed++) {
        CLEANUP(free_cleanup) char *whole = page_of_world(seed, 1000);
        CLEANUP(free_cleanup) char *page = page_of_world(seed, seed % 4);

        for (size_t i = 0; i < ARRAY_LEN(all); i++) {
            bool shown = sum_of(page, BY_STATE, all[i]) > 0;

            for (size_t f = 0; f < ARRAY_LEN(families); f++) {
                assert_int_equal(sum_of(page, families[f], all[i]),
                                 shown ? sum_of(whole, families[f], all[i]) : 0);
                hidden += shown ? 0 : sum_of(whole, families[f], all[i]);
            }
        }
        for (size_t f = 0; f < ARRAY_LEN(families); f++)
            assert_int_equal(page_sum(page, families[f], ""), page_sum(whole, families[f], ""));
    }
    assert_true(hidden > 1000);
}

static void add_templates(struct family_state *f, const char *ns, int64_t count)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(512);

    label_key_add(&key, "namespace", ns);
    struct label_set *set = family_state_find_or_add_set(f, &key);
    label_set_ref(set);
    series_add(&set->series[STATE_PENDING], count);
}

static void add_moves(struct family_state *f, const char *ns, const char *resource, int64_t count)
{
    CLEANUP(strbuf_release) struct strbuf key = STRBUF_INIT(512);

    label_key_add(&key, "namespace", ns);
    label_key_add(&key, "resource", resource);
    label_key_add(&key, "unit", strcmp(resource, "pods") == 0 ? "pod" : "core");
    struct label_set *set = family_state_find_or_add_set(f, &key);
    label_set_ref(set);
    series_add(&set->series[MOVEMENT_ARRIVING], count);
}

/* Two families of five namespaces, of which "most" and "plain" have most templates. */
struct pair {
    struct family_state families[2];
};

static void pair_init(struct pair *p)
{
    static const char *const odd[] = {"quo\"te", "back\\", "back\\\"", "plain", "most"};

    family_state_init(&p->families[0], family_find(BY_STATE), 1);
    family_state_init(&p->families[1], family_find(DRIFT), 1);
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        add_templates(&p->families[0], odd[i], (int64_t)i + 1);
        add_moves(&p->families[1], odd[i], "cpu", 10);
        add_moves(&p->families[1], odd[i], "pods", (int64_t)i + 1);
    }
    family_state_sort_sets(&p->families[0]);
    family_state_sort_sets(&p->families[1]);
}

static void pair_release(struct pair *p)
{
    family_state_release(&p->families[0]);
    family_state_release(&p->families[1]);
}

static const struct page_limits unlimited = {
    .policies = SIZE_MAX, .namespaces = SIZE_MAX, .details = SIZE_MAX, .page_bytes = SIZE_MAX};

TEST(others_have_a_series_for_each_resource)
{
    struct page_limits limits = unlimited;
    struct pair p;

    pair_init(&p);
    struct family_state *f = &p.families[1];
    limits.namespaces = 2;
    page_limits_apply(p.families, 2, &limits);
    assert_int_equal(p.families[0].folded, 3);
    assert_int_equal(f->folded, 6);
    assert_int_equal(f->rest_count, 2);
    assert_string_equal(f->rest[0]->key, "namespace=\"_others\",resource=\"cpu\",unit=\"core\"");
    assert_int_equal(f->rest[0]->series[MOVEMENT_ARRIVING].sum, 30);
    assert_string_equal(f->rest[1]->key, "namespace=\"_others\",resource=\"pods\",unit=\"pod\"");
    assert_int_equal(f->rest[1]->series[MOVEMENT_ARRIVING].sum, 1 + 2 + 3);
    for (size_t i = 0; i < f->count; i++)
        assert_int_equal(f->sets[i]->folded, !strstr(f->sets[i]->key, "\"plain\"") &&
                                                 !strstr(f->sets[i]->key, "\"most\""));
    page_limits_apply(p.families, 2, &unlimited);
    assert_int_equal(p.families[0].folded + f->folded + f->rest_count, 0);
    pair_release(&p);
}

/*
 * A namespace needs about 350 bytes here. The families keep 1/32 of a page in any case, and
 * more if the page has room.
 */
static struct size_case {
    const char *name;
    size_t page_bytes;
    size_t folded; /* Number of folded namespaces, of five. */
} size_cases[] = {
    {"all fit", 4000, 0},
    {"all but one fit", 1500, 1},
    {"two fit", 800, 3},
    {"no namespace fits", 300, 5},
};

TEST_ROWS(size_limit_of_the_page_hides_namespaces, size_cases, name)
{
    const struct size_case *row = *state;
    struct page_limits limits = unlimited;
    struct pair p;

    pair_init(&p);
    limits.page_bytes = row->page_bytes;
    page_limits_apply(p.families, 2, &limits);
    assert_int_equal(p.families[0].folded, row->folded);
    assert_int_equal(p.families[1].folded, 2 * row->folded);
    for (size_t i = 0; i < p.families[0].count; i++)
        assert_false(p.families[0].sets[i]->folded && row->folded < ARRAY_LEN(names) &&
                     strstr(p.families[0].sets[i]->key, "\"most\""));
    pair_release(&p);
}
