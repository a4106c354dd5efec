/* SPDX-License-Identifier: Apache-2.0 */
#include "metrics/base/strbuf.h"

#include "tests/unit/suite.h"

TEST(empty_buffer_is_a_string_and_owns_no_memory)
{
    struct strbuf b = STRBUF_INIT(8);

    assert_string_equal(b.data, "");
    assert_int_equal(b.cap, 0);
    strbuf_reset(&b);
    strbuf_release(&b);
    assert_string_equal(b.data, "");
}

TEST(appended_texts_are_concatenated)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);

    strbuf_adds(&b, "policy");
    strbuf_addc(&b, '/');
    strbuf_add(&b, "a\0b", 3);
    strbuf_addf(&b, "-%d-%s", 42, "x");
    assert_int_equal(b.len, 15);
    assert_memory_equal(b.data, "policy/a\0b-42-x", 16);
    assert_true(strbuf_ok(&b));
}

TEST(extension_is_set_by_the_caller_or_does_not_fit)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4);
    char *bytes = strbuf_extend(&b, 3);

    assert_non_null(bytes);
    memcpy(bytes, "abc", 3);
    assert_string_equal(b.data, "abc");
    assert_null(strbuf_extend(&b, 2));
    assert_false(strbuf_ok(&b));
    assert_int_equal(b.len, 3);
}

TEST(text_of_the_maximum_length_fits)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4);

    strbuf_adds(&b, "abcd");
    assert_true(strbuf_ok(&b));
    strbuf_adds(&b, "");
    assert_true(strbuf_ok(&b));
    strbuf_addc(&b, 'e');
    assert_false(strbuf_ok(&b));
    assert_string_equal(b.data, "abcd");
}

TEST(full_buffer_ignores_appends_until_the_reset)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(4);

    strbuf_adds(&b, "ab");
    strbuf_adds(&b, "cde");
    strbuf_addc(&b, 'c');
    assert_string_equal(b.data, "ab");
    assert_false(strbuf_ok(&b));
    strbuf_reset(&b);
    assert_true(strbuf_ok(&b));
    assert_string_equal(b.data, "");
    strbuf_addf(&b, "%s", "wxyz");
    assert_string_equal(b.data, "wxyz");
    assert_true(strbuf_ok(&b));
}

TEST(formatted_text_above_the_maximum_is_ignored)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(9);

    strbuf_addf(&b, "%010d", 1);
    assert_false(strbuf_ok(&b));
    assert_string_equal(b.data, "");
}

TEST(buffer_with_a_maximum_of_0_stays_empty)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(0);

    strbuf_addc(&b, 'a');
    assert_false(strbuf_ok(&b));
    assert_string_equal(b.data, "");
}

TEST(length_does_not_overflow_with_the_maximum_SIZE_MAX)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(SIZE_MAX);

    strbuf_adds(&b, "abc");
    strbuf_add(&b, "x", SIZE_MAX - 3);
    assert_false(strbuf_ok(&b));
    assert_string_equal(b.data, "abc");
}

TEST(capacity_is_limited_to_the_maximum_and_a_nul)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);

    for (unsigned i = 0; i < 100; i++) {
        strbuf_addc(&b, (char)('a' + i % 26));
        assert_true(b.cap <= 101);
        assert_int_equal(strlen(b.data), i + 1);
    }
    assert_true(strbuf_ok(&b));
}

TEST(appends_within_the_reserve_do_not_reallocate)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);

    strbuf_adds(&b, "a");
    strbuf_reserve(&b, 50);

    const char *place = b.data;
    for (unsigned i = 1; i < 50; i++)
        strbuf_addc(&b, 'a');
    assert_ptr_equal(b.data, place);
    assert_int_equal(strlen(b.data), 50);
    /* A reserve is limited to the maximum, and never shortens the text. */
    strbuf_reserve(&b, 1000);
    assert_true(b.cap <= 101);
    strbuf_reserve(&b, 1);
    assert_int_equal(strlen(b.data), 50);
}

TEST(strbuf_take_empties_the_buffer)
{
    CLEANUP(strbuf_release) struct strbuf b = STRBUF_INIT(100);
    size_t len;

    strbuf_adds(&b, "hello");
    CLEANUP(free_cleanup) char *first = strbuf_take(&b, &len);
    assert_string_equal(first, "hello");
    assert_int_equal(len, 5);
    assert_int_equal(b.len, 0);
    assert_int_equal(b.max, 100);

    CLEANUP(free_cleanup) char *second = strbuf_take(&b, &len);
    assert_non_null(second);
    assert_string_equal(second, "");
    assert_int_equal(len, 0);
    assert_string_equal(strbuf_empty, "");
}

/* Allocation functions of base.c, which has no test file of its own. */
TEST(allocation_functions_never_return_null)
{
    CLEANUP(free_cleanup) char *copy = xmemdup0("abc\0d", 5);
    assert_memory_equal(copy, "abc\0d", 6);
    CLEANUP(free_cleanup) char *twin = xstrdup("abc");
    assert_string_equal(twin, "abc");
    CLEANUP(free_cleanup) void *none = xcalloc(0, 16);
    assert_non_null(none);
    CLEANUP(free_cleanup) void *block = xreallocarray(xmalloc(0), 0, 8);
    assert_non_null(block);
    CLEANUP(free_cleanup) uint64_t *zeros = xcalloc(2, sizeof(*zeros));
    assert_int_equal(zeros[0] | zeros[1], 0);
}
