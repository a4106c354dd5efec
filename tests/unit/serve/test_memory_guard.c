/* SPDX-License-Identifier: Apache-2.0 */
#include "exporter/serve/publisher.h"

#include "tests/unit/suite.h"

enum { LIMIT = 1000, MINUTE_MS = 60 * 1000 };

struct fixture {
    struct memory_guard shutdown_deadline;
    struct registry *registry;
};

static int set_up(void **state)
{
    struct fixture *f = xcalloc(1, sizeof(*f));

    f->shutdown_deadline.limit = LIMIT;
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

static enum memory_action look(struct fixture *f, uint64_t resident, int64_t now_ms)
{
    return memory_guard_decide(&f->shutdown_deadline, f->registry, resident, now_ms);
}

TEST_WITH(sheds_from_four_fifths_on, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(look(f, 799, 0), MEMORY_KEEP);
    assert_int_equal(look(f, 800, 1000), MEMORY_SHED);
    assert_int_equal(look(f, 990, 2000), MEMORY_KEEP);
}

/* 300 went: with them it would be at 700 when it has 400 itself. */
TEST_WITH(restores_when_there_is_room_for_what_went, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(look(f, 900, 0), MEMORY_SHED);
    assert_int_equal(look(f, 600, 1000), MEMORY_KEEP);
    assert_int_equal(look(f, 400, 2 * MINUTE_MS), MEMORY_KEEP);
    assert_int_equal(look(f, 399, 2 * MINUTE_MS), MEMORY_RESTORE);
    assert_int_equal(look(f, 699, 3 * MINUTE_MS), MEMORY_KEEP);
    assert_int_equal(look(f, 800, 4 * MINUTE_MS), MEMORY_SHED);
}

TEST_WITH(holds_for_a_minute, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(look(f, 900, 0), MEMORY_SHED);
    assert_int_equal(look(f, 850, 1000), MEMORY_KEEP);
    assert_int_equal(look(f, 10, MINUTE_MS - 1), MEMORY_KEEP);
    assert_int_equal(look(f, 10, MINUTE_MS), MEMORY_RESTORE);
}

/* What grew meanwhile was not freed. */
TEST_WITH(nothing_freed_is_nothing_to_make_room_for, set_up, tear_down)
{
    struct fixture *f = *state;

    assert_int_equal(look(f, 800, 0), MEMORY_SHED);
    assert_int_equal(look(f, 950, 1000), MEMORY_KEEP);
    assert_int_equal(look(f, 699, MINUTE_MS), MEMORY_RESTORE);
}

TEST_WITH(another_registry_has_all_of_them, set_up, tear_down)
{
    struct fixture *f = *state;
    struct registry *other = registry_new(NULL, &registry_options_default, 1);

    assert_int_equal(look(f, 800, 0), MEMORY_SHED);
    assert_int_equal(memory_guard_decide(&f->shutdown_deadline, other, 790, 1000), MEMORY_KEEP);
    assert_int_equal(memory_guard_decide(&f->shutdown_deadline, other, 800, 2000), MEMORY_SHED);
    registry_free(other);
}
