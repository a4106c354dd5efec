/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/timestamp.h"
#include "metrics/expose/family.h"
#include "tests/unit/golden.h"
#include "tests/unit/page.h"
#include "tests/unit/suite.h"

/* World with the objects of assorted.json, registry of its series, and page with all series. */
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

/* Returns the number of series with labels that a family has in the page. */
static unsigned count_series(const char *page, const char *name)
{
    unsigned count = 0;
    size_t len = strlen(name);

    for (const char *at = page; at; at = strchr(at, '\n'), at += at ? 1 : 0)
        count += strncmp(at, name, len) == 0 && at[len] == '{';
    return count;
}

TEST_WITH(detail_families_are_hidden_and_others_unchanged, set_up, tear_down)
{
    struct fixture *f = *state;
    unsigned families = 0;

    registry_show_details(f->registry, false);
    CLEANUP(free_cleanup) char *page = page_of(f->registry);

    for (size_t i = 0; i < family_count(); i++) {
        const struct family_def *def = family_at(i);
        unsigned had = count_series(f->before, def->name);
        char series[256], count[24];

        if (!def->detail) {
            assert_int_equal(count_series(page, def->name), had);
            continue;
        }
        families += had > 0;
        assert_int_equal(count_series(page, def->name), 0);
        snprintf(series, sizeof(series),
                 "karmada_policy_exporter_detail_series_dropped{family=\"%s\"}", def->name);
        snprintf(count, sizeof(count), "%u", had);
        page_has(page, series, count);
    }
    assert_true(families > 2);
}

TEST_WITH(details_that_are_shown_again_are_unchanged, set_up, tear_down)
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

/* Objects change while the details are hidden. */
TEST_WITH(details_that_are_shown_again_are_up_to_date, set_up, tear_down)
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
