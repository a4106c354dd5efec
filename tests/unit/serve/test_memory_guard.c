/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/publisher.h"

#include "tests/unit/suite.h"

enum { LIMIT = 1000, MINUTE_MS = 60 * 1000 };

struct fixture {
    struct memory_guard guard;
    struct registry *registry;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->guard.limit = LIMIT;
    f->registry = registry_new(NULL, &registry_options_default, 1);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    registry_free(f->registry);
    free(f);
    return 0;
}

static enum memory_action decide(struct fixture *f, uint64_t resident, int64_t now_ms)
{
    return memory_guard_decide(&f->guard, f->registry, resident, now_ms);
}

TEST_WITH(families_are_dropped_from_80_percent_on, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(decide(f, 799, 0), MEMORY_KEEP);
    assert_int_equal(decide(f, 800, 1000), MEMORY_SHED);
    assert_int_equal(decide(f, 990, 2000), MEMORY_KEEP);
}

/* The drop freed 300 bytes, so 400 resident bytes would become 700, which is 70 %. */
TEST_WITH(families_are_restored_if_memory_stays_below_70_percent, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(decide(f, 900, 0), MEMORY_SHED);
    assert_int_equal(decide(f, 600, 1000), MEMORY_KEEP);
    assert_int_equal(decide(f, 400, 2 * MINUTE_MS), MEMORY_KEEP);
    assert_int_equal(decide(f, 399, 2 * MINUTE_MS), MEMORY_RESTORE);
    assert_int_equal(decide(f, 699, 3 * MINUTE_MS), MEMORY_KEEP);
    assert_int_equal(decide(f, 800, 4 * MINUTE_MS), MEMORY_SHED);
}

TEST_WITH(families_stay_dropped_for_a_minute, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(decide(f, 900, 0), MEMORY_SHED);
    assert_int_equal(decide(f, 850, 1000), MEMORY_KEEP);
    assert_int_equal(decide(f, 10, MINUTE_MS - 1), MEMORY_KEEP);
    assert_int_equal(decide(f, 10, MINUTE_MS), MEMORY_RESTORE);
}

TEST_WITH(growth_after_the_drop_counts_as_zero_freed_bytes, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(decide(f, 800, 0), MEMORY_SHED);
    assert_int_equal(decide(f, 950, 1000), MEMORY_KEEP);
    assert_int_equal(decide(f, 699, MINUTE_MS), MEMORY_RESTORE);
}

TEST_WITH(registry_of_a_reload_has_all_families, set_up, tear_down)
{
    struct fixture *f = *state;
    struct registry *other = registry_new(NULL, &registry_options_default, 1);

    assert_int_equal(decide(f, 800, 0), MEMORY_SHED);
    assert_int_equal(memory_guard_decide(&f->guard, other, 790, 1000), MEMORY_KEEP);
    assert_int_equal(memory_guard_decide(&f->guard, other, 800, 2000), MEMORY_SHED);
    registry_free(other);
}
