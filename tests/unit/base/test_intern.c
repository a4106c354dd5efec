/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/model/decode.h"

#include "tests/unit/suite.h"

static void free_pool(struct intern **pool)
{
    intern_free(*pool);
}

TEST(equal_strings_share_one_pointer)
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

TEST(string_is_freed_with_its_last_reference)
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

TEST(intern_find_takes_no_reference)
{
    CLEANUP(free_pool) struct intern *pool = intern_new(7);

    assert_null(intern_find(pool, "a"));
    const char *s = intern_add(pool, "a");
    assert_ptr_equal(intern_find(pool, "a"), s);
    intern_drop(pool, s);
    assert_null(intern_find(pool, "a"));
}

TEST(empty_strings_and_null_pointers_are_accepted)
{
    CLEANUP(free_pool) struct intern *pool = intern_new(7);

    const char *empty = intern_add_len(pool, NULL, 0);
    assert_string_equal(empty, "");
    assert_ptr_equal(intern_find(pool, ""), empty);
    intern_drop(pool, NULL);
    assert_int_equal(intern_count(pool), 1);
    intern_free(NULL);
}

/* Enough strings to grow the hash table several times, with one to five references each. */
TEST(many_strings_are_added_and_dropped)
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

TEST(derived_texts_are_recalled)
{
    enum { TEXTS = 2000, LONG = 4096 };
    struct intern *pool = intern_new(1);
    CLEANUP(free_cleanup) char *long_key = xcalloc(1, LONG);
    char key[32], text[32];

    assert_null(intern_recall(pool, "a", 1));
    for (int i = 0; i < TEXTS; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        snprintf(text, sizeof(text), "text %d", i);
        intern_remember(pool, key, strlen(key), text);

        const char *found = intern_recall(pool, key, strlen(key));

        assert_string_equal(found, text);
        intern_drop(pool, found);
    }
    for (int i = 0; i < TEXTS; i++) {
        snprintf(key, sizeof(key), "key %d", i);
        snprintf(text, sizeof(text), "text %d", i);

        const char *found = intern_recall(pool, key, strlen(key));

        if (found)
            assert_string_equal(found, text);
        intern_drop(pool, found);
    }
    intern_remember(pool, long_key, LONG, "x");
    assert_null(intern_recall(pool, long_key, LONG));
    assert_int_equal(intern_count(pool), 0);
    intern_free(pool);
}
