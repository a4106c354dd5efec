/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/timestamp.h"
#include "metrics/expose/family.h"
#include "tests/unit/golden.h"
#include "tests/unit/page.h"
#include "tests/unit/suite.h"

/* A world of everything, all its series, and the page of it. */
struct fixture {
    struct world world;
    struct registry *registry;
    char *before;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    int64_t now_ms;

    assert_true(parse_timestamp("2026-01-01T04:00:00Z", &now_ms));
    world_init(&f->world, &rules_options_default, 1);
    f->registry = page_registry(
        &f->world,
        &(struct registry_options){.detail_limit = 100000, .policy_limit = 100000, .opt_in = true});
    golden_load(&f->world, "assorted.json");
    world_run(&f->world, now_ms);
    f->before = page_of(f->registry);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    free(f->before);
    registry_free(f->registry);
    world_release(&f->world);
    free(f);
    return 0;
}

/* How many lines of the page begin with the name, as a series does. */
static unsigned series_of(const char *page, const char *name)
{
    unsigned count = 0;
    size_t len = strlen(name);

    for (const char *at = page; at; at = strchr(at, '\n'), at += at ? 1 : 0)
        count += strncmp(at, name, len) == 0 && at[len] == '{';
    return count;
}

TEST_WITH(what_says_single_objects_goes_and_the_rest_stays, set_up, tear_down)
{
    struct fixture *f = *state;
    unsigned families = 0;

    registry_show_details(f->registry, false);
    CLEANUP(free_cleanup) char *page = page_of(f->registry);

    for (size_t i = 0; i < family_count(); i++) {
        const struct family_def *def = family_at(i);
        unsigned had = series_of(f->before, def->name);
        char series[256], count[24];

        if (!def->detail) {
            assert_int_equal(series_of(page, def->name), had);
            continue;
        }
        families += had > 0;
        assert_int_equal(series_of(page, def->name), 0);
        snprintf(series, sizeof(series),
                 "karmada_policy_exporter_detail_series_dropped{family=\"%s\"}", def->name);
        snprintf(count, sizeof(count), "%u", had);
        page_has(page, series, count);
    }
    assert_true(families > 2);
}

TEST_WITH(they_come_back_as_they_were, set_up, tear_down)
{
    struct fixture *f = *state;

    for (unsigned i = 0; i < 2; i++) {
        registry_show_details(f->registry, false);
        registry_show_details(f->registry, false);
        registry_show_details(f->registry, true);
        registry_show_details(f->registry, true);
        CLEANUP(free_cleanup) char *page = page_of(f->registry);

        assert_string_equal(page, f->before);
    }
}

/* What changes meanwhile is right when they come back. */
TEST_WITH(they_come_back_with_what_changed, set_up, tear_down)
{
    struct fixture *f = *state;

    registry_show_details(f->registry, false);
    golden_load(&f->world, "observed.json");
    world_run(&f->world, 1767240000000);
    registry_show_details(f->registry, true);
    CLEANUP(free_cleanup) char *page = page_of(f->registry);
    void *fresh = NULL;

    assert_int_equal(set_up(&fresh), 0);
    struct fixture *other = fresh;

    golden_load(&other->world, "observed.json");
    world_run(&other->world, 1767240000000);
    CLEANUP(free_cleanup) char *wanted = page_of(other->registry);

    page_drop_history(page);
    page_drop_history(wanted);
    assert_string_not_equal(page, f->before);
    assert_string_equal(page, wanted);
    tear_down(&fresh);
}
