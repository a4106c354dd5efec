/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/decode.h"

#include "tests/unit/suite.h"

static void free_pool(struct intern **pool)
{
    intern_free(*pool);
}

TEST(equal_texts_are_one_pointer)
{
    CLEANUP(free_pool) struct intern *pool = intern_new(7);
    char twin[] = "default";

    const char *first = intern_add(pool, "default");
    assert_string_equal(first, "default");
    assert_ptr_equal(intern_add(pool, twin), first);
    assert_ptr_equal(intern_add_len(pool, "default-2", 7), first);
    assert_ptr_not_equal(intern_add(pool, "default-2"), first);
    assert_int_equal(intern_count(pool), 2);
}

TEST(a_string_goes_with_its_last_holder)
{
    CLEANUP(free_pool) struct intern *pool = intern_new(7);

    const char *s = intern_add(pool, "nginx");
    assert_ptr_equal(intern_ref(s), s);
    assert_ptr_equal(intern_add(pool, "nginx"), s);
    intern_drop(pool, s);
    intern_drop(pool, s);
    assert_ptr_equal(intern_find(pool, "nginx"), s);
    assert_string_equal(s, "nginx");
    intern_drop(pool, s);
    assert_null(intern_find(pool, "nginx"));
    assert_int_equal(intern_count(pool), 0);
}

TEST(finding_holds_nothing)
{
    CLEANUP(free_pool) struct intern *pool = intern_new(7);

    assert_null(intern_find(pool, "a"));
    const char *s = intern_add(pool, "a");
    assert_ptr_equal(intern_find(pool, "a"), s);
    intern_drop(pool, s);
    assert_null(intern_find(pool, "a"));
}

TEST(the_empty_text_and_nulls_are_fine)
{
    CLEANUP(free_pool) struct intern *pool = intern_new(7);

    const char *empty = intern_add_len(pool, NULL, 0);
    assert_string_equal(empty, "");
    assert_ptr_equal(intern_find(pool, ""), empty);
    intern_drop(pool, NULL);
    assert_int_equal(intern_count(pool), 1);
    intern_free(NULL);
}

/* As many strings as it takes to grow the table often, each held one to five times. */
TEST(many_strings_come_and_go)
{
    enum { COUNT = 2000 };
    CLEANUP(free_pool) struct intern *pool = intern_new(11);
    const char *held[COUNT];
    char name[32];

    for (unsigned i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "template-%u", i);
        held[i] = intern_add(pool, name);
        for (unsigned more = 0; more < i % 5; more++)
            assert_ptr_equal(intern_add(pool, name), held[i]);
    }
    assert_int_equal(intern_count(pool), COUNT);
    for (unsigned round = 0; round < 5; round++) {
        size_t left = 0;

        for (unsigned i = 0; i < COUNT; i++) {
            if (round <= i % 5)
                intern_drop(pool, held[i]);
            left += round < i % 5 ? 1 : 0;
        }
        assert_int_equal(intern_count(pool), left);
        for (unsigned i = 0; i < COUNT; i++) {
            snprintf(name, sizeof(name), "template-%u", i);
            assert_ptr_equal(intern_find(pool, name), round < i % 5 ? held[i] : NULL);
        }
    }
}
